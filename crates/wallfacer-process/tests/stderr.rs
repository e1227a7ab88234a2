//! Stderr never blocks the server and never grows in us.

mod common;

use common::{BOTH, sh, soon};
use wallfacer_process::{Process, Spec, Status};

const FLOOD: u64 = 100 * 1024 * 1024;

#[tokio::test]
async fn a_flood_keeps_its_tail_and_does_not_block() {
    for kind in BOTH {
        let script = format!("head -c {FLOOD} /dev/zero >&2; printf 'the end' >&2");
        let spec = Spec { stderr_keep: 1000, ..sh(&script) };
        let (process, _stdio) = Process::start_with(kind, &spec).unwrap();
        assert_eq!(soon(process.exited()).await.status, Status::Exited(0));
        let stderr = process.stderr();
        assert_eq!(stderr.total, FLOOD + 7);
        assert_eq!(stderr.tail.len(), 1000);
        assert!(stderr.tail.ends_with(b"\0the end"));
    }
}

#[tokio::test]
async fn the_last_words_are_there_when_the_end_is_known() {
    for kind in BOTH {
        for _ in 0..20 {
            let (process, _stdio) =
                Process::start_with(kind, &sh("echo panicked >&2; kill -KILL $$")).unwrap();
            soon(process.exited()).await;
            assert_eq!(process.stderr().tail, b"panicked\n");
        }
    }
}

#[tokio::test]
async fn a_child_that_floods_on_does_not_hold_up_the_end() {
    let (process, _stdio) = Process::start(&sh("cat /dev/zero >&2 & exit 4")).unwrap();
    assert_eq!(soon(process.exited()).await.status, Status::Exited(4));
}
