//! `check --all`: every server of a list, several at once, each in a process of its own and with a report of its own.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wallfacer_core::report::{Document, Format, written};
use wallfacer_core::shard::Shard;
use wallfacer_core::target::{ClientFiles, Surroundings};
use wallfacer_text::{shortened, shown};

use super::conclude::exit;
use super::output::RunOutput;
use super::runs;
use super::target::working_directory;
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;
use crate::terminal;

/// Where the report of each server is written.
const DIRECTORY: &str = ".wallfacer/all";
/// How often it is looked whether one is done.
const TICK: Duration = Duration::from_millis(50);
/// How long those at work may take to report what they know when all is to end.
const GRACE: Duration = Duration::from_secs(3);
/// What is shown of why one could not be tested, and read of it.
const LONGEST_REASON: usize = 300;
const MOST_SAID: u64 = 64 << 10;
/// Flags that are about all servers together, or about where a report goes: with a value and without.
const OURS: [&str; 8] = ["--all", "--jobs", "--shard", "--format", "--output", "-o", "--report", "--events"];
const OURS_ALONE: [&str; 6] = ["--resume", "--no-record", "-q", "--quiet", "-v", "--verbose"];

#[derive(Debug, Clone, clap::Args)]
pub struct AllArgs {
    /// Check all servers of the workspace's MCP client files, or those of FILE, which has the form of such a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, help_heading = "Several servers")]
    #[arg(conflicts_with_all = ["url", "server", "demo", "command"])]
    all: Option<Option<PathBuf>>,
    /// With --all: so many servers at once
    #[arg(long, value_name = "N", default_value_t = 1, requires = "all", help_heading = "Several servers")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// With --all: leave out servers that have a report in .wallfacer/all already
    #[arg(long, requires = "all", help_heading = "Several servers")]
    resume: bool,
}

/// What became of one server.
#[derive(Debug)]
struct Checked {
    name: String,
    exit: Exit,
    report: PathBuf,
    document: Option<Document>,
    /// Why there is no report.
    why: String,
}

/// One that is being checked.
#[derive(Debug)]
struct Working {
    name: String,
    report: PathBuf,
    child: Child,
}

impl AllArgs {
    /// Whether all servers are meant.
    pub fn is_asked(&self) -> bool {
        self.all.is_some()
    }

    /// Checks those that belong to this shard.
    pub fn run(&self, shard: Shard, output: &RunOutput, watch: &Watch) -> Result<Exit, Failure> {
        if !matches!(output.format.0, Format::Human | Format::Json) || output.has_more() {
            let message = format!(
                "with --all the report is human or json; the full report of each server is in `{DIRECTORY}`, for `wallfacer report FILE`"
            );
            return Err(Failure { exit: Exit::Usage, message });
        }
        let file = self.all.clone().flatten();
        let names = names(file.as_deref())?;
        let mine: Vec<String> = names.into_iter().filter(|name| shard.takes("servers", name)).collect();
        let directory = working_directory()?.join(DIRECTORY);
        std::fs::create_dir_all(&directory)
            .map_err(|error| super::output::cannot_write(&format!("`{DIRECTORY}`"), &error))?;
        // The report of what is done is given even where the rest is not.
        watch.conclude();
        let checked = self.check(&mine, file.as_deref(), &directory, watch)?;
        output.deliver_as(
            output.format.0,
            &match output.format.0 {
                Format::Json => written(&as_json(&checked)),
                _ => in_words(&checked),
            },
        )?;
        Ok(if watch.stop().is_told() { Exit::NotTested } else { worst(&checked) })
    }

