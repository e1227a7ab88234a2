//! Whatever a server starts ends with it, and is seen before.

mod common;

use std::time::Duration;

use common::{command, is_alive, line, sh, soon, start};
use tokio::io::BufReader;
use wallfacer_process::{ControlKind, Means, Process, Status, platform};

/// Starts a `sleep` in a session of its own, forked twice, whose parent is gone; tells its number.
const DAEMON: &str = "setsid sh -c 'sleep 1000 & echo $!' < /dev/null";

/// Two to the power of seven processes, each the parent of two others.
const FAMILY: &str = "family() { if [ $1 -gt 0 ]; then family $(($1 - 1)) & family $(($1 - 1)) & fi; \
                      echo born; sleep 1000; }; family 6";

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}

#[test]
fn this_machine_offers_the_whole_tree() {
    assert_eq!(platform().kind, ControlKind::WholeTree);
    assert_eq!(platform().kind.to_string(), "whole tree");
}

#[tokio::test]
async fn a_daemon_dies_with_the_server() {
    let (process, stdio) = start(&format!("{DAEMON}; exec cat"));
    let mut stdout = BufReader::new(stdio.stdout);
    let daemon = number(&line(&mut stdout).await);
    assert!(is_alive(daemon));
    assert!(process.descendants().unwrap().iter().any(|seen| seen.pid == daemon));
    drop(stdio.stdin);
    soon(process.end(Duration::ZERO)).await;
    assert!(!is_alive(daemon));
}

#[tokio::test]
async fn children_left_behind_are_reported_and_ended() {
    let (process, stdio) = start(&format!("{DAEMON}; read line; exit 0"));
    let mut stdout = BufReader::new(stdio.stdout);
    let daemon = number(&line(&mut stdout).await);
    drop(stdio.stdin);
    let ended = soon(process.end(common::PATIENCE)).await;
    assert_eq!((ended.means, ended.ending.unwrap().status), (Means::Itself, Status::Exited(0)));
    let [left] = &ended.left_behind.unwrap()[..] else { panic!("one is left behind") };
    assert_eq!((left.pid, left.name.as_str(), left.command_line.as_str()), (daemon, "sleep", "sleep 1000"));
    assert_eq!(ended.unkillable, Some(Vec::new()));
    assert!(!is_alive(daemon));
}

#[tokio::test]
async fn children_that_end_with_the_server_are_not_left_behind() {
    let (process, stdio) = start("cat <&0 & wait; exit 0");
    drop(stdio.stdin);
    let ended = soon(process.end(common::PATIENCE)).await;
    assert_eq!(ended.left_behind, Some(Vec::new()));
}

#[tokio::test]
async fn dropping_the_handle_ends_the_tree_before_it_returns() {
    let (process, stdio) = start(&format!("{DAEMON}; exec cat"));
    let daemon = number(&line(&mut BufReader::new(stdio.stdout)).await);
    let main = process.pid();
    drop(process);
    assert!(!is_alive(daemon) && !is_alive(main));
}

#[tokio::test]
async fn a_panic_ends_the_tree() {
    let (process, stdio) = start(&format!("{DAEMON}; exec cat"));
    let daemon = number(&line(&mut BufReader::new(stdio.stdout)).await);
    let task = tokio::spawn(async move {
        let _process = process;
        panic!("on purpose");
    });
    assert!(task.await.unwrap_err().is_panic());
    assert!(!is_alive(daemon));
}

#[tokio::test]
async fn a_family_of_a_hundred_and_more_ends_whole() {
    let (process, stdio) = start(FAMILY);
    let mut stdout = BufReader::new(stdio.stdout);
    for _ in 0..127 {
        assert_eq!(line(&mut stdout).await, "born");
    }
    let alive = process.descendants().unwrap();
    // Each of the 127 also runs a `sleep`, sooner or later.
    assert!(alive.len() >= 126, "{}", alive.len());
    let ended = soon(process.end(Duration::ZERO)).await;
    assert_eq!(ended.unkillable, Some(Vec::new()));
    assert_eq!(alive.iter().filter(|descendant| is_alive(descendant.pid)).count(), 0);
}

#[tokio::test]
async fn a_family_that_forks_and_leaves_without_end_is_caught() {
    // Each generation starts the next and ends, so that its number is never the same for long.
    let (process, stdio) = start("echo begun; run() { (run &) ; }; run; exec cat");
    assert_eq!(line(&mut BufReader::new(stdio.stdout)).await, "begun");
    let ended = soon(process.end(Duration::ZERO)).await;
    assert_eq!(ended.unkillable, Some(Vec::new()));
}

#[tokio::test]
async fn a_stopped_child_ends_too() {
    let (process, stdio) = start("sleep 1000 & kill -STOP $!; echo $!; exec cat");
    let child = number(&line(&mut BufReader::new(stdio.stdout)).await);
    soon(process.end(Duration::ZERO)).await;
    assert!(!is_alive(child));
}

