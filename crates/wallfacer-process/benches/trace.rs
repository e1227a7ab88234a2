//! What it costs to be watched: tool calls with one open each, plain, by our tracer and by `strace`, in turns so that a
//! busy machine disturbs all alike; calls that are not watched; and the start of Python.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, clippy::print_stdout, clippy::disallowed_methods)]

use std::ffi::CString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use wallfacer_process::trace::{Filter, Options, Recorder, Tracer, enter};

const ROUNDS: usize = 7;
const CALLS: usize = 5_000;
const UNWATCHED_CALLS: usize = 300_000;

/// A server as small as one in Python can be.
const PYTHON_SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    with open("/etc/hostname") as file: text = file.read()
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"content": [{"type": "text", "text": text}]}}
    print(json.dumps(answer), flush=True)
"#;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    Ours,
    Strace,
    StraceFilter,
}

const WAYS: [Way; 4] = [Way::Plain, Way::Ours, Way::Strace, Way::StraceFilter];

fn main() {
    if std::env::args().nth(1).as_deref() == Some("unwatched") {
        return unwatched();
    }
    let python =
        ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| File::open(path).is_ok());
    let ourselves = std::env::current_exe().expect("a path").display().to_string();
    println!("medians of {ROUNDS} rounds, in turns");
    match python {
        Some(python) => {
            round_trips(&[python, "-c", PYTHON_SERVER]);
            starts(python);
        }
        None => println!("no python3 here: left out"),
    }
    calls_that_are_not_watched(&ourselves);
}

fn round_trips(command: &[&str]) {
    let mut times = WAYS.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for (way, times) in WAYS.into_iter().zip(&mut times) {
            if let Some(mut life) = Life::start(way, command) {
                times.push(life.drive());
            }
        }
    }
    let [plain, ours, strace, filtered] = times.map(median);
    let Some((plain, ours)) = plain.zip(ours) else { return println!("the server did not run") };
    println!("a server in Python, {CALLS} calls with one open each:");
    println!(
        "  plain                      {:>9.1} ms  ({:.1} us a call)",
        milliseconds(plain),
        microseconds(plain)
    );
    let added = |time: Duration| time.saturating_sub(plain);
    let show = |label: &str, time: Duration| {
        let ratio = added(time).as_secs_f64() / plain.as_secs_f64();
        println!("  {label:<26} {:>9.1} ms  (adds {ratio:.2} x plain)", milliseconds(time));
    };
    show("ours", ours);
    for (label, time) in [("strace -f", strace), ("strace -f --seccomp-bpf", filtered)] {
        let Some(time) = time else { continue };
        show(label, time);
        let ratio = added(ours).as_secs_f64() / added(time).as_secs_f64();
        println!("  {:<26} ours adds {ratio:.2} of what it adds", "");
    }
}

fn starts(python: &str) {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS * 3 {
        for (way, times) in [Way::Plain, Way::Ours].into_iter().zip(&mut times) {
            let began = Instant::now();
            if let Some(mut life) = Life::start(way, &[python, "-c", "print(1)"]) {
                life.output.read_exact(&mut [0; 2]).expect("an answer");
                times.push(began.elapsed());
            }
        }
    }
    if let [Some(plain), Some(ours)] = times.map(median) {
        let added = milliseconds(ours) - milliseconds(plain);
        println!("python to its first line: plain {:.1} ms, ours {added:+.1} ms", milliseconds(plain));
    }
}

fn calls_that_are_not_watched(ourselves: &str) {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS * 3 {
        for (way, times) in [Way::Plain, Way::Ours].into_iter().zip(&mut times) {
            let Some(mut life) = Life::start(way, &[ourselves, "unwatched"]) else { continue };
            let mut line = String::new();
            life.output.read_line(&mut line).expect("a line");
            times.push(Duration::from_nanos(line.trim().parse().expect("a number")));
        }
    }
    // A loop without waits: what disturbs it only adds, so the least is the truest.
    if let [Some(plain), Some(ours)] = times.map(|times| times.into_iter().min()) {
        let ratio = ours.as_secs_f64() / plain.as_secs_f64();
        println!(
            "{UNWATCHED_CALLS} calls that are not watched: {:.1} ms, ours x {ratio:.2}",
            milliseconds(plain)
        );
    }
}

