//! How a process ends is known exactly, in both kinds of control.

mod common;

use std::time::{Duration, Instant};

use common::{BOTH, output, sh, soon, start};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use wallfacer_process::{Means, Process, Status};

#[tokio::test]
async fn an_exit_code_is_known() {
    for kind in BOTH {
        let (process, _stdio) = Process::start_with(kind, &sh("exit 7")).unwrap();
        assert_eq!(soon(process.exited()).await.status, Status::Exited(7));
        assert_eq!(process.ending().map(|ending| ending.status), Some(Status::Exited(7)));
    }
}

#[tokio::test]
async fn a_signal_is_known() {
    for kind in BOTH {
        let (process, _stdio) = Process::start_with(kind, &sh("kill -SEGV $$")).unwrap();
        let status = soon(process.exited()).await.status;
        assert!(matches!(status, Status::Signalled { signal: libc::SIGSEGV, .. }), "{status:?}");
    }
}

#[tokio::test]
async fn what_is_written_to_stdin_comes_back_from_cat() {
    for kind in BOTH {
        let (process, mut stdio) = Process::start_with(kind, &sh("exec cat")).unwrap();
        assert_eq!(process.kind(), kind);
        stdio.stdin.write_all(b"hello").await.unwrap();
        let mut bytes = [0; 5];
        soon(stdio.stdout.read_exact(&mut bytes)).await.unwrap();
        assert_eq!(&bytes, b"hello");
        drop(stdio.stdin);
        let ended = soon(process.end(common::PATIENCE)).await;
        assert_eq!(ended.ending.unwrap().status, Status::Exited(0));
        assert_eq!(ended.means, Means::Itself);
    }
}

#[tokio::test]
async fn a_server_that_heeds_sigterm_is_not_killed() {
    for kind in BOTH {
        // To hear the signal, it need not start anything.
        let script = "trap 'exit 3' TERM; sleep 1000 & echo ready; while :; do wait; done";
        let (process, stdio) = Process::start_with(kind, &sh(script)).unwrap();
        let mut stdout = BufReader::new(stdio.stdout);
        assert_eq!(common::line(&mut stdout).await, "ready");
        let ended = soon(process.end(Duration::from_secs(2))).await;
        assert_eq!((ended.means, ended.ending.unwrap().status), (Means::Terminate, Status::Exited(3)));
    }
}

#[tokio::test]
async fn a_server_that_ignores_sigterm_is_killed() {
    for kind in BOTH {
        let (process, stdio) =
            Process::start_with(kind, &sh("trap '' TERM; echo ready; exec sleep 1000")).unwrap();
        assert_eq!(common::line(&mut BufReader::new(stdio.stdout)).await, "ready");
        let ended = soon(process.end(Duration::from_millis(50))).await;
        assert_eq!(ended.means, Means::Kill);
        let killed = Status::Signalled { signal: libc::SIGKILL, core_dumped: false };
        assert_eq!(ended.ending.unwrap().status, killed);
    }
}

#[tokio::test]
async fn any_number_of_tasks_can_wait_and_stop_waiting() {
    let (process, stdio) = start("read line; exit 5");
    let zero = Duration::ZERO;
    assert!(tokio::time::timeout(zero, process.exited()).await.is_err());
    let waiting = async { tokio::join!(process.exited(), process.exited(), process.exited()) };
    let (endings, ()) = soon(async { tokio::join!(waiting, async { drop(stdio.stdin) }) }).await;
    assert_eq!([endings.0, endings.1, endings.2].map(|ending| ending.status), [Status::Exited(5); 3]);
    assert_eq!(soon(process.exited()).await, endings.0);
}

#[tokio::test]
async fn a_signal_reaches_the_main_process_alone() {
    let child = "(trap 'echo child' USR1; echo ready; while :; do sleep 0.01; done) &";
    let (process, stdio) = start(&format!("trap 'echo got' USR1; {child} while :; do sleep 0.01; done"));
    let mut stdout = BufReader::new(stdio.stdout);
    assert_eq!(common::line(&mut stdout).await, "ready");
    process.signal(libc::SIGUSR1).unwrap();
    assert_eq!(common::line(&mut stdout).await, "got");
    process.kill();
    assert_eq!(output(stdout.into_inner()).await, "");
}

#[tokio::test]
async fn a_signal_to_a_process_that_has_ended_goes_nowhere() {
    for kind in BOTH {
        let (process, _stdio) = Process::start_with(kind, &sh("exit 0")).unwrap();
        soon(process.exited()).await;
        process.signal(libc::SIGTERM).unwrap();
        soon(process.end(Duration::ZERO)).await;
        process.signal(libc::SIGTERM).unwrap();
    }
}

#[tokio::test]
async fn a_number_that_is_no_signal_is_refused() {
    for kind in BOTH {
        let (process, _stdio) = Process::start_with(kind, &sh("read line")).unwrap();
        for number in [-1, 65, 300] {
            assert_eq!(process.signal(number).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
        }
    }
}

#[tokio::test]
async fn the_time_of_a_life_is_measured() {
    for kind in BOTH {
        let before = Instant::now();
        let (process, stdio) = Process::start_with(kind, &sh("read line")).unwrap();
        let started = Instant::now();
        drop(stdio.stdin);
        let told = started.elapsed();
        let ending = soon(process.exited()).await;
        assert!(ending.after > told && ending.after < before.elapsed(), "{ending:?}");
    }
}

#[tokio::test]
async fn the_memory_of_a_life_is_its_own_and_not_ours() {
    let ballast = vec![1_u8; 64 << 20];
    let (small, _stdio) = start("exit 0");
    assert_eq!(soon(small.exited()).await.max_rss_bytes, None);
    let (large, _stdio) = start("exec dd if=/dev/zero of=/dev/null bs=256M count=1");
    let largest = soon(large.exited()).await.max_rss_bytes.unwrap();
    assert!((256 << 20..320 << 20).contains(&largest), "{largest}");
    assert_eq!(ballast.len(), 64 << 20);
}
