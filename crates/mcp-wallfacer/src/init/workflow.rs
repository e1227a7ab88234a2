//! Writes a GitHub Actions workflow that installs what the project needs and runs `wallfacer ci`.

use super::project::{Packages, Requirements, Setup};

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

/// Into the Python of the runner nothing may be installed.
const OWN_PYTHON: &str = "uses: actions/setup-python@v5\n        with:\n          python-version: \"3.x\"";

fn steps(setup: Setup) -> String {
    let one = |step: &str| vec![step.to_owned()];
    let steps: Vec<String> = match setup {
        Setup::Nothing => Vec::new(),
        Setup::Cargo => one("run: cargo build"),
        Setup::Node { packages, builds } => node(packages, builds),
        Setup::Python { packages, venv } => python(packages, venv),
        Setup::Uv => ["uses: astral-sh/setup-uv@v6", "run: uv sync"].map(str::to_owned).to_vec(),
        Setup::Go => one("run: go build ./..."),
        Setup::Maven => one("run: mvn --batch-mode --quiet package -DskipTests"),
        Setup::Gradle => one("run: gradle --quiet build -x test"),
        Setup::Composer => one("run: composer install --no-interaction"),
        Setup::DotNet => one("run: dotnet build"),
        Setup::Docker => one("run: docker build -t \"$(basename \"$PWD\" | tr 'A-Z._' 'a-z--')\" ."),
    };
    steps.iter().map(|step| format!("      - {step}\n")).collect()
}

fn node(packages: Packages, builds: bool) -> Vec<String> {
    let installs = match packages {
        Packages::Npm => "npm install",
        Packages::NpmLocked => "npm ci",
        Packages::Pnpm => "corepack enable && pnpm install --frozen-lockfile",
        Packages::Yarn => "corepack enable && yarn install",
    };
    [installs]
        .into_iter()
        .chain(builds.then_some("npm run build"))
        .map(|step| format!("run: {step}"))
        .collect()
}

fn python(packages: Requirements, venv: Option<&str>) -> Vec<String> {
    let (begins, pip) = match venv {
        Some(venv) => (format!("run: python3 -m venv {venv}"), format!("{venv}/bin/pip")),
        None => (OWN_PYTHON.to_owned(), "pip".to_owned()),
    };
    let what = match packages {
        Requirements::Project => "-e .",
        Requirements::File => "-r requirements.txt",
        Requirements::Unknown => "mcp # and what else the server needs",
    };
    vec![begins, format!("run: {pip} install {what}")]
}
