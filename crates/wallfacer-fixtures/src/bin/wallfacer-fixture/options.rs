//! Parses the command line.

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

/// Which server of the second table is played, and how.
#[derive(Debug, Clone)]
pub struct Part {
    pub flaw: String,
    pub fixed: bool,
    pub rename: Option<u64>,
}

#[derive(Debug, Clone)]
pub struct Options {
    /// `correct` where a part is played.
    pub mode: String,
    pub part: Option<Part>,
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
        let (mode, mut part) = match arguments.next().ok_or("the mode is missing")? {
            word if word == "flaw" => {
                ("correct".to_owned(), Some(part(arguments.next(), wallfacer_fixtures::flaws())?))
            }
            word if word == "behaviour" => {
                ("correct".to_owned(), Some(part(arguments.next(), wallfacer_fixtures::behaviours())?))
            }
            word if word == "change" => ("correct".to_owned(), Some(change(arguments.next())?)),
            word if word == "injection" => ("correct".to_owned(), Some(injection(arguments.next())?)),
            // `reach` is a correct server, which is hard to call; `reach-programs` needs programs that no machine has.
            word if ["reach", "reach-programs", crate::scenes::TEN_BUGS].contains(&word.as_str()) => {
                ("correct".to_owned(), Some(Part { flaw: word, fixed: false, rename: None }))
            }
            word if word == "rule" => ("correct".to_owned(), Some(rule(arguments.next())?)),
            mode if wallfacer_fixtures::modes().iter().any(|known| known.name == mode) => (mode, None),
            mode => return Err(format!("there is no mode `{mode}`")),
        };
        let era = match part.as_ref().map_or(mode.as_str(), |part| part.flaw.as_str()) {
            "modern-only" => Era::Modern,
            "legacy-only" => Era::Legacy,
            // These flaws show in the legacy era alone.
            "never-answers-initialize"
            | "wrong-version-in-initialize"
            | "asks-before-answering"
            | "secret-in-log"
            | "logs-secret" => Era::Legacy,
            _ => Era::Both,
        };
        let mut options =
            Options { mode, part: None, era, transport: Transport::Stdio, port: 0, delay: DELAY };
        while let Some(argument) = arguments.next() {
            match (argument.as_str(), part.as_mut()) {
                ("--fixed", Some(part)) => part.fixed = true,
                ("--rename", Some(part)) => part.rename = Some(seed(arguments.next().as_deref())?),
                // Read where it is needed.
                ("--root" | "--script", Some(_)) => drop(arguments.next()),
                // Read where it matters.
                ("--read-only", Some(_)) => {}
                ("--era", _) => options.era = named_era(arguments.next().as_deref())?,
                ("--http", _) => options.transport = Transport::Http,
                ("--legacy-sse", _) => (options.transport, options.era) = (Transport::LegacySse, Era::Legacy),
                ("--port", _) => options.port = port(arguments.next().as_deref())?,
                ("--delay", _) => options.delay = delay(arguments.next().as_deref())?,
                (other, _) => return Err(format!("`{other}` is not known")),
            }
        }
        Ok(Options { part, ..options })
    }
}

fn part(flaw: Option<String>, table: &[wallfacer_fixtures::Flaw]) -> Result<Part, String> {
    let flaw = flaw.ok_or("the name of the flaw is missing")?;
    match table.iter().any(|known| known.name == flaw) {
        true => Ok(Part { flaw, fixed: false, rename: None }),
        false => Err(format!("there is no flaw `{flaw}`")),
    }
}

fn injection(name: Option<String>) -> Result<Part, String> {
    let flaw = name.ok_or("the name of the injection is missing")?;
    match wallfacer_fixtures::injections().iter().any(|known| known.name == flaw) {
        true => Ok(Part { flaw, fixed: false, rename: None }),
        false => Err(format!("there is no injection `{flaw}`")),
    }
}

fn change(name: Option<String>) -> Result<Part, String> {
    let flaw = name.ok_or("the name of the change is missing")?;
    match wallfacer_fixtures::changes().iter().any(|known| known.name == flaw) {
        true => Ok(Part { flaw, fixed: false, rename: None }),
        false => Err(format!("there is no change `{flaw}`")),
    }
}

fn rule(name: Option<String>) -> Result<Part, String> {
    let flaw = name.ok_or("the name of the server is missing")?;
    let serves_tests = ["as-written", "diary"].contains(&flaw.as_str());
    match serves_tests || wallfacer_fixtures::rule_servers().iter().any(|known| known.name == flaw) {
        true => Ok(Part { flaw, fixed: false, rename: None }),
        false => Err(format!("there is no server `{flaw}`")),
    }
}

fn seed(number: Option<&str>) -> Result<u64, String> {
    number.and_then(|number| number.parse().ok()).ok_or_else(|| "`--rename` takes a number".to_owned())
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
