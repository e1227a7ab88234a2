//! Start to first byte, and the end of the tree, beside `std::process::Command` in the same run.
//! Forking copies our page tables, so each is measured with more and more memory in us.

#![allow(clippy::print_stdout)]

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use wallfacer_process::jail::Jail;
use wallfacer_process::trace::{Filter, Options, Recorder};
use wallfacer_process::{ControlKind, Process, Spec, StartError, Watch};

const ROUNDS: usize = 200;
const CONFINED_ROUNDS: usize = 30;

/// Says a byte, then waits to be ended.
const SERVER: [&str; 3] = ["/bin/sh", "-c", "echo; exec cat"];

#[derive(Default)]
struct Times {
    first_byte: Vec<Duration>,
    end: Vec<Duration>,
    sample: Vec<Duration>,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    println!("median and 90th percentile of {ROUNDS} rounds, in microseconds");
    println!("{:>12}  {:<14} {:>16} {:>16}", "our memory", "", "first byte", "end");
    for megabytes in [0, 64, 256] {
        let ballast = vec![1_u8; megabytes << 20];
        let [mut standard, mut group, mut tree] = [Times::default(), Times::default(), Times::default()];
        // Interleaved, so that a busy machine disturbs all alike.
        for _ in 0..ROUNDS {
            standard_library(&mut standard);
            runtime.block_on(ours(ControlKind::ProcessGroup, &mut group));
            runtime.block_on(ours(ControlKind::WholeTree, &mut tree));
        }
        let sample = summary(std::mem::take(&mut tree.sample));
        for (name, times) in [("Command", standard), ("process group", group), ("whole tree", tree)] {
            let [first_byte, end] = [times.first_byte, times.end].map(summary);
            println!(
                "{:>8} MiB  {name:<14} {first_byte:>16} {end:>16}",
                std::hint::black_box(&ballast).len() >> 20
            );
        }
        println!("{:>12}  a sample takes {sample}", "");
    }
    confined(&runtime);
}

/// What jail and tracer add to the start of an interpreter.
fn confined(runtime: &tokio::runtime::Runtime) {
    println!(
        "\nstart to first byte, median and 90th percentile of {CONFINED_ROUNDS} rounds, in microseconds"
    );
    for (name, program, args) in [
        ("sh", "/bin/sh", ["-c", "echo; exec cat"]),
        ("python", "/usr/bin/python3", ["-c", "print(flush=True); input()"]),
        ("node", "node", ["-e", "console.log(); process.stdin.resume()"]),
    ] {
        let mut plain = Spec { args: args.map(Into::into).to_vec(), ..Spec::new(program) };
        plain.env = [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())].into();
        let jailed = Spec { jail: Some(Jail::new("/root", 1)), ..plain.clone() };
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..CONFINED_ROUNDS {
            runtime.block_on(async {
                times[0].push(first_byte(|| Process::start(&plain)).await);
                times[1].push(first_byte(|| Process::start(&jailed)).await);
                times[2].push(first_byte(|| Process::start_watched(&jailed, watch())).await);
            });
        }
        for (kind, times) in ["plain", "jailed", "jailed, watched"].into_iter().zip(times) {
            println!("{name:>12}  {kind:<16} {:>16}", summary(times));
        }
    }
}

fn watch() -> Watch {
    let recorder = Arc::new(Recorder::new(Arc::default()));
    let filter = Filter::new(Options::default()).expect("the calls are known here");
    Watch { filter: Some(filter), recorder, before: Box::new(|_| Ok(None)) }
}

async fn first_byte(
    start: impl FnOnce() -> Result<(Process, wallfacer_process::Stdio), StartError>,
) -> Duration {
    let began = Instant::now();
    let (_process, mut stdio) = start().expect("it starts");
    stdio.stdout.read_exact(&mut [0]).await.expect("a byte");
    began.elapsed()
}

fn standard_library(times: &mut Times) {
    let began = Instant::now();
    let mut child = Command::new(SERVER[0])
        .args(&SERVER[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the shell starts");
    child.stdout.as_mut().expect("a pipe").read_exact(&mut [0]).expect("a byte");
    times.first_byte.push(began.elapsed());
    let began = Instant::now();
    child.kill().expect("it can be killed");
    child.wait().expect("it can be waited for");
    times.end.push(began.elapsed());
}

async fn ours(kind: ControlKind, times: &mut Times) {
    let spec = Spec { args: SERVER[1..].iter().map(Into::into).collect(), ..Spec::new(SERVER[0]) };
    let began = Instant::now();
    let (process, mut stdio) = Process::start_with(kind, &spec).expect("the shell starts");
    stdio.stdout.read_exact(&mut [0]).await.expect("a byte");
    times.first_byte.push(began.elapsed());
    let began = Instant::now();
    process.sample();
    times.sample.push(began.elapsed());
    let began = Instant::now();
    drop(process);
    times.end.push(began.elapsed());
}

fn summary(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    format!("{} / {}", times[times.len() / 2].as_micros(), times[times.len() * 9 / 10].as_micros())
}
