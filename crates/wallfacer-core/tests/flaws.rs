//! Walks the table of flaws: a run of fuzzing finds exactly what the table says, nothing in the correct twins, and the
//! same whatever the number of workers, the calls in flight, the names and the transport.

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::findings::Repro;
use wallfacer_core::plan::Subject;
use wallfacer_core::session::{Feedback, FuzzOptions, fuzz};
use wallfacer_core::summary::{Conclusion, Run};
use wallfacer_core::target::{Command, Reach, Severity, Target};
use wallfacer_core::wire::Connector;
use wallfacer_fixtures::{Flaw, Renaming, flaws};

/// For servers that answer all the time, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(5);
/// For those that do not: each silence is waited for several times.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);
const STARTUP: Duration = Duration::from_secs(60);
/// Too few for one call to be made many times, which shows whether anything grows.
const ITERATIONS: usize = 96;
/// Enough for that.
const GROWTH_ITERATIONS: usize = 120;
/// More than the longest text that any flaw needs.
const MAX_BYTES: usize = 128 << 10;
/// Rows at a time: most of the time is spent waiting for servers that are silent.
const AT_ONCE: usize = 16;
const RENAMING: u64 = 7;
/// The value that must not be shown.
const TOKEN: &str = "tok-4f9a8b7c6d5e4f3a";
/// Flaws that show only when frames are sent that are no calls.
const OF_FRAMES: [&str; 9] = [
    "dies-on-malformed-json",
    "dies-on-batch",
    "dies-on-unknown-method",
    "dies-on-params-array",
    "answers-notification",
    "mute-after-half-line",
    "loop-ends-on-bad-frame",
    "mute-and-always-ends-badly",
    "ignores-garbage",
];
/// Flaws with silences that are none of what is expected of them.
const SILENT: [&str; 7] = [
    "loop-ends-on-bad-frame",
    "crash-after-a-while",
    "waits-to-be-told",
    "sleeps-as-asked",
    "slow-with-length",
    "wrong-id-on-one-value",
    "hang-in-company",
];
/// Flaws that show only when one call is made many times.
const OF_MANY_CALLS: [&str; 5] =
    ["memory-growth", "file-growth", "child-growth", "bounded-cache", "lazy-collector"];
/// Flaws that show only when what brings news is tried again with changes, which takes its time.
const OF_FEEDBACK: [&str; 1] = ["opens-by-degrees"];
const FEEDBACK_ITERATIONS: usize = 1_500;
const MUTATE_RATIO: f64 = 0.9;
/// One of each kind, for what is tried in many ways.
const ONE_OF_EACH: [&str; 10] = [
    "crash-on-nested-maximum",
    "crash-with-two-causes",
    "crash-shared-by-three-tools",
    "noise-on-one-value",
    "internal-error-on-one-value",
    "output-of-wrong-type",
    "ignores-maximum",
    "secret-in-log",
    "learns-ids",
    "waits-for-another-call",
];

/// How one row is run.
#[derive(Debug, Clone, Copy)]
struct Way {
    fixed: bool,
    workers: usize,
    in_flight: usize,
    renamed: bool,
    http: bool,
    /// Whether what brings news is tried again with changes, where a flaw needs it.
    feedback: bool,
}

const PLAIN: Way =
    Way { fixed: false, workers: 1, in_flight: 16, renamed: false, http: false, feedback: true };

/// Nobody listens.
struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Event<'_>) {}
}

/// Kind, name of what is to blame, severity.
type Found = Vec<(String, Option<String>, String)>;

#[test]
fn every_flaw_gives_exactly_its_findings_one_call_at_a_time_and_many_on_several_workers() {
    let one = Way { in_flight: 1, ..PLAIN };
    walk(flaws().iter().collect(), |flaw| {
        let many = way_of(flaw, false);
        let (first, second) = (run(flaw, one), run(flaw, many));
        let mut wrong = compare(flaw, one, &first);
        wrong.extend(compare(flaw, many, &second));
        if !flaw.together && !many.renamed && ids(&first) != ids(&second) {
            wrong.push(format!(
                "{}: other ids with {many:?}: {:?}, {:?}",
                flaw.name,
                ids(&first),
                ids(&second)
            ));
        }
        wrong
    });
}

