//! Runs this program with what a person would type, hears what it says while it works, and gives what it printed.

use std::ffi::OsString;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::sync::mpsc;
use wallfacer_process::{Process, Spec};

use super::Workspace;
use crate::environment;

/// A longer report is not read.
const LONGEST: u64 = 64 << 20;
/// What is shown of the reason why nothing was printed.
const LAST_LINES: usize = 20;

/// What a command printed.
#[derive(Debug)]
pub struct Printed {
    pub text: String,
    /// The last lines of what it said besides.
    pub said: String,
}

impl Workspace {
    /// Runs one command to its end. Whoever stops waiting for it ends it, with all that it has started.
    pub async fn run(
        &self,
        words: &[String],
        events: Option<mpsc::Sender<Value>>,
    ) -> Result<Printed, String> {
        let mut spec = Spec::new(self.program.as_os_str());
        spec.env = environment::all();
        let config = self.config.iter().flat_map(|file| [OsString::from("--config"), file.into()]);
        spec.args = config.chain(words.iter().map(OsString::from)).collect();
        let (process, stdio) = Process::start(&spec).map_err(|error| error.to_string())?;
        drop(stdio.stdin);
        let mut lines = BufReader::new(stdio.stdout.take(LONGEST));
        let mut text = String::new();
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).await.map_err(|error| error.to_string())? > 0 {
            match event(&line) {
                // Nobody waits for progress that is not taken.
                Some(event) => drop(events.as_ref().map(|events| events.try_send(event))),
                None => text += &String::from_utf8_lossy(&line),
            }
            line.clear();
        }
        process.exited().await;
        let said = String::from_utf8_lossy(&process.stderr().tail).into_owned();
        let said: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        let said = said[said.len().saturating_sub(LAST_LINES)..].join("\n");
        Ok(Printed { text, said })
    }
}

/// An event is one line that begins with its time; a report begins otherwise.
fn event(line: &[u8]) -> Option<Value> {
    line.starts_with(b"{\"at_ms\"").then(|| serde_json::from_slice(line).ok())?
}
