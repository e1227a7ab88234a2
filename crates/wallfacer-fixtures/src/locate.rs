//! Finds the programs of this crate for the running test, and builds them where they are missing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::SystemTime;

/// How deep the folders of this crate's sources go; a link in a circle must not be followed for ever.
const DEEPEST_FOLDER: usize = 8;

/// The built `wallfacer-fixture`, for tests of any crate of the workspace.
///
/// # Panics
/// When it cannot be built.
pub fn server() -> PathBuf {
    static SERVER: LazyLock<PathBuf> = LazyLock::new(|| program("wallfacer-fixture"));
    SERVER.clone()
}

/// The built `wallfacer-lacks`, which starts a program on a machine that seems to lack something.
///
/// # Panics
/// When it cannot be built.
pub fn lacks() -> PathBuf {
    static LACKS: LazyLock<PathBuf> = LazyLock::new(|| program("wallfacer-lacks"));
    LACKS.clone()
}

/// The program beside the running test, built first when it is missing or older than its sources.
fn program(name: &str) -> PathBuf {
    let folder = profile_folder();
    let program = folder.join(format!("{name}{}", env::consts::EXE_SUFFIX));
    if !is_current(&program) {
        build(&folder, name);
    }
    assert!(program.is_file(), "cargo left no {}", program.display());
    program
}

/// Hands on what a test needs from outside, such as another program or a folder of data. Where it is missing the
/// test may leave early, except when `WALLFACER_REQUIRE_ALL=1` demands that nothing is skipped.
///
/// # Panics
/// When it is missing although everything is required.
#[allow(
    clippy::disallowed_methods,
    reason = "tests, not the product, are told by the environment what to skip"
)]
pub fn require<T>(what: &str, found: Option<T>) -> Option<T> {
    let all = env::var_os("WALLFACER_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(found.is_some() || !all, "{what} is missing, and WALLFACER_REQUIRE_ALL forbids to skip");
    found
}

/// Tests run as `<target>/<profile>/deps/<test>`.
fn profile_folder() -> PathBuf {
    let test = env::current_exe().expect("a running test knows its own path");
    test.parent().and_then(Path::parent).expect("tests lie two folders below the target folder").to_owned()
}

fn sources() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn is_current(program: &Path) -> bool {
    let built = fs::metadata(program).and_then(|data| data.modified());
    built.is_ok_and(|built| built >= newest(&sources().join("src"), DEEPEST_FOLDER))
}

fn newest(folder: &Path, depth: usize) -> SystemTime {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let times = entries.filter_map(|entry| match entry.file_type().ok()?.is_dir() {
        true if depth > 0 => Some(newest(&entry.path(), depth - 1)),
        true => None,
        false => entry.metadata().ok()?.modified().ok(),
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

#[allow(clippy::disallowed_methods, reason = "cargo names itself to the tests it runs")]
fn build(profile_folder: &Path, name: &str) {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let profile = match profile_folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let target = profile_folder.parent().expect("a profile folder lies in the target folder");
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--package", "wallfacer-fixtures", "--bin", name])
        .args(["--profile", profile, "--target-dir"])
        .arg(target)
        .current_dir(sources())
        .status();
    assert!(built.is_ok_and(|status| status.success()), "cargo could not build {name}");
}