    fn check(
        &self,
        names: &[String],
        file: Option<&Path>,
        directory: &Path,
        watch: &Watch,
    ) -> Result<Vec<Checked>, Failure> {
        let mut waiting = names.iter();
        let mut working: Vec<Working> = Vec::new();
        let mut done: Vec<Checked> = Vec::new();
        let mut told: Option<Instant> = None;
        loop {
            if watch.stop().is_told() {
                told.get_or_insert_with(Instant::now);
            }
            while working.len() < usize::from(self.jobs) && told.is_none() {
                let Some(name) = waiting.next() else { break };
                let report = directory.join(format!("{}.json", file_name(name)));
                match self.known(name, &report) {
                    Some(known) => done.push(known),
                    None => working.push(start(name, file, report)?),
                }
            }
            if working.is_empty() {
                break;
            }
            if told.is_some_and(|told| told.elapsed() > GRACE) {
                working.iter_mut().for_each(|one| drop(one.child.kill()));
            }
            let is_over = |one: &mut Working| !matches!(one.child.try_wait(), Ok(None));
            for one in working.extract_if(.., is_over) {
                let checked = ended(one);
                terminal::note(&line(&checked));
                done.push(checked);
            }
            std::thread::sleep(TICK);
        }
        done.extend(waiting.map(|name| Checked::without_report(name, Exit::NotTested, "it was not begun")));
        done.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(done)
    }

    /// What an earlier run found out, where that is to be gone on from.
    fn known(&self, name: &str, report: &Path) -> Option<Checked> {
        let document = runs::read(report).ok().filter(|document| self.resume && !document.run.interrupted)?;
        Some(Checked::with_report(name, report, document))
    }
}

impl Checked {
    fn with_report(name: &str, report: &Path, document: Document) -> Checked {
        Checked {
            name: name.to_owned(),
            exit: exit(document.verdict.conclusion),
            report: report.to_owned(),
            document: Some(document),
            why: String::new(),
        }
    }

    fn without_report(name: &str, exit: Exit, why: &str) -> Checked {
        Checked { name: name.to_owned(), exit, report: PathBuf::new(), document: None, why: why.to_owned() }
    }
}

/// The names of all servers that are meant.
fn names(file: Option<&Path>) -> Result<Vec<String>, Failure> {
    let here = working_directory()?;
    let home = environment::home();
    let around = Surroundings { directory: &here, home: home.as_deref(), variable: &environment::variable };
    let files = match file {
        Some(file) => ClientFiles::of(file, &around),
        None => ClientFiles::read(&around),
    };
    let names = files.of_project();
    if !names.is_empty() {
        return Ok(names);
    }
    let place = match file {
        Some(file) => format!("`{}` names no server", file.display()),
        None => "no MCP client file of this workspace (.mcp.json, .cursor/mcp.json, .vscode/mcp.json) names a server".to_owned(),
    };
    let problems: String = files.problems().iter().map(|problem| format!("\n{problem}")).collect();
    Err(Failure { exit: Exit::Usage, message: format!("{place}{problems}") })
}

/// Begins to check one server, in a process of its own: what ends that ends none of the others.
fn start(name: &str, file: Option<&Path>, report: PathBuf) -> Result<Working, Failure> {
    // What an earlier run left must not be taken for the report of this one.
    let _is_none = std::fs::remove_file(&report);
    let fault = |error: std::io::Error| Failure {
        exit: Exit::OurFault,
        message: format!("cannot start another wallfacer for `{name}`: {error}"),
    };
    let mut command = Command::new(std::env::current_exe().map_err(fault)?);
    command.args(passed_on(std::env::args_os().skip(1).collect(), file));
    command.args(["--server", name, "--format", "json", "--no-record", "--quiet", "--output"]).arg(&report);
    if let Some(file) = file {
        command.arg("--client-file").arg(file);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    Ok(Working { name: name.to_owned(), report, child: command.spawn().map_err(fault)? })
}

/// The flags that are for each server.
fn passed_on(arguments: Vec<OsString>, file: Option<&Path>) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut arguments = arguments.into_iter().peekable();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy().into_owned();
        let name = text.split_once('=').map_or(text.as_str(), |(name, _)| name);
        match () {
            () if OURS_ALONE.contains(&name) => {}
            () if name == "--all" => {
                arguments
                    .next_if(|next| text == "--all" && file.map(Path::as_os_str) == Some(next.as_os_str()));
            }
            () if OURS.contains(&name) => drop(arguments.next_if(|_| !text.contains('='))),
            () if text.starts_with("-o") => {}
            () => kept.push(argument),
        }
    }
    kept
}