#[tokio::test]
async fn a_server_that_stops_its_keeper_again_and_again_ends_too() {
    let (process, stdio) = start("kill -STOP $PPID; echo done; while :; do kill -STOP $PPID; done");
    assert_eq!(line(&mut BufReader::new(stdio.stdout)).await, "done");
    let ended = soon(process.end(Duration::ZERO)).await;
    assert_eq!(ended.unkillable, Some(Vec::new()));
    assert!(!is_alive(process.pid()));

    let (process, _stdio) = start("while :; do kill -STOP $PPID; done");
    let pid = process.pid();
    drop(process);
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn what_a_server_leaves_that_kills_its_keeper_is_found_told_and_ended() {
    let script = format!("sleep 1000 & echo $!; {DAEMON}; {DAEMON}; read line; kill -KILL $PPID; exec cat");
    let (process, stdio) = start(&script);
    let mut stdout = BufReader::new(stdio.stdout);
    let mut left = Vec::new();
    for _ in 0..3 {
        left.push(number(&line(&mut stdout).await));
    }
    drop(stdio.stdin);
    assert_eq!(soon(process.exited()).await.status, Status::Unknown);
    let ended = soon(process.end(Duration::ZERO)).await;
    assert_eq!(ended.ending.unwrap().status, Status::Unknown);
    assert!(ended.keeper_killed);
    let told: Vec<_> = ended.left_behind.unwrap().into_iter().map(|left| left.pid).collect();
    assert!(left[1..].iter().all(|daemon| told.contains(daemon)), "{left:?} {told:?}");
    assert_eq!(ended.unkillable, Some(Vec::new()));
    assert!(left.iter().chain([&process.pid()]).all(|&pid| !is_alive(pid)), "{left:?}");
}

#[tokio::test]
async fn a_daemon_that_kills_the_keeper_after_the_server_has_ended_is_ended_too() {
    let daemon = "setsid sh -c 'echo $$; read line < \"$0\"; kill -KILL $1; exec sleep 1000' \"$0\" $PPID < /dev/null &";
    let place = tempfile::tempdir().unwrap();
    let pipe = place.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut spec = sh(&format!("{daemon} exit 0"));
    spec.args.push(pipe.clone().into());
    let (process, stdio) = Process::start(&spec).unwrap();
    let daemon = number(&line(&mut BufReader::new(stdio.stdout)).await);
    assert_eq!(soon(process.exited()).await.status, Status::Exited(0));
    soon(tokio::task::spawn_blocking(move || std::fs::write(pipe, "now\n"))).await.unwrap().unwrap();
    let ended = soon(process.end(common::PATIENCE)).await;
    assert!(!is_alive(daemon), "{ended:?}");
}

#[tokio::test]
async fn signals_for_the_keeper_do_not_end_it() {
    let (process, stdio) =
        start("for signal in HUP INT QUIT TERM USR1 ALRM; do kill -$signal $PPID; done; exit 6");
    assert_eq!(soon(process.exited()).await.status, Status::Exited(6));
    drop(stdio);
}

#[test]
fn the_thread_that_started_a_server_can_end_before_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (process, stdio) = std::thread::scope(|scope| {
        let starting = scope.spawn(|| {
            let _guard = runtime.enter();
            Process::start(&sh("read line; exit 8")).unwrap()
        });
        starting.join().unwrap()
    });
    assert!(is_alive(process.pid()));
    drop(stdio);
    assert_eq!(runtime.block_on(soon(process.exited())).status, Status::Exited(8));
}

#[tokio::test]
async fn a_group_ends_with_its_server() {
    let spec = sh("sleep 1000 & echo $!; exec cat");
    let (process, stdio) = Process::start_with(ControlKind::ProcessGroup, &spec).unwrap();
    let child = number(&line(&mut BufReader::new(stdio.stdout)).await);
    let ended = soon(process.end(Duration::ZERO)).await;
    assert_eq!((ended.left_behind, ended.unkillable), (None, None));
    soon(async {
        while is_alive(child) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_keeper_does_not_hold_on_to_our_memory() {
    let ballast = vec![1_u8; 64 << 20];
    let (process, stdio) = start("echo $PPID; exec cat");
    let keeper = line(&mut BufReader::new(stdio.stdout)).await;
    let held = || {
        let status = std::fs::read_to_string(format!("/proc/{keeper}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
    };
    soon(async {
        while held() > ballast.len() / 4 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    process.signal(libc::SIGTERM).unwrap();
    let status = Status::Signalled { signal: libc::SIGTERM, core_dumped: false };
    assert_eq!(soon(process.exited()).await.status, status);
}

#[tokio::test]
async fn a_sample_adds_up_the_whole_tree() {
    let (process, stdio) =
        start("for child in 1 2; do (exec 5< /dev/null; echo ready; sleep 1000) & done; exec cat");
    let mut stdout = BufReader::new(stdio.stdout);
    assert_eq!([line(&mut stdout).await, line(&mut stdout).await], ["ready", "ready"]);
    let sample = process.sample().unwrap();
    // Each of the two shells may have started its `sleep` by now.
    assert!((3..=5).contains(&sample.processes), "{sample:?}");
    assert!((3 + 4 + 4..=3 + 4 * 4).contains(&sample.open_files), "{sample:?}");
    assert!(sample.rss_bytes > 500_000, "{sample:?}");
    assert!(sample.peak_bytes > 500_000, "{sample:?}");
    soon(process.end(Duration::ZERO)).await;
    assert_eq!(process.sample(), None);
    assert_eq!(process.descendants(), Some(Vec::new()));
}

#[tokio::test]
async fn processor_time_of_ended_processes_counts() {
    let script = "(i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done); echo ready; exec cat";
    let (process, stdio) = Process::start(&command("sh", &["-c", script])).unwrap();
    assert_eq!(line(&mut BufReader::new(stdio.stdout)).await, "ready");
    assert!(process.sample().unwrap().cpu > Duration::from_millis(10));
}
