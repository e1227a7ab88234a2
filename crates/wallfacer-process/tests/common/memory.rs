//! Servers that hold memory which no process has mapped.

use super::{command, output, soon};
use wallfacer_process::jail::{Jail, Limits, Network};
use wallfacer_process::{Process, Rung, Spec};

/// What is held at once, of one sort.
pub const PIECE: u64 = 64 << 20;

/// Whether a server that does this is killed for what it holds.
pub async fn is_too_large_for(limits: Limits, script: &str, rung: Rung) -> bool {
    let jail = Jail { best: rung, network: Network::Deny, limits, ..Jail::new("/nonexistent", 7) };
    let spec = command("/usr/bin/python3", &["-c", script]);
    let spec = Spec { jail: Some(jail), cwd: Some("/".into()), ..spec };
    let (process, stdio) = Process::start(&spec).unwrap();
    let _open = stdio.stdin;
    let said = output(stdio.stdout).await;
    soon(process.exited()).await;
    assert_eq!(said.trim(), "", "{}", String::from_utf8_lossy(&process.stderr().tail));
    process.was_too_large()
}

/// Holds so many pieces in files that exist in memory alone.
pub fn files(pieces: u64) -> String {
    format!(
        "import os, sys
files = [os.memfd_create(str(number)) for number in range({pieces})]
for file in files:
    os.posix_fallocate(file, 0, {PIECE})
sys.stdin.read()"
    )
}

/// Holds so many pieces of System V memory, none of which stays attached.
pub fn segments(pieces: u64) -> String {
    format!(
        "import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmdt.argtypes = [ctypes.c_void_p]
for _ in range({pieces}):
    segment = libc.shmget(0, {PIECE}, 0o1600)
    at = libc.shmat(segment, None, 0)
    for page in range(at, at + {PIECE}, 4096): ctypes.c_char.from_address(page).value = 1
    libc.shmdt(at)
sys.stdin.read()"
    )
}
