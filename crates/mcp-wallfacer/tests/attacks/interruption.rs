//! A run may be ended at any moment: nothing is left running, every stored file is whole, what was told as proven is
//! stored, and whoever asked it to end has a report within two seconds, however stuck the server is.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::lanes::{assert_in_time, each, in_time};
use crate::processes::{MARK, hearing, marked, send, wait_until};
use crate::ways::{Way, ways};
use crate::world::World;

/// How soon after a signal there is a report.
const SOON: Duration = Duration::from_secs(2);
/// How soon after a second signal everything is over.
const AT_ONCE: Duration = Duration::from_millis(500);
const KILLS: usize = 100;
/// Fifty by SIGINT, and every third by SIGTERM.
const INTERRUPTIONS: usize = 75;
/// From before the server is there to the midst of the work.
const LATEST: Duration = Duration::from_millis(2_500);

/// A server for the shell, whose tools end it, hang, or answer.
const SERVER: &str = r#"
while read -r line; do
    id=${line#*'"id":'}; id=${id%%[,\}]*}
    case "$line" in
    *'"server/discover"'*) body='"error":{"code":-32601,"message":"no"}';;
    *'"initialize"'*) body='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"moody","version":"1"}}';;
    *'"tools/list"'*) body='"result":{"tools":[{"name":"dies","inputSchema":{"type":"object"}},{"name":"works","inputSchema":{"type":"object"}},{"name":"hangs","inputSchema":{"type":"object"}}]}';;
    *'"name":"dies"'*) exit 3;;
    *'"name":"hangs"'*) exec sleep 600;;
    *'"id":'*) body='"result":{"content":[]}';;
    *) continue;;
    esac
    echo '{"jsonrpc":"2.0","id":'$id,$body'}'
done"#;

/// One run of the command in a world of its own.
struct Run {
    world: World,
    scratch: TempDir,
    child: Child,
    mark: String,
}

impl Run {
    /// The command `args`, against the moody server unless another is named.
    fn start(way: Way, name: &str, args: &[&str]) -> Run {
        Run::start_in(World::new().with_program("moody", SERVER), way, name, args)
    }

    fn start_in(world: World, way: Way, name: &str, args: &[&str]) -> Run {
        let scratch = TempDir::new_in(world.root()).unwrap();
        // Another each time, so that a second try does not meet what is left of the first.
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{name}-{}-{number}", std::process::id());
        let events: &[&str] =
            if args[0] == "corpus" && args[1] == "list" { &[] } else { &["--events", "events"] };
        let own = args.iter().position(|word| *word == "--").unwrap_or(args.len());
        let moody = if args.contains(&"--") { &args[own..] } else { &["--", "moody"] };
        let mut command = way.command(&world, &[&args[..own], events, moody].concat());
        command.env(MARK, &mark).env("TMPDIR", scratch.path());
        let child = hearing(command).spawn().unwrap();
        Run { world, scratch, child, mark }
    }

    /// Waits for an event of the session.
    fn until(self, what: &str, has_come: impl Fn(&Value) -> bool) -> Run {
        wait_until(what, || self.events().iter().any(&has_come));
        self
    }

