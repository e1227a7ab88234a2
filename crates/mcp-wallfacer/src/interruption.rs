//! Watches over a command from a thread of its own: a signal ends it, and so does a session that does not keep to its
//! budget, each with a report of what is known by then. A second signal ends it at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use wallfacer_core::stop::{Reason, Stop};

use crate::environment;
use crate::exit::{Exit, Failure};

/// How long a session may go on after its budget: what it is busy with when the time is up may still be done.
const OVERRUN: Duration = Duration::from_secs(7);
/// How long a session that was told to end may take for its own report; after that it is reported without it.
const PATIENCE: Duration = Duration::from_secs(1);
/// SIGXFSZ, which has this number on every system that wallfacer runs on.
const FILE_TOO_LONG: i32 = 25;
/// That of the first thread of a program; others would have less.
const STACK: usize = 8 << 20;

/// What a command says in place of a session that does not come back.
pub type LastWords = Box<dyn FnOnce(Reason) -> Result<Exit, Failure> + Send>;

/// What a command and whoever watches over it share.
#[derive(Clone)]
pub struct Watch {
    stop: Stop,
    begun: Instant,
    limit: Arc<watch::Sender<Option<Instant>>>,
    stage: Arc<Mutex<Stage>>,
}

enum Stage {
    /// Nothing has been begun that could be reported.
    Preparing,
    /// A session is at work.
    Session(LastWords),
    /// The command itself says how it ended.
    Concluding,
    /// The last words are being said, and nothing else may be.
    Over,
}

impl Watch {
    /// How long the command has been at work.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The command may take so long, and what it is busy with then a little longer.
    pub fn hold_to(&self, budget: Option<Duration>) {
        self.limit.send_replace(budget.and_then(|budget| self.begun.checked_add(budget + OVERRUN)));
    }

    /// A session begins.
    pub fn begin(&self, last_words: LastWords) {
        *self.stage() = Stage::Session(last_words);
    }

    /// The same where there is nothing to report until it is done.
    pub fn begin_without_report(&self) {
        let watch = self.clone();
        self.begin(Box::new(move |_| Err(watch.broken_off())));
    }

    /// Waits for a session that has nothing to report until it is done.
    pub fn wait_for<W: Future>(&self, session: W) -> Result<W::Output, Failure> {
        self.begin_without_report();
        let done = crate::cli::runtime()?.block_on(self.stop.unless(session));
        self.conclude();
        done.map_err(|_| self.broken_off())
    }

    /// The session is done, and the command goes on to say what came of it; unless that has been said already.
    pub fn conclude(&self) {
        let mut stage = self.stage();
        if matches!(*stage, Stage::Over) {
            drop(stage);
            loop {
                // The process ends in a moment.
                std::thread::park();
            }
        }
        *stage = Stage::Concluding;
    }

    /// A command that was ended before it had done anything that could be reported.
    pub fn broken_off(&self) -> Failure {
        let seconds = self.begun.elapsed().as_secs_f64();
        let message = match self.stop.reason() {
            Some(Reason::Overdue) => {
                format!(
                    "stopped after {seconds:.1} s, because it did not end within its time limit; nothing was tested"
                )
            }
            _ => format!("interrupted after {seconds:.1} s, before anything could be reported"),
        };
        Failure { exit: Exit::NotTested, message }
    }

    /// Whether the command may go on with what the session came to.
    pub fn unless_interrupted(&self) -> Result<(), Failure> {
        if self.stop.is_told() { Err(self.broken_off()) } else { Ok(()) }
    }

    fn last_words(&self) -> Option<LastWords> {
        let mut stage = self.stage();
        match std::mem::replace(&mut *stage, Stage::Over) {
            Stage::Session(last_words) => Some(last_words),
            concluding @ Stage::Concluding => {
                *stage = concluding;
                None
            }
            Stage::Preparing | Stage::Over => None,
        }
    }

    fn is_preparing(&self) -> bool {
        matches!(*self.stage(), Stage::Preparing)
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Outcome = Result<Exit, Failure>;

/// Runs a command and watches over it.
pub fn watch_over(
    work: impl FnOnce(&Watch) -> Result<Exit, Failure> + Send + 'static,
) -> Result<Exit, Failure> {
    let watch = Watch {
        stop: Stop::default(),
        begun: Instant::now(),
        limit: Arc::new(watch::Sender::new(None)),
        stage: Arc::new(Mutex::new(Stage::Preparing)),
    };
    // Nothing may wait for a thread that waits for a server: it ends with the process.
    let runtime = crate::cli::runtime()?;
    let signals = runtime.block_on(async { Signals::new() })?;
    // A thread that panics drops its end without a word.
    let (sender, outcomes) = mpsc::unbounded_channel();
    let ours = watch.clone();
    let command = move || drop(sender.send(work(&ours)));
    let thread = std::thread::Builder::new().name("command".to_owned()).stack_size(STACK);
    thread.spawn(command).map_err(|error| our_fault(&error))?;
    runtime.block_on(supervise(&watch, signals, outcomes))
}

async fn supervise(
    watch: &Watch,
    mut signals: Signals,
    mut outcomes: mpsc::UnboundedReceiver<Outcome>,
) -> Outcome {
    let mut limit = watch.limit.subscribe();
    let mut patience = None;
    let mut interrupted = false;
    loop {
        let end = *limit.borrow_and_update();
        tokio::select! {
            biased;
            outcome = outcomes.recv() => return outcome.unwrap_or_else(|| Err(Failure::panic())),
            () = signals.next() => {
                if interrupted || watch.is_preparing() {
                    watch.stop.tell(Reason::Interrupted);
                    return Err(watch.broken_off());
                }
                interrupted = true;
                watch.stop.tell(Reason::Interrupted);
                patience.get_or_insert(Instant::now() + PATIENCE);
            }
            () = reached(end), if !watch.stop.is_told() => {
                watch.stop.tell(Reason::Overdue);
                patience = Some(Instant::now() + PATIENCE);
            }
            () = reached(patience) => {
                patience = None;
                if let (Some(last_words), Some(reason)) = (watch.last_words(), watch.stop.reason()) {
                    let (sender, receiver) = mpsc::unbounded_channel();
                    outcomes = receiver;
                    std::thread::spawn(move || drop(sender.send(last_words(reason))));
                }
            }
            _ = limit.changed() => {}
        }
    }
}

async fn reached(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// The signals that end a command.
struct Signals {
    /// None where whoever started us wants it to be ignored, as shells do for what runs in the background.
    interrupt: Option<Signal>,
    terminate: Signal,
}

impl Signals {
    fn new() -> Result<Signals, Failure> {
        let hear = |kind| signal(kind).map_err(|error| our_fault(&error));
        let interrupt = SignalKind::interrupt();
        // Unless it is caught, this signal ends the command; caught, a file that grows too long is an error that can be
        // reported.
        let _caught = hear(SignalKind::from_raw(FILE_TOO_LONG))?;
        let wanted = !environment::ignores_signal(interrupt.as_raw_value());
        let interrupt = wanted.then(|| hear(interrupt)).transpose()?;
        Ok(Signals { interrupt, terminate: hear(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        let interrupt = async {
            match &mut self.interrupt {
                Some(interrupt) => drop(interrupt.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = interrupt => {}
            _ = self.terminate.recv() => {}
        }
    }
}

fn our_fault(error: &std::io::Error) -> Failure {
    Failure { exit: Exit::OurFault, message: format!("cannot set up what wallfacer waits with: {error}") }
}