fn unwatched() {
    let began = Instant::now();
    for _ in 0..UNWATCHED_CALLS {
        // SAFETY: takes no pointers.
        unsafe { libc::syscall(libc::SYS_getppid) };
    }
    println!("{}", began.elapsed().as_nanos());
}

/// A server that runs.
struct Life {
    input: Option<File>,
    output: BufReader<File>,
    in_flight: Arc<AtomicU64>,
    recorder: Arc<Recorder>,
    end: Option<Box<dyn FnOnce()>>,
}

impl Life {
    /// `None` where the program is not there.
    fn start(way: Way, command: &[&str]) -> Option<Self> {
        let in_flight = Arc::new(AtomicU64::new(0));
        let recorder = Arc::new(Recorder::new(Arc::clone(&in_flight)));
        let (input, output, end) = match way {
            Way::Plain => spawned(&[], command)?,
            Way::Ours => watched(command, &recorder)?,
            Way::Strace => spawned(&STRACE[..1], command)?,
            Way::StraceFilter => spawned(&STRACE, command)?,
        };
        let output = BufReader::new(File::from(output));
        Some(Self { input: Some(input.into()), output, in_flight, recorder, end: Some(end) })
    }

    fn drive(&mut self) -> Duration {
        // The first call waits for the start.
        self.call(0);
        self.recorder.take();
        let began = Instant::now();
        (1..=CALLS).for_each(|id| self.call(id));
        began.elapsed()
    }

    fn call(&mut self, id: usize) {
        self.in_flight.store(id as u64, Ordering::SeqCst);
        let request = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\"}}\n");
        self.input.as_mut().expect("open").write_all(request.as_bytes()).expect("it reads");
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).expect("it answers") > 0);
        self.in_flight.store(0, Ordering::SeqCst);
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.input.take();
        if let Some(end) = self.end.take() {
            end();
        }
    }
}

/// The first alone, and both.
const STRACE: [&str; 2] = ["-f", "--seccomp-bpf"];

type Started = (OwnedFd, OwnedFd, Box<dyn FnOnce()>);

fn spawned(strace: &[&str], command: &[&str]) -> Option<Started> {
    let mut words = Vec::new();
    if !strace.is_empty() {
        words.extend(["strace", "-o", "/dev/null", "-e", "trace=openat,connect,execve"]);
        words.extend(strace);
    }
    words.extend(command);
    let mut started = Command::new(words[0]);
    started.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = started.spawn().ok()?;
    let (input, output) = (child.stdin.take()?, child.stdout.take()?);
    let end = move || {
        child.wait().expect("it ends");
    };
    Some((input.into(), output.into(), Box::new(end)))
}

fn watched(command: &[&str], recorder: &Arc<Recorder>) -> Option<Started> {
    let filter = Filter::new(Options::default()).ok()?;
    let words: Vec<CString> = command.iter().map(|word| CString::new(*word).expect("no zero")).collect();
    let mut list: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
    list.push(ptr::null());
    let [(wait, go), (input, write), (read, output)] = [(); 3].map(|()| pipe().expect("a pipe"));
    // SAFETY: the child makes system calls alone, executes or ends; the list ends in a null pointer.
    let pid = unsafe {
        let pid = libc::fork();
        if pid == 0 {
            libc::dup2(input.as_raw_fd(), 0);
            libc::dup2(output.as_raw_fd(), 1);
            if enter(&filter, wait.as_raw_fd()).is_ok() {
                libc::execv(list[0], list.as_ptr());
            }
            libc::_exit(127);
        }
        pid
    };
    let tracer =
        Tracer::attach(pid as u32, go.into(), Arc::clone(recorder), None).expect("it can be watched");
    let end = move || {
        tracer.wait();
        // SAFETY: reaps the child; nothing is written.
        unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
    };
    Some((write.into(), read.into(), Box::new(end)))
}

fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Of one call.
fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6 / CALLS as f64
}