fn ended(mut one: Working) -> Checked {
    let mut said = String::new();
    if let Some(stderr) = one.child.stderr.take() {
        let _as_far_as_it_goes = stderr.take(MOST_SAID).read_to_string(&mut said);
    }
    let code = one.child.wait().ok().and_then(|status| status.code());
    if let Ok(document) = runs::read(&one.report) {
        return Checked::with_report(&one.name, &one.report, document);
    }
    let exit = match code {
        Some(2) => Exit::Usage,
        Some(3) => Exit::NotTested,
        _ => Exit::OurFault,
    };
    let why = said.trim().strip_prefix("error: ").unwrap_or(said.trim());
    Checked::without_report(
        &one.name,
        exit,
        if why.is_empty() { "it was ended before it could report" } else { why },
    )
}

/// A file name that no other server of the list has.
fn file_name(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    match name.len() <= 64 && !name.is_empty() && name.bytes().all(is_plain) {
        true => name.to_owned(),
        false => {
            let safe = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
            let readable: String = name.chars().take(32).map(safe).collect();
            let bytes = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
            format!("{readable}~{bytes:016x}")
        }
    }
}

fn verdict(checked: &Checked) -> String {
    match &checked.document {
        Some(document) => document.said(),
        None => format!("NOT TESTED · {}", shortened(&checked.why.replace('\n', " "), LONGEST_REASON)),
    }
}

fn line(checked: &Checked) -> String {
    format!("{}  {}", shown(&checked.name), shown(&verdict(checked)))
}

/// One line for each server, those that failed first, and where more is to be read.
fn in_words(all: &[Checked]) -> String {
    let mut sorted: Vec<&Checked> = all.iter().collect();
    sorted.sort_by_key(|checked| checked.exit == Exit::Clean);
    let width = all.iter().map(|checked| shown(&checked.name).chars().count()).max().unwrap_or_default();
    let rows = sorted
        .iter()
        .map(|checked| format!("{:width$}  {}\n", shown(&checked.name), shown(&verdict(checked))));
    let passed = all.iter().filter(|checked| checked.exit == Exit::Clean).count();
    let mut text: String = rows.collect();
    text.push_str(&format!(
        "\n{passed} of {} servers passed; `wallfacer report {DIRECTORY}/NAME.json` shows one in full\n",
        all.len()
    ));
    text
}

fn as_json(all: &[Checked]) -> Value {
    let row = |checked: &Checked| {
        json!({
            "server": checked.name,
            "conclusion": checked.document.as_ref().map(|document| document.verdict.conclusion),
            "verdict": verdict(checked),
            "exit": checked.exit.code(),
            "findings": checked.document.as_ref().map(|document| document.findings.len()),
            "report": (!checked.report.as_os_str().is_empty()).then(|| checked.report.to_string_lossy().into_owned()),
        })
    };
    json!({ "wallfacer": env!("CARGO_PKG_VERSION"), "servers": all.iter().map(row).collect::<Vec<_>>() })
}

/// Findings weigh most; one server that could not be tested is no pass for all.
fn worst(all: &[Checked]) -> Exit {
    let any = |wanted: fn(Exit) -> bool| all.iter().any(|checked| wanted(checked.exit));
    match () {
        () if any(|exit| exit == Exit::Findings) => Exit::Findings,
        () if all.is_empty() || any(|exit| exit != Exit::Clean) => Exit::NotTested,
        () => Exit::Clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_for_each_server_is_passed_on() {
        let typed = "--config c.toml check --all list.json --budget 5s --jobs 2 --shard=1/2 --format json -o x \
                     -oy --resume -v --sandbox off --report sarif=f";
        let typed = typed.split_whitespace().map(OsString::from).collect();
        let kept = passed_on(typed, Some(Path::new("list.json")));
        let kept: Vec<_> = kept.iter().map(|word| word.to_string_lossy()).collect();
        assert_eq!(kept.join(" "), "--config c.toml check --budget 5s --sandbox off");
    }

    #[test]
    fn no_two_servers_share_a_report() {
        let names = ["a", "A", "a b", "a-b", "a/b", "", "ü"];
        let files: std::collections::BTreeSet<String> =
            names.iter().map(|name| file_name(name).to_lowercase()).collect();
        assert_eq!(files.len(), names.len());
    }
}