/// Every row in every way would take an hour, so each has one of its own: by its name, so that it is always the same, and all
/// numbers of workers and of calls, both sorts of names and both transports are tried on many rows.
fn way_of(flaw: &Flaw, fixed: bool) -> Way {
    let hash = flaw.name.bytes().chain([u8::from(fixed)]).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let pick = |shift: u64, many: u64| ((hash >> shift) % many) as usize;
    // Without a sandbox two servers cannot listen at one address, and one that is busy lets go of it late.
    let busy =
        flaw.together || SILENT.contains(&flaw.name) || flaw.expected.iter().any(|row| row.kind == "hang");
    let http = flaw.http && !busy && pick(32, 4) == 0;
    Way {
        fixed,
        workers: if http { 1 } else { [1, 2, 8][pick(8, 3)] },
        in_flight: [16, 64][pick(16, 2)],
        renamed: pick(24, 2) == 1,
        http,
        ..PLAIN
    }
}

#[test]
fn what_is_accepted_though_forbidden_is_still_forbidden_when_made_small() {
    let flaw = flaws().iter().find(|flaw| flaw.name == "ignores-maximum").unwrap();
    let run = run(flaw, PLAIN);
    let [finding] = &run.findings[..] else { panic!("{:?}", found(&run)) };
    let Repro::Replayable { case, .. } = &finding.repro else { panic!("{:?}", finding.repro) };
    let sent = &case["steps"][0]["call"]["params"]["arguments"];
    assert!(sent["level"].as_f64().is_some_and(|level| level > 100.0), "{sent}");
}

#[test]
fn a_tool_and_a_prompt_of_one_name_are_told_and_counted_apart() {
    let flaw = flaws().iter().find(|flaw| flaw.name == "tool-and-prompt-of-one-name").unwrap();
    let run = run(flaw, PLAIN);
    let subjects: BTreeSet<&Subject> = run.findings.iter().map(|finding| &finding.subject).collect();
    let name = || "summary".to_owned();
    assert_eq!(subjects, BTreeSet::from([&Subject::Tool(name()), &Subject::Prompt(name())]));
    let of_tool = run.tools["summary"].calls.failed;
    assert!(0 < of_tool && of_tool < run.summary.failed, "{of_tool} of {}", run.summary.failed);
}

#[test]
fn a_loop_that_ended_is_one_finding_that_names_each_frame_which_ends_it_whatever_the_number_of_workers() {
    let flaw = flaws().iter().find(|flaw| flaw.name == "loop-ends-on-bad-frame").unwrap();
    let runs = std::thread::scope(|scope| {
        let begun = [1, 2, 8].map(|workers| scope.spawn(move || run(flaw, Way { workers, ..PLAIN })));
        begun.map(|run| run.join().unwrap())
    });
    for run in &runs {
        let [finding] = &run.findings[..] else { panic!("{:?}", found(run)) };
        let frames = finding.evidence.iter().find(|proof| proof.label == "frames");
        let Some(frames) = frames else { panic!("{finding:?}") };
        // By the first of these it ends at once, by the second with its input.
        let named = |name: &str| frames.text.lines().any(|line| line == name);
        assert!(named("not JSON") && named("jsonrpc 1.0"), "{}", frames.text);
        assert_eq!(
            (&finding.id, &finding.evidence),
            (&runs[0].findings[0].id, &runs[0].findings[0].evidence)
        );
    }
}

#[test]
fn no_correct_twin_gives_a_finding() {
    walk(flaws().iter().collect(), |flaw| {
        let way = way_of(flaw, true);
        compare(flaw, way, &run(flaw, way))
    });
}

