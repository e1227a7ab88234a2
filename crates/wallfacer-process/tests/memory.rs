//! Memory that no process has mapped counts against the limit of a jail too.

mod common;

use common::{command, output, soon};
use wallfacer_process::jail::{Jail, Network};
use wallfacer_process::{Process, Rung, Spec};

const RUNGS: [Rung; 3] = [Rung::Overlay, Rung::ReadOnly, Rung::Fence];

/// Whether a server that does this is killed for what it holds.
async fn is_too_large(script: &str, rung: Rung) -> bool {
    let mut jail = Jail { best: rung, network: Network::Deny, ..Jail::new("/nonexistent", 7) };
    jail.limits.memory_bytes = 256 << 20;
    let spec = command("/usr/bin/python3", &["-c", script]);
    let spec = Spec { jail: Some(jail), cwd: Some("/".into()), ..spec };
    let (process, stdio) = Process::start(&spec).unwrap();
    let _open = stdio.stdin;
    let said = output(stdio.stdout).await;
    soon(process.exited()).await;
    assert_eq!(said.trim(), "", "{}", String::from_utf8_lossy(&process.stderr().tail));
    process.was_too_large()
}

#[test]
fn all_of_this_holds_for_an_ordinary_user_too() {
    common::tests_hold_for_an_ordinary_user("all_of_this_holds_for_an_ordinary_user_too");
}

#[tokio::test]
async fn files_in_memory_count() {
    let script = "import os, sys
files = [os.memfd_create(str(number)) for number in range(8)]
for file in files:
    for _ in range(64): os.write(file, bytes(1 << 20))
sys.stdin.read()";
    for rung in RUNGS {
        assert!(is_too_large(script, rung).await, "{rung}");
    }
}

#[tokio::test]
async fn files_in_memory_count_when_only_a_page_of_them_is_mapped_or_they_are_in_flight() {
    let fill = "import array, mmap, os, socket, sys
pairs = [socket.socketpair() for _ in range(8)]
for number in range(8):
    file = os.memfd_create(str(number))
    for _ in range(64): os.write(file, bytes(1 << 20))
    HIDE
    os.close(file)
sys.stdin.read()";
    // The interpreter would keep a copy of the descriptor with a mapping, so the bare call.
    let call = "import ctypes
libc = ctypes.CDLL(None)
libc.mmap.argtypes = [ctypes.c_void_p] + [ctypes.c_long] * 5
";
    let mapped = call.to_owned() + &fill.replace("HIDE", "libc.mmap(None, 4096, 1, 1, file, 0)");
    let in_flight = fill.replace("HIDE", "socket.send_fds(pairs[number][0], [b'x'], [file])");
    for script in [mapped, in_flight] {
        assert!(is_too_large(&script, Rung::Overlay).await, "{script}");
    }
}

#[tokio::test]
async fn system_v_memory_counts_also_when_nobody_has_it_attached() {
    let script = "import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmdt.argtypes = [ctypes.c_void_p]
for _ in range(8):
    segment = libc.shmget(0, 64 << 20, 0o1600)
    at = libc.shmat(segment, None, 0)
    ctypes.memset(at, 1, 64 << 20)
    libc.shmdt(at)
sys.stdin.read()";
    for rung in [Rung::Overlay, Rung::ReadOnly] {
        assert!(is_too_large(script, rung).await, "{rung}");
    }
}

#[tokio::test]
async fn what_is_mapped_is_not_counted_twice() {
    let script = "import mmap, os, sys, time
file = os.memfd_create('heap')
os.ftruncate(file, 150 << 20)
heap = mmap.mmap(file, 150 << 20)
for at in range(0, 150 << 20, 4096): heap[at] = 1
time.sleep(1)";
    assert!(!is_too_large(script, Rung::Overlay).await);
}
