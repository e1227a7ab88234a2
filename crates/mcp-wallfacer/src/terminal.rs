//! Text in, the two standard streams out: reports on stdout, everything else on stderr.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use clap::builder::Styles;
use clap::builder::styling::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wallfacer_core::event::{Event, Listener};
use wallfacer_core::report::Look;

use crate::environment;
use crate::exit::{Exit, Failure};

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

/// In the colours of the messages about usage, where those have some.
fn say(kind: &str, style: &Style, text: &str) {
    let style = if io::stderr().is_terminal() && wants_colours() { *style } else { Style::new() };
    let _nobody_to_tell = writeln!(io::stderr().lock(), "{style}{kind}{style:#} {text}");
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
            Event::RoundDone { phase, calls, suspicions } => {
                self.bar
                    .set_message(format!("{phase} done, {calls} calls so far, looking into {suspicions}"));
            }
            Event::FindingMade { kind, place, .. } => self.bar.set_message(format!("{kind} in {place}")),
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
