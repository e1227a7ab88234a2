//! Writes a GitHub Actions workflow that installs what the project needs and runs `wallfacer ci`.

use super::project::Setup;

const OPENING: &str = "name: wallfacer

on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read
  security-events: write # for the findings under Security, Code scanning

jobs:
  wallfacer:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
";

const INSTALL: &str = "      - run: cargo install mcp-wallfacer --locked
";

const TEST: &str = "      - run: wallfacer ci --format sarif -o wallfacer.sarif
";

/// A run that could not test anything leaves no report, and then there is nothing to upload.
const UPLOAD: &str = "      - uses: github/codeql-action/upload-sarif@v3
        if: (success() || failure()) && hashFiles('wallfacer.sarif') != ''
        with:
          sarif_file: wallfacer.sarif
      - uses: actions/upload-artifact@v4
        if: failure()
        with:
          name: wallfacer
          path: .wallfacer/corpus # each finding, to be replayed
          include-hidden-files: true
          if-no-files-found: ignore
";

pub(super) fn text(setup: Setup) -> String {
    [OPENING, &steps(setup), INSTALL, TEST, UPLOAD].concat()
}

fn steps(setup: Setup) -> String {
    let steps: &[&str] = match setup {
        Setup::Nothing => &[],
        Setup::Cargo => &["run: cargo build"],
        Setup::Npm { builds: false } => &["run: npm ci"],
        Setup::Npm { builds: true } => &["run: npm ci", "run: npm run build"],
        Setup::Pip => &["run: pip install -e ."],
        Setup::Uv => &["uses: astral-sh/setup-uv@v6", "run: uv sync"],
    };
    steps.iter().map(|step| format!("      - {step}\n")).collect()
}
