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

/// Built once and kept: the cache is by the version that is asked for. The crate registry is not asked, for the name there
/// may be somebody else's.
const INSTALL: &str = concat!(
    "      - id: wallfacer
        uses: actions/cache@v4
        with:
          path: ~/.cargo/bin/wallfacer
          key: wallfacer-",
    env!("CARGO_PKG_VERSION"),
    "-${{ runner.os }}-${{ runner.arch }}
      - if: steps.wallfacer.outputs.cache-hit != 'true'
        run: cargo install --locked --git ",
    env!("CARGO_PKG_REPOSITORY"),
    " mcp-wallfacer
      # The sandbox needs namespaces, which the runners refuse to ordinary programs unless told otherwise.
      - run: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
"
);

const TEST: &str =
    "      - run: wallfacer ci --report sarif=wallfacer.sarif --report markdown --report github
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
        Setup::Go => &["run: go build ./..."],
        Setup::Maven => &["run: mvn --batch-mode --quiet package -DskipTests"],
        Setup::Gradle => &["run: gradle --quiet build -x test"],
        Setup::Composer => &["run: composer install --no-interaction"],
        Setup::DotNet => &["run: dotnet build"],
        Setup::Docker => &["run: docker build -t \"$(basename \"$PWD\" | tr 'A-Z._' 'a-z--')\" ."],
    };
    steps.iter().map(|step| format!("      - {step}\n")).collect()
}