    /// What it has told so far. The last line may be cut off by the end of the command.
    fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.world.here().join("events")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let read = lines.iter().map(|line| serde_json::from_str::<Value>(line));
        let whole: Vec<Value> = read.flatten().collect();
        assert!(whole.len() + 1 >= lines.len(), "only the last line may be cut off: {text}");
        whole
    }

    /// Sends a signal and waits for the end: what was printed, and how long that took.
    fn end_by(&mut self, signal: &str) -> (Output, Duration) {
        let sent = Instant::now();
        send(signal, self.child.id());
        self.end(sent)
    }

    fn end(&mut self, since: Instant) -> (Output, Duration) {
        let (mut stdout, mut stderr) = (self.child.stdout.take().unwrap(), self.child.stderr.take().unwrap());
        let read = thread::spawn(move || {
            let mut text = Vec::new();
            std::io::copy(&mut stdout, &mut text).map(|_| text).unwrap()
        });
        let mut told = Vec::new();
        std::io::copy(&mut stderr, &mut told).unwrap();
        let status = self.child.wait().unwrap();
        let took = since.elapsed();
        (Output { status, stdout: read.join().unwrap(), stderr: told }, took)
    }

    /// Nothing is left, and what is stored is whole and all that was told.
    fn assert_nothing_is_lost(&self) {
        wait_until("everything that it started ends", || marked(&self.mark).is_empty());
        let left: Vec<_> = fs::read_dir(self.scratch.path()).unwrap().flatten().collect();
        assert!(left.is_empty(), "{}: {left:?} was left", self.mark);
        assert_whole(&self.world.here().join(".wallfacer"));
        let stored = stored(&self.world.here().join(".wallfacer/corpus"));
        for (told, replaced) in self.proven() {
            assert!(replaced || stored.contains(&told), "{}: {told} was told and is not stored", self.mark);
        }
    }

    /// The ids of findings that were told, and whether another stands for them now.
    fn proven(&self) -> Vec<(String, bool)> {
        let events = self.events();
        let made: Vec<&Value> = events.iter().filter(|event| event["event"] == "finding_made").collect();
        let replaced: BTreeSet<String> = made.iter().flat_map(|event| ids(&event["replaces"])).collect();
        let id = |event: &&Value| event["id"].as_str().unwrap().to_owned();
        made.iter().map(id).map(|id| (id.clone(), replaced.contains(&id))).collect()
    }
}

impl Drop for Run {
    /// One that failed its test goes on for nobody.
    fn drop(&mut self) {
        let _is_over = self.child.kill().and_then(|()| self.child.wait());
    }
}

fn ids(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Every document below a folder must be a whole one: findings, inputs, schemas, runs.
fn assert_whole(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            assert_whole(&path);
        } else if path.extension().is_some_and(|ending| ending == "json") {
            let text = fs::read_to_string(&path).unwrap();
            let parsed = serde_json::from_str::<Value>(&text);
            assert!(parsed.is_ok(), "{}: {parsed:?}: {text}", path.display());
        }
    }
}

/// The ids in a corpus, whose every file must be a whole finding of that name.
fn stored(corpus: &Path) -> BTreeSet<String> {
    let folders = fs::read_dir(corpus).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
    let files = files.filter(|file| !file.file_name().to_string_lossy().ends_with(".tmp"));
    files
        .map(|file| {
            let text = fs::read_to_string(file.path()).unwrap();
            let finding: Value = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{:?}: {error}: {text}", file.path()));
            let id = finding["id"].as_str().unwrap().to_owned();
            assert_eq!(file.path().file_stem().unwrap(), id.as_str());
            id
        })
        .collect()
}

/// The same moments each time: the upper bits of a linear congruence.
fn moment(number: usize) -> Duration {
    let mixed =
        (number as u64 + 1).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    LATEST.mul_f64((mixed >> 11) as f64 / (1u64 << 53) as f64)
}

/// A command and who runs it, another each time.
fn varied(number: usize) -> (Way, &'static [&'static str]) {
    const COMMANDS: [&[&str]; 3] = [
        &["fuzz", "--timeout", "300ms", "--format", "json"],
        &["check", "--timeout", "300ms", "--format", "json"],
        &["behave", "--timeout", "300ms", "--format", "json"],
    ];
    let ways = ways();
    (ways[(number / COMMANDS.len()) % ways.len()], COMMANDS[number % COMMANDS.len()])
}

/// Held before, at twenty moments.
#[test]
fn nothing_is_left_and_nothing_proven_is_lost_whenever_a_run_is_killed() {
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    each(0..KILLS, |number| {
        let (way, args) = varied(number);
        let mut run = Run::start(way, &format!("killed-{number}"), args);
        thread::sleep(moment(number));
        run.child.kill().unwrap();
        run.child.wait().unwrap();
        run.assert_nothing_is_lost();
    });
    assert_eq!(mounts(), before);
}

