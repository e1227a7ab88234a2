//! Writes to the two standard streams: reports to stdout, everything else to stderr, where nothing that a server said acts.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use clap::builder::Styles;
use clap::builder::styling::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wallfacer_core::event::{Event, Listener};
use wallfacer_core::report::{Detail, Look};
use wallfacer_text::{page, shortened};

use crate::environment;
use crate::exit::{Exit, Failure};

/// What is read of an answer.
const LONGEST_ANSWER: u64 = 100;

/// When text has colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// What the command line says about what is shown. It is said once, before anything is.
static CHOSEN: OnceLock<(Color, Detail)> = OnceLock::new();

/// Takes in what the command line says about what is shown.
pub fn choose(color: Color, quiet: bool, verbose: bool) {
    let detail = match (quiet, verbose) {
        (true, _) => Detail::Quiet,
        (_, true) => Detail::Full,
        _ => Detail::Usual,
    };
    let _only_once = CHOSEN.set((color, detail));
}

fn color() -> Color {
    CHOSEN.get().map(|(color, _)| *color).unwrap_or_default()
}

/// How much of a report is shown.
pub fn detail() -> Detail {
    CHOSEN.get().map(|(_, detail)| *detail).unwrap_or_default()
}

/// Prints a report. Somebody who stops reading early (`| head`) is no failure.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Says why a command could not do its work.
pub fn show_failure(failure: &Failure) -> Exit {
    let styles = Styles::styled();
    say("error:", styles.get_error(), &failure.message);
    failure.exit
}

/// One line beside the report.
pub fn note(text: &str) {
    say("note:", Styles::styled().get_header(), text);
}

/// Whether somebody sits there who can be asked.
pub fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks, and takes anything but a yes for a no.
pub fn ask(question: &str) -> bool {
    let mut out = io::stderr().lock();
    let asked = write!(out, "{question} [y/N] ").and_then(|()| out.flush());
    let mut answer = String::new();
    let heard = asked.and_then(|()| io::stdin().lock().take(LONGEST_ANSWER).read_line(&mut answer));
    heard.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// In the colours of the messages about usage, where those have some.
fn say(kind: &str, style: &Style, text: &str) {
    let style = if wants_colours(io::stderr().is_terminal()) { *style } else { Style::new() };
    let _nobody_to_tell = writeln!(io::stderr().lock(), "{style}{kind}{style:#} {}", page(text, &[]));
}

fn wants_colours(is_terminal: bool) -> bool {
    match color() {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            is_terminal
                && environment::variable("NO_COLOR").is_none_or(|value| value.is_empty())
                && environment::variable("TERM").is_none_or(|terminal| terminal != "dumb")
        }
    }
}

/// How a report on stdout looks.
pub fn look() -> Look {
    let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    Look::terminal(width.unwrap_or(USUAL_WIDTH), wants_colours(width.is_some())).with_detail(detail())
}

/// How wide a report is that goes to a file or a pipe.
const USUAL_WIDTH: usize = 80;

/// Shows what goes on, where a person is watching.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    phase: String,
    findings: usize,
    /// Calls that were made when this was last told, and when that was.
    calls: (u64, Instant),
}

impl Progress {
    pub fn new() -> Progress {
        if !io::stderr().is_terminal() || detail() == Detail::Quiet {
            return Progress::on(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        bar.set_draw_target(ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} · {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress::on(bar)
    }

    fn on(bar: ProgressBar) -> Progress {
        Progress { bar, phase: String::new(), findings: 0, calls: (0, Instant::now()) }
    }

    /// A finding in one line, above the one that shows what goes on. It may stand for others that were told before.
    pub fn tell(&mut self, finding: &str, replaces: usize) {
        self.findings = (self.findings + 1).saturating_sub(replaces);
        let width =
            terminal_size::terminal_size_of(io::stderr()).map_or(USUAL_WIDTH, |(width, _)| width.0.into());
        self.bar.println(shortened(&page(finding, &[]), width.saturating_sub(1)));
    }

    fn working(&mut self, calls: u64, reached: usize, tools: usize, suspicions: usize, left_ms: Option<u64>) {
        let (before, since) = self.calls;
        self.calls = (calls, Instant::now());
        let rate = calls.saturating_sub(before) as f64 / since.elapsed().as_secs_f64().max(0.1);
        let left = left_ms.map(|left| format!("{} s left · ", left.div_ceil(1_000))).unwrap_or_default();
        let findings = self.findings;
        let phase = &self.phase;
        // What is cut on a narrow terminal is the end.
        self.bar.set_message(format!(
            "{left}{reached}/{tools} tools · {rate:.0} calls/s · {findings} found, {suspicions} to prove · {phase}"
        ));
    }
}

/// A phase in words for whoever watches.
fn in_words(phase: &str) -> &str {
    match phase {
        "examples" => "valid calls",
        "boundary" => "values at the limits",
        "invalid" => "invalid values",
        "adversarial" => "hostile values",
        "random" => "random values",
        "growth" => "repeated calls",
        "stored" => "stored failures",
        other => other,
    }
}

impl Listener for Progress {
    fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::Connecting { .. } => self.bar.set_message("starting the server"),
            Event::Connected { .. } => self.bar.set_message("reading its lists"),
            Event::Listed { what, entries, .. } => self.bar.set_message(format!("{entries} {what}")),
            Event::Measured { round, rounds, .. } => {
                self.bar.set_message(format!("measuring {round}/{rounds}"));
            }
            Event::RoundBegun { phase, cases } => {
                self.phase = in_words(phase).to_owned();
                self.bar.set_message(format!("{}: {cases} cases", self.phase));
            }
            Event::Working { calls, reached, tools, suspicions, left_ms } => {
                self.working(*calls, *reached, *tools, *suspicions, *left_ms);
            }
            Event::RoundDone { .. }
            | Event::ToolReached { .. }
            | Event::ServerStarted { .. }
            | Event::TestDone { .. }
            | Event::FindingMade { .. } => {}
            // Others may follow: the line is cleared when the last listener goes.
            Event::Closed { .. } => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
