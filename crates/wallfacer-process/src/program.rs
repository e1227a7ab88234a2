//! Finds the absolute path of the file to execute. Done before the fork, where errors can still speak.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::{Spec, StartError};

/// What the system's own search falls back on when there is no `PATH`.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// So much of a `PATH` is shown in an error; the rest helps nobody.
const MAX_PATH_SHOWN: usize = 200;

/// The kernel reads no longer `#!` line than this.
const MAX_SHEBANG: u64 = 256;

pub(crate) fn find(spec: &Spec) -> Result<PathBuf, StartError> {
    let directory = directory(spec.cwd.as_deref().unwrap_or(Path::new(".")))?;
    if spec.program.as_bytes().contains(&b'/') {
        return by_path(directory.join(&spec.program));
    }
    let path = spec.env.get(OsStr::new("PATH")).map_or(OsStr::new(DEFAULT_PATH), |path| path);
    in_path(&spec.program, path, &directory)
}

fn directory(path: &Path) -> Result<PathBuf, StartError> {
    let entered = std::path::absolute(path).and_then(|directory| match fs::metadata(&directory)?.is_dir() {
        true => Ok(directory),
        false => Err(io::ErrorKind::NotADirectory.into()),
    });
    entered.map_err(|source| StartError::WorkingDirectory { directory: path.to_path_buf(), source })
}

fn by_path(path: PathBuf) -> Result<PathBuf, StartError> {
    match (path.is_file(), is_executable(&path)) {
        (true, true) => Ok(path),
        _ if path.exists() => Err(StartError::NotExecutable { path }),
        _ => Err(StartError::NoSuchFile { path }),
    }
}

fn in_path(program: &OsStr, path: &OsStr, directory: &Path) -> Result<PathBuf, StartError> {
    let mut not_executable = None;
    // A relative entry, and so an empty one, means the directory the process starts in.
    for candidate in std::env::split_paths(path).map(|entry| directory.join(entry).join(program)) {
        match (!program.is_empty() && candidate.is_file(), is_executable(&candidate)) {
            (true, true) => return Ok(candidate),
            (true, false) => not_executable = not_executable.or(Some(candidate)),
            (false, _) => {}
        }
    }
    Err(match not_executable {
        Some(path) => StartError::NotExecutable { path },
        None => StartError::NotInPath {
            program: program.to_string_lossy().into_owned(),
            searched: shortened(&path.to_string_lossy()),
        },
    })
}

fn is_executable(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: `path` is a C string that outlives the call.
    unsafe { libc::access(path.as_ptr(), libc::X_OK) == 0 }
}

fn shortened(path: &str) -> String {
    match path.char_indices().nth(MAX_PATH_SHOWN) {
        Some((cut, _)) => format!("{}…", &path[..cut]),
        None => path.to_owned(),
    }
}

/// Gives the words for an `execve` that failed with `errno`.
pub(crate) fn explain(path: &Path, errno: i32) -> StartError {
    let path = path.to_path_buf();
    match errno {
        libc::ENOEXEC => StartError::ExecFormat { path },
        libc::EACCES => StartError::NotExecutable { path },
        libc::E2BIG => StartError::TooLong { path },
        libc::ENOENT => match interpreter(&path) {
            Some(interpreter) => StartError::NoInterpreter { path, interpreter },
            None => StartError::NoSuchFile { path },
        },
        _ => StartError::Execute { path, source: io::Error::from_raw_os_error(errno) },
    }
}

/// The interpreter that a script names in its first line, or that a dynamic program needs.
fn interpreter(path: &Path) -> Option<String> {
    if head(path)?.starts_with(b"\x7fELF") {
        return Some("dynamic loader".to_owned());
    }
    shebang(path)?.split_whitespace().next().map(str::to_owned)
}

/// What follows `#!` in the first line of a script.
pub(crate) fn shebang(path: &Path) -> Option<String> {
    let head = head(path)?;
    let line = head.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).into_owned())
}

fn head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(MAX_SHEBANG).read_to_end(&mut head).ok()?;
    Some(head)
}
