//! Runs `torture` on the small Python servers in `tests/torture`, and tells what is found.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::findings::Finding;
use wallfacer_core::session::{FuzzOptions, Load, torture};
use wallfacer_core::summary::Fuzzed;
use wallfacer_core::target::{Command, Confine, Reach, Target};
use wallfacer_core::wire::Connector;

/// A server, the kind of what is found on it, and a part of the message.
pub type Row = (&'static str, &'static str, &'static str);

/// A server of one of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Small {
    pub file: &'static str,
    pub name: &'static str,
    pub fixed: bool,
    pub over_http: bool,
}

impl Small {
    pub fn flawed(file: &'static str, name: &'static str) -> Small {
        Small { file, name, fixed: false, over_http: false }
    }

    pub fn fixed(self) -> Small {
        Small { fixed: true, ..self }
    }

    pub fn over_http(self) -> Small {
        Small { over_http: true, ..self }
    }

    pub fn target(self) -> Target {
        let script = format!("{}/tests/torture/{}", env!("CARGO_MANIFEST_DIR"), self.file);
        let mut words = vec![script, self.name.to_owned()];
        words.extend(self.fixed.then(|| "--fixed".to_owned()));
        let reach = match self.over_http {
            false => Reach::Command(Command::new("python3", words)),
            true => {
                let (port, url) = super::address("mcp");
                words.extend(["--http".to_owned(), port.to_string()]);
                super::listening(Command::new("python3", words), url)
            }
        };
        let mut target = Target::new(reach);
        target.timeouts.startup = Duration::from_secs(60);
        target
    }
}

/// The same server in its sandbox, where its disk, its services and its life are ours.
pub fn confined(mut target: Target) -> Target {
    target.sandbox.confine = Confine::Require;
    target
}

struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Event<'_>) {}
}

pub fn run(target: Target, load: Load) -> Fuzzed {
    run_with(target, load, &FuzzOptions::default())
}

pub fn run_with(target: Target, load: Load, options: &FuzzOptions) -> Fuzzed {
    torture(Connector::new(target, super::environment()), options, load, &mut Deaf).unwrap()
}

/// Looks at all of them, some at a time: most of a run is waiting.
pub fn side_by_side<T: Sync>(all: &[T], look: impl Fn(&T) + Sync) {
    const AT_ONCE: usize = 2;
    let next = AtomicUsize::new(0);
    let look_at_more = || {
        while let Some(each) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            look(each);
        }
    };
    // What fails in one of them fails here.
    std::thread::scope(|scope| {
        let hands: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(look_at_more)).collect();
        hands.into_iter().for_each(|hand| hand.join().unwrap_or_else(|failed| resume_unwind(failed)));
    });
}

pub fn told(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}: {}", finding.kind.name(), finding.message)).collect()
}

/// What is found must hold each time that it is tried again.
pub fn assert_found(run: &Fuzzed, (name, kind, message): Row) {
    let found = run.findings.iter().any(|finding| {
        finding.kind.name() == kind && finding.message.contains(message) && finding.reproduced.always()
    });
    let (notes, not_tested) = (&run.notes, &run.not_tested);
    assert!(
        found,
        "{name}: {:?}, flaky {:?}, notes {notes:?}, not tested {not_tested:?}",
        told(&run.findings),
        told(&run.flaky)
    );
}

pub fn assert_silent(run: &Fuzzed, name: &str) {
    let silent = run.findings.is_empty() && run.flaky.is_empty();
    assert!(silent, "{name}: {:?}, flaky {:?}", told(&run.findings), told(&run.flaky));
}
