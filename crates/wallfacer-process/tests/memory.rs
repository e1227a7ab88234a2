//! Memory that no process has mapped counts against the limit of a jail too.

mod common;

use common::memory::{files, is_too_large_for, segments};
use wallfacer_process::Rung;
use wallfacer_process::jail::Limits;

const RUNGS: [Rung; 3] = [Rung::Overlay, Rung::ReadOnly, Rung::Fence];

/// Half of what a server tries to hold here. Where nothing is said, a jail allows more.
const LIMIT: u64 = 256 << 20;
/// Whether a server that does this is killed for what it holds.
async fn is_too_large(script: &str, rung: Rung) -> bool {
    is_too_large_for(Limits { memory_bytes: LIMIT, ..Limits::default() }, script, rung).await
}

#[test]
fn all_of_this_holds_for_an_ordinary_user_too() {
    common::tests_hold_for_an_ordinary_user("all_of_this_holds_for_an_ordinary_user_too");
}

#[tokio::test]
async fn files_in_memory_count() {
    for rung in RUNGS {
        assert!(is_too_large(&files(8), rung).await, "{rung}");
    }
}

#[tokio::test]
async fn files_in_memory_count_when_only_a_page_of_them_is_mapped_or_they_are_in_flight() {
    let fill = "import array, mmap, os, socket, sys
pairs = [socket.socketpair() for _ in range(16)]
for number in range(16):
    file = os.memfd_create(str(number))
    os.posix_fallocate(file, 0, 64 << 20)
    HIDE
    os.close(file)
sys.stdin.read()";
    // How large they are shows only in what the whole machine holds, and others give back some of that meanwhile: so there
    // is more of them than it takes.
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
    for rung in [Rung::Overlay, Rung::ReadOnly] {
        assert!(is_too_large(&segments(8), rung).await, "{rung}");
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