/// Was open: nothing was printed, and what was suspected was lost.
#[test]
fn a_run_that_is_interrupted_reports_within_two_seconds_whenever_that_is() {
    let late = Mutex::new(Vec::new());
    let interrupted = AtomicUsize::new(0);
    each(0..INTERRUPTIONS, |number| {
        let took = interrupt_at(number);
        interrupted.fetch_add(usize::from(took.is_some()), Ordering::Relaxed);
        if took > Some(SOON) {
            late.lock().unwrap().push(number);
        }
    });
    let interrupted = interrupted.into_inner();
    assert!(interrupted > INTERRUPTIONS / 2, "only {interrupted} were not over before they were interrupted");
    // Others run at the same time, and this machine may be busy: one that was late is tried again, at last alone.
    for number in late.into_inner().unwrap() {
        in_time(|| {
            let took = interrupt_at(number);
            let when = format!("interrupted at {:?}", moment(number));
            assert_in_time(took.unwrap_or_default(), SOON, when);
        });
    }
}

/// How long it took until the end; none where the run was over before.
fn interrupt_at(number: usize) -> Option<Duration> {
    let (way, args) = varied(number);
    let mut run = Run::start(way, &format!("interrupted-{number}"), args);
    wait_until("the command hears signals", || hears_signals(run.child.id()));
    thread::sleep(moment(number));
    let signal = if number.is_multiple_of(3) { "TERM" } else { "INT" };
    let (output, took) = run.end_by(signal);
    let (told, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1 | 3)), "{args:?} at {:?}: {code:?} {said}", moment(number));
    run.assert_nothing_is_lost();
    if told.is_empty() {
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains("interrupted after "), "{said}");
        assert_eq!(run.proven(), [], "what is proven is reported");
        return Some(took);
    }
    let report: Value = serde_json::from_str(&told).unwrap();
    if report["run"]["interrupted"] != true {
        return None;
    }
    let found = |list: &str| {
        report[list].as_array().unwrap().iter().map(|finding| finding["id"].clone()).collect::<Vec<_>>()
    };
    let reported = [found("findings"), found("flaky")].concat();
    let gates = |finding: &Value| finding["severity"] != "low";
    let failed = report["findings"].as_array().unwrap().iter().any(gates);
    assert_eq!(code == Some(1), failed, "{told}");
    for (id, replaced) in run.proven() {
        assert!(replaced || reported.contains(&Value::from(id.as_str())), "{id} is proven: {told}");
    }
    Some(took)
}

/// Whether it has come to the point where signals are caught.
fn hears_signals(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
    u64::from_str_radix(caught, 16).unwrap() & (1 << 14) != 0
}

/// Was open: a server that hangs kept its secret.
#[test]
fn what_is_suspected_when_a_proof_is_interrupted_is_told_as_suspected() {
    in_time(|| {
        for way in ways() {
            let args =
                ["fuzz", "--include", "hangs", "--timeout", "60s", "--format", "json", "--in-flight", "1"];
            let run = Run::start(way, "proof", &args);
            // One call that is never answered: nothing is suspected yet, and the server is stuck.
            let mut run = run.until("a round begins", |event| event["event"] == "round_begun");
            let (output, took) = run.end_by("INT");
            assert_in_time(took, SOON, "interrupted");
            assert_eq!(output.status.code(), Some(3));
            run.assert_nothing_is_lost();

            let args = ["fuzz", "--include", "hangs", "--timeout", "1s", "--format", "json"];
            let run = Run::start(way, "proof", &args);
            let mut run = run.until("something is suspected", |event| {
                event["event"] == "round_done" && event["suspicions"].as_u64() >= Some(1)
            });
            let (output, took) = run.end_by("TERM");
            assert_in_time(took, SOON, "interrupted");
            let told = String::from_utf8(output.stdout).unwrap();
            let report: Value = serde_json::from_str(&told).unwrap();
            let not_tested = report["not_tested"].as_array().unwrap();
            let suspected = not_tested.iter().any(|not| {
                not["what"] == "a suspected hang in hangs"
                    && not["why"] == "the run was interrupted before it could be seen a second time"
            });
            assert!(suspected || output.status.code() == Some(1), "{told}");
            assert_eq!(report["verdict"]["conclusion"], if suspected { "interrupted" } else { "failed" });
            run.assert_nothing_is_lost();
        }
    });
}