#[test]
fn what_only_news_lead_to_is_not_found_without_them() {
    let way = Way { feedback: false, ..PLAIN };
    walk(flaws().iter().filter(|flaw| OF_FEEDBACK.contains(&flaw.name)).collect(), |flaw| {
        found(&run(flaw, way)).iter().map(|found| format!("{}: {found:?}", flaw.name)).collect()
    });
}

#[test]
fn other_names_change_no_result() {
    let way = Way { renamed: true, ..PLAIN };
    walk(chosen(|_| true), |flaw| compare(flaw, way, &run(flaw, way)));
}

#[test]
fn eight_workers_find_the_same() {
    in_these_ways(chosen(|_| true), &[Way { workers: 8, in_flight: 64, ..PLAIN }]);
}

/// Each way finds what the table says, under the ids that the usual one gives.
fn in_these_ways(rows: Vec<&Flaw>, ways: &[Way]) {
    walk(rows, |flaw| {
        let plain = run(flaw, Way { fixed: ways[0].fixed, ..PLAIN });
        let mut wrong = Vec::new();
        for way in ways {
            let other = run(flaw, *way);
            wrong.extend(compare(flaw, *way, &other));
            if shows(flaw, *way) && ids(&plain) != ids(&other) {
                wrong.push(format!("{}: other ids with {way:?}", flaw.name));
            }
        }
        wrong
    });
}

#[test]
fn the_same_is_found_over_http() {
    let way = Way { http: true, ..PLAIN };
    walk(chosen(|flaw| flaw.http), |flaw| compare(flaw, way, &run(flaw, way)));
}

#[test]
fn several_sessions_with_a_server_that_runs_already_find_the_same() {
    // A server that has crashed is not started again, and the secrets of one that somebody else started are not known.
    let apart = ["crash", "secret_leak"];
    let suits = |flaw: &&Flaw| flaw.expected.iter().all(|row| !apart.contains(&row.kind));
    walk(chosen(|flaw| flaw.http).into_iter().filter(suits).collect(), |flaw| {
        let ways = [1, 2, 8].map(|workers| Way { http: true, workers, ..PLAIN });
        let (command, url) = command(flaw, ways[0]);
        let started = std::process::Command::new(&command.program)
            .args(&command.args)
            .envs(&command.environment.set)
            .stderr(std::process::Stdio::piped())
            .spawn();
        let mut server = started.unwrap();
        let mut told = BufReader::new(server.stderr.take().unwrap());
        assert!(told.read_line(&mut String::new()).unwrap() > 0, "it says where it listens");
        let Reach::Both { endpoint, .. } = common::listening(command, url) else { unreachable!() };
        let runs = ways.map(|way| run_at(flaw, way, Reach::Url(endpoint.clone())));
        server.kill().and_then(|()| server.wait()).unwrap();
        let mut wrong: Vec<String> =
            ways.iter().zip(&runs).flat_map(|(way, run)| compare(flaw, *way, run)).collect();
        if runs.iter().any(|run| ids(run) != ids(&runs[0])) {
            wrong.push(format!("{}: other ids with several sessions", flaw.name));
        }
        wrong
    });
}

fn chosen(which: fn(&Flaw) -> bool) -> Vec<&'static Flaw> {
    flaws().iter().filter(|flaw| ONE_OF_EACH.contains(&flaw.name) && which(flaw)).collect()
}

