//! `explain`: says in plain words what a kind of finding, a rule, a check or one finding means, and what to do about it.

use std::fmt::Write as _;
use std::path::Path;

use wallfacer_core::findings::{ABOUT, About};
use wallfacer_core::report::{check_names, check_text, finding_in_full, kind_text};
use wallfacer_core::rule_words::{change_for, what_broke};
use wallfacer_rules::{Shelf, nearest};

use super::corpus_place::CorpusArgs;
use super::output;
use super::pack;
use super::replay::find;
use super::target::working_directory;
use crate::exit::{Exit, Failure};
use crate::terminal;

/// The shortest beginning of an id that is looked for.
const SHORTEST_ID: usize = 4;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer explain crash                 # a kind of finding
  wallfacer explain error.shows_no_stack  # a rule
  wallfacer explain lists-are-stable      # a check
  wallfacer explain 181ee243              # a finding";

/// Explain a kind of finding, a rule, a check, or a finding by its id
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A kind such as `crash`, a rule such as `error.failure_is_flagged`, a check such as `no-hang`, or an id; none lists the kinds
    what: Option<String>,
    #[command(flatten)]
    corpus: CorpusArgs,
}

pub fn run(args: &Args, config: Option<&Path>) -> Result<Exit, Failure> {
    let Some(what) = args.what.as_deref() else { return output::print(&kinds()) };
    if let Some(about) = About::of(what) {
        return output::print(&kind_text(about, terminal::look()));
    }
    let is_id = what.len() >= SHORTEST_ID && what.chars().all(|letter| letter.is_ascii_hexdigit());
    if is_id || Path::new(what).is_file() {
        let finding = find(what, &args.corpus, config)?;
        let look = terminal::look();
        let page = finding.kind.about().page();
        return output::print(&format!("{}   more     {page}\n", finding_in_full(&finding, look)));
    }
    if let Some(text) = check_text(what) {
        return output::print(&text);
    }
    let shelf = pack::shelf(&working_directory()?)?;
    match rule(&shelf, what) {
        Some(text) => output::print(&text),
        None => Err(unknown(what)),
    }
}

fn kinds() -> String {
    let mut text = "Kinds of finding; `wallfacer explain KIND` says more\n".to_owned();
    for about in &ABOUT {
        let _always_fits =
            writeln!(text, "  {:22} {:9} {}", about.name, about.severity.as_str(), about.title);
    }
    text
}

/// A rule of a pack: what it means when it is broken, and how it is written.
fn rule(shelf: &Shelf, wanted: &str) -> Option<String> {
    for name in shelf.names() {
        let Some((found, block)) = shelf.text(name).and_then(|text| block(text, wanted)) else { continue };
        let mut text = format!("{found}  a rule of the pack {name}\n");
        if let Some(broken) = what_broke(&found, "TOOL") {
            let _always_fits = writeln!(text, "\nBroken means: {broken}.");
        }
        if let Some(change) = change_for(&found) {
            let _always_fits = writeln!(text, "What to change: {change}");
        }
        let _always_fits =
            writeln!(text, "\nAs it is written (`wallfacer pack show {name}` shows all):\n{block}");
        return Some(text);
    }
    None
}

/// The lines of a rule in the text of a pack up to its fixtures, and its name without the tool.
fn block(text: &str, wanted: &str) -> Option<(String, String)> {
    const HEAD: &str = "  - name: ";
    let lines: Vec<&str> = text.lines().collect();
    let named = |line: &&str| {
        let name = line.strip_prefix(HEAD)?.trim().trim_matches('"');
        let name = name.strip_suffix(".{{tool}}").unwrap_or(name);
        // A finding calls a rule about every tool by the tool too.
        let fits = wanted == name || wanted.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        fits.then(|| name.to_owned())
    };
    let (start, name) = lines.iter().enumerate().find_map(|(place, line)| Some((place, named(line)?)))?;
    let is_over = |line: &&&str| {
        line.starts_with(HEAD)
            || !line.is_empty() && !line.starts_with(' ')
            || line.trim_start().starts_with("test_fixtures:")
    };
    let rest = lines[start + 1..].iter().take_while(|line| !is_over(line));
    let block: Vec<&str> = std::iter::once(&lines[start]).chain(rest).copied().collect();
    Some((name, block.join("\n").trim_end().to_owned()))
}

fn unknown(what: &str) -> Failure {
    let names = ABOUT.iter().map(|about| about.name).chain(check_names());
    let help = match nearest(what, names) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`wallfacer explain` lists the kinds, `wallfacer pack list` the packs of rules".to_owned(),
    };
    let message = format!("there is no kind, rule, check or finding `{what}`; {help}");
    Failure { exit: Exit::Usage, message }
}