/// Was open: every one of them said nothing.
#[test]
fn every_command_that_waits_for_a_server_can_be_interrupted() {
    let commands: [&[&str]; 15] = [
        &["check"],
        &["ci"],
        &["fuzz"],
        &["behave"],
        &["property", "--pack", "determinism"],
        &["differential"],
        &["differential", "--learn"],
        &["replay", "0123456789abcdef"],
        &["corpus", "replay", "--all"],
        &["corpus", "minimize", "0123456789abcdef"],
        &["torture"],
        &["lock"],
        &["doctor"],
        &["suggest"],
        &["coverage"],
    ];
    let late = Mutex::new(Vec::new());
    each(commands, |command| {
        if interrupt_at_start(command) > SOON {
            late.lock().unwrap().push(command);
        }
    });
    // As above: one that was late in company is tried once more, alone.
    for command in late.into_inner().unwrap() {
        in_time(|| {
            let took = interrupt_at_start(command);
            assert_in_time(took, SOON, command.join(" "));
        });
    }
}

/// How long a command goes on that is interrupted while it waits for a server that never answers.
fn interrupt_at_start(command: &[&str]) -> Duration {
    let finding = r#"{"id":"0123456789abcdef","kind":{"type":"crash"},"severity":"critical","tool":"dies",
        "message":"it ended","repro":{"seed":7,"tool_call":{},"transport":"stdio"},"timestamp":"2026-01-02T03:04:05Z"}"#;
    let way = *ways().last().unwrap();
    let world = World::new().with(".wallfacer/corpus/dies/0123456789abcdef.json", finding);
    let server = way.fixture(&world);
    let stuck = ["--startup-timeout", "10m", "--", &server, "never-answers"];
    let args = [command, &stuck].concat();
    let mut run = Run::start_in(world, way, &format!("command-{}", command.join("-")), &args);
    let mut status = None;
    wait_until("the server is there", || {
        status = run.child.try_wait().unwrap();
        status.is_some() || marked(&run.mark).iter().any(|process| is_server(process))
    });
    let (output, took) = match status {
        Some(_) => run.end(Instant::now()),
        None => run.end_by("INT"),
    };
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{args:?}: {said}");
    assert!(said.contains("interrupted after "), "{args:?}: {said}");
    assert!(!run.world.here().join("wallfacer.lock").exists());
    run.assert_nothing_is_lost();
    took
}

fn is_server(process: &str) -> bool {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    line.ends_with(b"never-answers\0")
        && line.starts_with(b"/")
        && !line.windows(10).any(|word| word == b"wallfacer\0")
}

/// Was open: a report that cannot be delivered could not be given up either.
#[test]
fn a_second_interruption_ends_the_command_at_once() {
    in_time(|| {
        let world = World::new().with_program("moody", SERVER);
        // Nobody reads what is written here, so that the command waits for ever.
        let pipe = world.here().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let args = ["fuzz", "--timeout", "60s", "-o", "pipe"];
        let run = Run::start_in(world, ways()[0], "twice", &args);
        let mut run = run.until("a round begins", |event| event["event"] == "round_begun");
        send("INT", run.child.id());
        wait_until("only the command itself is left", || marked(&run.mark).len() == 1);
        assert_eq!(run.child.try_wait().unwrap(), None, "it cannot deliver its report");
        let (output, took) = run.end_by("INT");
        assert_in_time(took, AT_ONCE, "interrupted for the second time");
        assert_eq!(output.status.code(), Some(3));
        run.assert_nothing_is_lost();
    });
}