/// Judges all rows, some at a time, and tells all that is wrong at once.
fn walk(rows: Vec<&Flaw>, judge: impl Fn(&Flaw) -> Vec<String> + Sync) {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(flaw) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = judge(flaw);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn run(flaw: &Flaw, way: Way) -> Run {
    let (command, url) = command(flaw, way);
    run_at(flaw, way, if way.http { common::listening(command, url) } else { Reach::Command(command) })
}

/// The command that starts the server of a row, and the URL at which it listens if it speaks HTTP.
fn command(flaw: &Flaw, way: Way) -> (Command, String) {
    let mut arguments: Vec<String> = flaw.arguments().map(str::to_owned).into();
    if way.fixed {
        arguments.push("--fixed".to_owned());
    }
    if way.renamed {
        arguments.extend(["--rename".to_owned(), RENAMING.to_string()]);
    }
    let (port, url) = common::address("mcp");
    if way.http {
        arguments.extend(["--http".to_owned(), "--port".to_owned(), port.to_string()]);
    }
    let mut command = Command::new(wallfacer_fixtures::server(), arguments);
    command.environment.set.insert("WALLFACER_FIXTURE_TOKEN".to_owned(), TOKEN.to_owned());
    (command, url)
}

fn run_at(flaw: &Flaw, way: Way, reach: Reach) -> Run {
    let mut target = Target::new(reach);
    let silent = SILENT.contains(&flaw.name) || flaw.expected.iter().any(|row| row.kind == "hang");
    target.timeouts.call = if silent && !way.fixed { SHORT_PATIENCE } else { PATIENCE };
    target.timeouts.startup = STARTUP;
    let feedback = OF_FEEDBACK.contains(&flaw.name) && way.feedback;
    let options = FuzzOptions {
        iterations: match flaw.name {
            name if OF_FEEDBACK.contains(&name) => FEEDBACK_ITERATIONS,
            name if OF_MANY_CALLS.contains(&name) => GROWTH_ITERATIONS,
            _ => ITERATIONS,
        },
        feedback: feedback.then(|| Feedback { ratio: MUTATE_RATIO, known: Vec::new() }),
        max_bytes: MAX_BYTES,
        workers: Some(way.workers),
        in_flight: way.in_flight,
        protocol_frames: OF_FRAMES.contains(&flaw.name),
        ..FuzzOptions::default()
    };
    let fuzzed = fuzz(Connector::new(target, common::environment()), &options, &mut Deaf);
    let fuzzed = fuzzed.unwrap_or_else(|error| panic!("{} {way:?}: {error}", flaw.name));
    Run::of_fuzzing(String::new(), fuzzed)
}

fn shows(flaw: &Flaw, way: Way) -> bool {
    !flaw.together || way.in_flight > 1
}

/// What differs from the table.
fn compare(flaw: &Flaw, way: Way, run: &Run) -> Vec<String> {
    let renaming = Renaming::new(RENAMING);
    let shown = |name: &str| if way.renamed { renaming.apply(name) } else { name.to_owned() };
    let rows = flaw.expected.iter().filter(|_| !way.fixed && shows(flaw, way));
    let expected = rows.map(|row| (row.kind.to_owned(), row.tool.map(shown), row.severity.to_owned()));
    let (expected, found) = (sorted(expected.collect()), found(run));
    let mut wrong = Vec::new();
    let fails = run.conclusion(Severity::Low) != Conclusion::Clean;
    if fails == expected.is_empty() {
        wrong.push(format!("{} {way:?}: {:?}", flaw.name, run.conclusion(Severity::Low)));
    }
    if expected != found {
        let messages: Vec<&str> = run.findings.iter().map(|finding| finding.message.as_str()).collect();
        wrong.push(format!(
            "{} {way:?}:\n  expected {expected:?}\n  found    {found:?}\n  {messages:?}\n  {:?}",
            flaw.name, run.notes
        ));
    }
    if !run.flaky.is_empty() {
        wrong.push(format!("{} {way:?}: flaky {:?}", flaw.name, run.flaky));
    }
    wrong
}

fn found(run: &Run) -> Found {
    let each = run.findings.iter().map(|finding| {
        let name = finding.subject.name().map(str::to_owned);
        (finding.kind.name().to_owned(), name, finding.severity.as_str().to_owned())
    });
    sorted(each.collect())
}

fn sorted(mut found: Found) -> Found {
    found.sort();
    found
}

fn ids(run: &Run) -> Vec<String> {
    run.findings.iter().map(|finding| finding.id.to_string()).collect()
}
