//! Running out of files is told as that. One test alone in this program, for it changes a limit of the whole program.

// Limits have no safe interface.
#![allow(unsafe_code)]

mod common;

use common::{BOTH, sh, soon};
use wallfacer_process::{Process, StartError, Status};

fn limit_files(soft: Option<libc::rlim_t>) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure lives across both calls.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit), 0);
        limit.rlim_cur = soft.unwrap_or(limit.rlim_max);
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &limit), 0);
    }
}

#[tokio::test]
async fn too_many_open_files_are_told_as_that_and_leave_nothing() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count() as libc::rlim_t;
    let before = open();
    for kind in BOTH {
        let failures = (0..)
            .map(|spare| {
                limit_files(Some(before + spare));
                let started = Process::start_with(kind, &sh("exit 0"));
                limit_files(None);
                started
            })
            .map_while(Result::err)
            .map(|error| assert!(matches!(error, StartError::TooManyFiles { .. }), "{error:?}"))
            .inspect(|()| assert_eq!(open(), before));
        // A start takes at least its four pipes.
        assert!(failures.count() > 4);
        let (process, _stdio) = Process::start_with(kind, &sh("exit 0")).unwrap();
        assert_eq!(soon(process.exited()).await.status, Status::Exited(0));
        soon(process.end(std::time::Duration::ZERO)).await;
    }
}
