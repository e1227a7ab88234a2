//! Writes to the two standard streams: reports to stdout, everything else to stderr, where nothing that a server said acts.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::time::Duration;

use clap::builder::Styles;
use clap::builder::styling::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wallfacer_core::event::{Event, Listener};
use wallfacer_core::report::Look;
use wallfacer_text::{page, shortened};

use crate::environment;
use crate::exit::{Exit, Failure};

/// What is read of an answer.
const LONGEST_ANSWER: u64 = 100;

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
    let style = if io::stderr().is_terminal() && wants_colours() { *style } else { Style::new() };
    let _nobody_to_tell = writeln!(io::stderr().lock(), "{style}{kind}{style:#} {}", page(text, &[]));
}

fn wants_colours() -> bool {
    environment::variable("NO_COLOR").is_none_or(|value| value.is_empty())
        && environment::variable("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// How a report on stdout looks.
pub fn look() -> Look {
    match terminal_size::terminal_size_of(io::stdout()) {
        Some((width, _)) => Look::terminal(width.0.into(), wants_colours()),
        None => Look::PLAIN,
    }
}

/// What of a name has room on the line that shows what goes on.
const PLACE: usize = 60;

/// Shows what goes on, where a person is watching.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub fn new() -> Progress {
        if !io::stderr().is_terminal() {
            return Progress { bar: ProgressBar::hidden() };
        }
        let bar = ProgressBar::new_spinner();
        bar.set_draw_target(ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress { bar }
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
            Event::RoundBegun { phase, cases } => self.bar.set_message(format!("{phase}: {cases} cases")),
            Event::RoundDone { phase, calls, suspicions, .. } => {
                self.bar.set_message(format!("{phase} done: {calls} calls so far, {suspicions} to prove"));
            }
            Event::FindingMade { kind, place, .. } => {
                self.bar.set_message(format!("{kind} in {}", shortened(place, PLACE)));
            }
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