/// Held at the moments that are tried here, although half a lock file could be left, because it was written in place.
#[test]
fn a_lock_file_is_written_whole_or_stays_as_it_was() {
    each(0..12, |number| {
        let world = World::new().with_program("moody", SERVER).with("wallfacer.lock", "as it was");
        let args = ["lock", "--timeout", "300ms"];
        let mut run = Run::start_in(world, ways()[0], &format!("lock-{number}"), &args);
        thread::sleep(moment(number));
        let (_, _) = run.end_by(if number.is_multiple_of(2) { "INT" } else { "KILL" });
        let text = run.world.read("wallfacer.lock");
        assert!(text == "as it was" || text.contains("hangs") && text.ends_with('\n'), "{text}");
        wait_until("everything that it started ends", || marked(&run.mark).is_empty());
    });
}

/// Was open: the first finding ended the run with exit 2 and no report.
#[test]
fn a_corpus_that_cannot_be_written_ends_no_run_and_loses_no_report() {
    each(ways(), |way| {
        // A file stands where the folder would be.
        let world = World::new().with_program("moody", SERVER).with(".wallfacer", "");
        let args = ["fuzz", "--include", "dies", "--format", "json", "--", "moody"];
        let outcome = way.run(&world, &args);
        assert_eq!(outcome.code, Some(1), "{outcome}");
        let report = outcome.json();
        assert_eq!(report["findings"].as_array().unwrap().len(), 1, "{outcome}");
        let notes = report["notes"].as_array().unwrap();
        let told = notes
            .iter()
            .filter(|note| note["text"].as_str().unwrap().starts_with("what was found is not kept: "));
        assert_eq!(told.count(), 1, "{outcome}");
        assert_eq!(outcome.stderr.matches("what was found is not kept: ").count(), 1, "{outcome}");
        assert!(outcome.stderr.contains("`--corpus DIR` names another place"), "{outcome}");

        let args = ["fuzz", "--include", "dies", "--corpus", "else where", "--", "moody"];
        let outcome = way.run(&world, &args);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(1), ""), "{outcome}");
        let [id] = &stored(&world.here().join("else where")).into_iter().collect::<Vec<_>>()[..] else {
            panic!("one finding is stored: {outcome}")
        };
        let replay = format!("wallfacer replay {id} --corpus 'else where'");
        assert!(outcome.stdout.contains(&replay), "{outcome}");
        let again = way.run(&world, &["replay", id, "--corpus", "else where"]);
        assert_eq!(again.code, Some(1), "{again}");
        let listed = way.run(&world, &["corpus", "list", "--corpus", "else where"]);
        assert!(listed.stdout.contains("crash in dies"), "{listed}");
        let compared = way.run(&world, &["diff", "else where", "--corpus", "else where"]);
        assert_eq!(compared.code, Some(0), "{compared}");
    });
}

/// Was open, also long after that build: under `ulimit -f`, the first file that grew too long ended the run without a message.
#[test]
fn a_limit_on_the_length_of_files_ends_no_run_and_loses_no_report() {
    each(ways(), |way| {
        let world = World::new().with_program("moody", SERVER);
        let args = ["fuzz", "--include", "dies", "--events", "events", "--", "moody"];
        let plain = way.command(&world, &args);
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -f 1; exec \"$@\"", "sh"])
            .arg(plain.get_program())
            .args(plain.get_args());
        command.current_dir(world.here()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let outcome = world.finish(hearing(command));
        assert_eq!(outcome.code, Some(1), "{outcome}");
        assert!(outcome.stdout.contains("crash in dies"), "{outcome}");
        assert!(outcome.stderr.contains("File too large"), "{outcome}");
    });
}
