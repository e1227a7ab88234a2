//! Writes events as JSON lines: one object a line, with the milliseconds since the log was opened.

use std::io::Write;
use std::time::Instant;

use serde::Serialize;

use crate::event::{Event, Listener};

/// Writes each event to a file or pipe.
#[derive(Debug)]
pub struct Log<W: Write> {
    out: W,
    opened: Instant,
    /// The first failure; after it nothing more is written, and the caller is told at the end.
    failed: Option<std::io::Error>,
}

#[derive(Serialize)]
struct Line<'a> {
    at_ms: u64,
    #[serde(flatten)]
    event: &'a Event<'a>,
}

impl<W: Write> Log<W> {
    pub fn new(out: W) -> Log<W> {
        Log { out, opened: Instant::now(), failed: None }
    }

    pub fn finish(mut self) -> std::io::Result<()> {
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    fn write(&mut self, event: &Event<'_>) -> std::io::Result<()> {
        let line = Line { at_ms: self.opened.elapsed().as_millis() as u64, event };
        let line = wallfacer_text::json(&serde_json::to_string(&line)?);
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

impl<W: Write> Listener for Log<W> {
    fn hear(&mut self, event: &Event<'_>) {
        // How far it is depends on the moment; the log tells what happened.
        if self.failed.is_none() && !matches!(event, Event::Working { .. }) {
            self.failed = self.write(event).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_one_line_of_json_with_its_time() {
        let mut out = Vec::new();
        let mut log = Log::new(&mut out);
        log.hear(&Event::Listed { what: "tools", entries: 3, broken: 1 });
        log.hear(&Event::Closed { left_behind: 0 });
        log.finish().unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[0]["event"], &lines[0]["entries"]), (&"listed".into(), &3.into()));
        assert!(lines[1]["at_ms"].is_u64());
    }
}
