//! Memory that no process has mapped counts at the limit that servers have, not only at a small one.
//!
//! Apart from the other tests of memory: what it holds and gives back is more than all that they measure.

mod common;

use common::memory::{PIECE, files, is_too_large_for, segments};
use wallfacer_process::Rung;
use wallfacer_process::jail::Limits;

/// Of either sort there is less than the limit, and of both together more, so that neither may be missed.
#[tokio::test]
async fn all_of_it_counts_at_the_limit_that_servers_have() {
    let limits = Limits::default();
    assert_eq!(limits.memory_bytes, 4 << 30);
    let of_each = limits.memory_bytes / PIECE * 5 / 8;
    let script = files(of_each).replace("sys.stdin.read()", &segments(of_each));
    assert!(is_too_large_for(limits, &script, Rung::Overlay).await);
}
