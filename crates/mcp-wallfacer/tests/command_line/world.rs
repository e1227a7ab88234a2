//! Runs the command in a directory of its own, with nothing of our environment, and gives its [`Outcome`].

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// Where a shell and its usual programs are.
pub const SYSTEM_PATH: &str = "/usr/bin:/bin";
/// Far beyond what any run here takes, so that only a run that hangs meets it.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// A working directory and a home, both empty at first.
pub struct World {
    _kept: TempDir,
    root: PathBuf,
}

/// What a run left for its user.
pub struct Outcome {
    typed: String,
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

impl World {
    pub fn new() -> World {
        let kept = TempDir::new().unwrap();
        let root = kept.path().canonicalize().unwrap();
        for name in ["here", "home", "bin"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        // A repository's root, so that nothing is looked for above.
        fs::create_dir(root.join("here/.git")).unwrap();
        World { _kept: kept, root }
    }

    /// With a file in the working directory.
    pub fn with(self, name: &str, text: &str) -> World {
        let path = self.here().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// With a program in the search path, written for the shell.
    pub fn with_program(self, name: &str, script: &str) -> World {
        let path = self.root.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// Where all of it lies.
    #[allow(dead_code, reason = "the attacks, which share this file, need it")]
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn here(&self) -> PathBuf {
        self.root.join("here")
    }

    /// The command, ready to be started.
    pub fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(tested());
        command.args(args).current_dir(self.here()).env_clear();
        command.env("HOME", self.root.join("home"));
        command.env("PATH", format!("{}:{SYSTEM_PATH}", self.root.join("bin").display()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Outcome {
        self.finish(self.command(args))
    }

    /// Starts the command and waits for its end, within bounds.
    pub fn finish(&self, mut command: Command) -> Outcome {
        let child = command.spawn().unwrap();
        let (done, ended) = mpsc::channel();
        thread::spawn(move || done.send(child.wait_with_output()));
        let output = ended.recv_timeout(PATIENCE).expect("the command ends in time").unwrap();
        Outcome::of(self, &command, output)
    }

    /// Every file below the working directory, as a path from there.
    pub fn files(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        collect(&self.here(), &self.here(), &mut found);
        found
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.here().join(name)).unwrap()
    }

    /// Text without what differs from machine to machine.
    pub fn plain(&self, text: &str) -> String {
        text.replace(&fixture(), "[FIXTURE]").replace(self.root.to_str().unwrap(), "[ROOT]")
    }
}

impl Outcome {
    /// What a command printed, without what differs from machine to machine.
    pub fn of(world: &World, command: &Command, output: Output) -> Outcome {
        let words: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
        Outcome {
            typed: world.plain(&words.join(" ")),
            stdout: world.plain(&String::from_utf8(output.stdout).expect("stdout is UTF-8")),
            stderr: world.plain(&String::from_utf8(output.stderr).expect("stderr is UTF-8")),
            code: output.status.code(),
        }
    }

    /// A failure has only a message, and leaves the directory as it was.
    pub fn assert_fails(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{self}");
        assert_eq!(self.stdout, "", "a failure prints no report");
    }

    pub fn assert_succeeds(&self) {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self}");
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "$ wallfacer {}", self.typed)?;
        write!(out, "{}{}", self.stdout, self.stderr)?;
        match self.code {
            Some(code) => write!(out, "[exit {code}]"),
            None => write!(out, "[killed]"),
        }
    }
}

/// The binary under test: of this build, or another one that `WALLFACER_BINARY` names, to see what an older build did.
#[allow(clippy::disallowed_methods, reason = "a test may be told what to test")]
pub fn tested() -> PathBuf {
    let other = std::env::var_os("WALLFACER_BINARY").map(PathBuf::from);
    other.unwrap_or_else(|| env!("CARGO_BIN_EXE_wallfacer").into())
}

/// The path of the fixture server.
pub fn fixture() -> String {
    wallfacer_fixtures::server().to_str().expect("the target directory is text").to_owned()
}

/// Compares with the stored text, times and ports aside.
pub fn assert_shown(name: &str, text: impl fmt::Display) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let version = env!("CARGO_PKG_VERSION").replace('.', r"\.");
    for (pattern, word) in [
        (r"\b(127\.0\.0\.1|localhost):\d+", "$1:[PORT]"),
        (r"--port \d+", "--port [PORT]"),
        (r#"("--port",\s+)"\d+""#, r#"$1"[PORT]""#),
        (r"\bin \d+(\.\d+)? (µs|ms|s)\b", "in [TIME]"),
        (r#""startup_ms": ?\d+"#, r#""startup_ms": [TIME]"#),
        (r#""at_ms": ?\d+"#, r#""at_ms": [TIME]"#),
        (r#""took_us": ?\d+"#, r#""took_us": [TIME]"#),
        (r#"(?s)"round_trip_us": \[[^\]]*\]"#, r#""round_trip_us": [TIMES]"#),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[TIME]"),
        ("whole tree|process group", "[TREE]"),
        (r"(?m)^          (confines a server by|watches|refused:|to have it:).*\n", ""),
        (r#"(?s)"confines": \[.*?\n    \],\n    "watches": \{.*?\n    \}"#, r#""offers": [OFFERS]"#),
    ] {
        settings.add_filter(pattern, word);
    }
    settings.add_filter(&format!(r"\b{version}\b"), "[VERSION]");
    settings.bind(|| insta::assert_snapshot!(name, text.to_string()));
}

fn collect(directory: &Path, root: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        match path.is_dir() {
            true => collect(&path, root, found),
            false => drop(found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned())),
        }
    }
}
