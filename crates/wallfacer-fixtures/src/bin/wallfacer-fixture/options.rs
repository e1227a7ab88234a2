//! Arguments as typed in, options as meant out.

use std::time::Duration;

/// Noticeable, and well below any time limit for starting.
const DELAY: Duration = Duration::from_millis(1500);

/// Which eras the server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
    Both,
}

/// How clients reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Stdio,
    Http,
    LegacySse,
}

#[derive(Debug, Clone)]
pub struct Options {
    pub mode: String,
    pub era: Era,
    pub transport: Transport,
    /// Zero lets the system choose.
    pub port: u16,
    /// How long `slow-start` lets the first request wait.
    pub delay: Duration,
}

impl Options {
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Options, String> {
        let mut arguments = arguments.into_iter();
        let mode = arguments.next().ok_or("the mode is missing")?;
        if !wallfacer_fixtures::modes().iter().any(|known| known.name == mode) {
            return Err(format!("there is no mode `{mode}`"));
        }
        let era = match mode.as_str() {
            "modern-only" => Era::Modern,
            "legacy-only" => Era::Legacy,
            // These flaws show in the legacy era alone.
            "never-answers-initialize" | "wrong-version-in-initialize" | "asks-before-answering" => {
                Era::Legacy
            }
            _ => Era::Both,
        };
        let mut options = Options { mode, era, transport: Transport::Stdio, port: 0, delay: DELAY };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--era" => options.era = named_era(arguments.next().as_deref())?,
                "--http" => options.transport = Transport::Http,
                "--legacy-sse" => (options.transport, options.era) = (Transport::LegacySse, Era::Legacy),
                "--port" => options.port = port(arguments.next().as_deref())?,
                "--delay" => options.delay = delay(arguments.next().as_deref())?,
                other => return Err(format!("`{other}` is not known")),
            }
        }
        Ok(options)
    }
}

fn named_era(name: Option<&str>) -> Result<Era, String> {
    match name {
        Some("legacy") => Ok(Era::Legacy),
        Some("modern") => Ok(Era::Modern),
        Some("both") => Ok(Era::Both),
        _ => Err("`--era` is legacy, modern or both".to_owned()),
    }
}

fn port(number: Option<&str>) -> Result<u16, String> {
    number.and_then(|number| number.parse().ok()).ok_or_else(|| "`--port` is a number below 65536".to_owned())
}

fn delay(milliseconds: Option<&str>) -> Result<Duration, String> {
    let milliseconds = milliseconds.and_then(|number| number.parse().ok());
    milliseconds.map(Duration::from_millis).ok_or_else(|| "`--delay` is in milliseconds".to_owned())
}
