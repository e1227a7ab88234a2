//! `corpus`: lists what is stored, shows one finding, tries all of them again, or makes one smaller.

use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Subcommand;
use serde_json::{Value, json};
use wallfacer_core::findings::{Corpus, Finding, Listing, Redaction, Repro, rfc3339};
use wallfacer_core::report::{stored, written};
use wallfacer_core::session::{Minimised, minimise};
use wallfacer_core::wire::shortened;
use wallfacer_text::shown;

use super::corpus_place::CorpusArgs;
use super::output::{Format, OutputArgs};
use super::replay::{TimeArgs, find, place, sent, try_again};
use super::rerun::{Rerun, TrustArgs, prepare};
use super::target::TargetArgs;
use super::{key, redaction, store, units};
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;

/// What of a message stands on one line.
const MESSAGE: usize = 100;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer corpus list                    # what is stored, with ids
  wallfacer corpus show 3159d332           # one finding; the beginning of its id is enough
  wallfacer corpus replay --all            # which of them are fixed
  wallfacer corpus minimize 3159d332       # look for a smaller request that shows the same";

/// Work with stored findings
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what is stored
    List {
        #[command(flatten)]
        corpus: CorpusArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show one finding in full
    Show {
        /// The id of the finding, or its first digits, or the path of its file
        id: String,
        #[command(flatten)]
        corpus: CorpusArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Try stored findings once more
    Replay(Box<ReplayArgs>),
    /// Make what is sent smaller, as long as the same bug shows
    #[command(alias = "minimise")]
    Minimize(Box<MinimizeArgs>),
}

#[derive(Debug, clap::Args)]
struct ReplayArgs {
    /// The ids of the findings, or their first digits
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    ids: Vec<String>,
    /// All that are stored
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    trust: TrustArgs,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
struct MinimizeArgs {
    /// The id of the finding, or its first digits
    id: String,
    /// The time for all tries
    #[arg(long, value_name = "TIME", value_parser = units::duration, default_value = "60s")]
    budget: Duration,
    #[command(flatten)]
    trust: TrustArgs,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    match &args.command {
        Command::List { corpus, output } => {
            output.check()?;
            list(corpus, output, config)
        }
        Command::Show { id, corpus, output } => {
            output.check()?;
            show(id, corpus, output, config)
        }
        Command::Replay(args) => replay(args, config, watch),
        Command::Minimize(args) => minimize(args, config, watch),
    }
}

fn listing(corpus: &Corpus) -> Result<Listing, Failure> {
    corpus.list().map_err(|error| store::failure(&error))
}

fn list(place: &CorpusArgs, output: &OutputArgs, config: Option<&Path>) -> Result<Exit, Failure> {
    let corpus = place.corpus(config)?;
    let listing = listing(&corpus)?;
    let text = match output.format {
        Format::Human => stored(&listing, corpus.directory(), output.look()),
        Format::Json => {
            let unreadable = listing.unreadable.iter();
            let unreadable: Vec<Value> =
                unreadable.map(|one| json!({ "path": one.path, "why": one.why })).collect();
            let document = json!({
                "wallfacer": env!("CARGO_PKG_VERSION"),
                "run": { "command": "corpus list" },
                "corpus": corpus.directory(),
                "findings": listing.findings,
                "unreadable": unreadable,
            });
            written(&document)
        }
    };
    output.deliver(&text)
}

fn show(id: &str, place: &CorpusArgs, output: &OutputArgs, config: Option<&Path>) -> Result<Exit, Failure> {
    let finding = find(id, place, config)?;
    let text = match output.format {
        Format::Human => in_full(&finding),
        Format::Json => written(&json!(finding)),
    };
    output.deliver(&text)
}

/// The longest line of evidence.
const LINE: usize = 160;
/// The longest step that is shown; `--format json` has all of it.
const STEP: usize = 2_000;

fn in_full(finding: &Finding) -> String {
    let mut text = format!(
        "{} {} in {}  [{}]\n  {}\n",
        finding.severity.as_str(),
        finding.kind.name(),
        place(finding),
        finding.id,
        shortened(&finding.message, 4 * MESSAGE)
    );
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            text += &format!("  {name:10} {value}\n");
        }
    };
    let details = finding.details.lines().map(|line| shortened(line, LINE)).collect::<Vec<_>>();
    add("details", details.join("\n             "));
    add("tools", finding.tools.iter().map(|tool| shortened(tool, MESSAGE)).collect::<Vec<_>>().join(", "));
    for evidence in &finding.evidence {
        let lines = evidence.text.lines().map(|line| shortened(line, LINE)).collect::<Vec<_>>();
        add(&shortened(&evidence.label, MESSAGE), lines.join("\n             "));
    }
    match &finding.repro {
        Repro::Replayable { .. } => {
            sent(finding).iter().for_each(|step| add("sent", shortened(&step.to_string(), STEP)));
        }
        Repro::NotReplayable { reason } => add("sent", format!("not stored: {}", shown(reason))),
    }
    let seen = finding.reproduced;
    add("reproduced", if seen.n > 0 { format!("{}/{}", seen.k, seen.n) } else { String::new() });
    let target = finding.target.as_ref().map(|target| shortened(&target.to_string(), STEP));
    add("target", target.unwrap_or_default());
    let named = finding.server.name.iter().chain(&finding.server.version);
    add("server", named.map(|word| shortened(word, MESSAGE)).collect::<Vec<_>>().join(" "));
    add("protocol", finding.protocol.as_deref().map(shown).unwrap_or_default());
    add("seen", [&*finding.first_seen, &*finding.last_seen].join(" … ").trim_matches([' ', '…']).to_owned());
    for reference in &finding.references {
        add("see", shortened(&reference.text, MESSAGE));
    }
    add("replay", shown(&finding.replay_line()));
    text
}

fn replay(args: &ReplayArgs, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    let mut unreadable = Vec::new();
    let findings = if args.all {
        let listing = listing(&args.corpus.corpus(config)?)?;
        unreadable = listing.unreadable;
        listing.findings
    } else {
        args.ids.iter().map(|id| find(id, &args.corpus, config)).collect::<Result<_, _>>()?
    };
    let mut text = String::new();
    let mut documents = Vec::new();
    let mut exits = Vec::new();
    for finding in &findings {
        let told = try_again(finding, &args.time, &args.target, &args.trust, &args.output, config, watch)?;
        text += &told.redaction.of(&told.human(false));
        documents.push(told.redaction.of(&told.json(false).to_string()));
        exits.push(told.exit());
    }
    for one in &unreadable {
        text += &format!(
            "NOT REPLAYABLE: {}\n  {}\n",
            shown(&one.path.display().to_string()),
            shortened(&one.why, 2 * MESSAGE)
        );
        exits.push(Exit::NotTested);
    }
    if exits.is_empty() {
        text += "Nothing is stored\n";
    }
    let report = match args.output.format {
        Format::Human => text,
        Format::Json => {
            let parsed = documents.iter().filter_map(|text| serde_json::from_str::<Value>(text).ok());
            let unreadable: Vec<Value> =
                unreadable.iter().map(|one| json!({ "path": one.path, "why": one.why })).collect();
            let document = json!({
                "wallfacer": env!("CARGO_PKG_VERSION"),
                "run": { "command": "corpus replay" },
                "replays": parsed.collect::<Vec<_>>(),
                "unreadable": unreadable,
            });
            written(&document)
        }
    };
    args.output.deliver(&report)?;
    Ok(worst(&exits))
}

/// What still fails weighs more than what could not be tried.
fn worst(exits: &[Exit]) -> Exit {
    let order = [Exit::Findings, Exit::NotTested];
    order.into_iter().find(|exit| exits.contains(exit)).unwrap_or(Exit::Clean)
}

fn minimize(args: &MinimizeArgs, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    let corpus = args.corpus.corpus(config)?;
    let finding = find(&args.id, &args.corpus, config)?;
    watch.hold_to(Some(args.budget));
    let known = redaction::of_environment(&redaction::Written::default());
    let rerun = match prepare(&finding, &args.target, &args.trust, config)? {
        Ok(rerun) => rerun,
        Err(why) => return tell(args, &finding, &known, Pressed::not(why)),
    };
    let Rerun { finding: restored, connector, other, destructive, redaction } = rerun;
    let mut listeners = args.output.listeners(&redaction)?;
    let work = minimise(connector, other, &restored, &destructive, args.budget, &mut listeners);
    let minimised = watch.wait_for(work);
    listeners.finish();
    let minimised = match minimised {
        Ok(minimised) => minimised,
        Err(broken_off) => {
            let why = format!("{}; the finding is stored as it was", broken_off.message);
            return tell(args, &finding, &redaction, Pressed::broken_off(why));
        }
    };
    let minimised = match minimised {
        Ok(minimised) => minimised,
        Err(error) => return tell(args, &finding, &redaction, Pressed::not(Failure::from(error).message)),
    };
    let pressed = match minimised {
        Minimised::NotReplayable { why } => Pressed::not(why),
        Minimised::NotReproduced(seen) if seen.k == 0 => Pressed {
            exit: Exit::Clean,
            verdict: "FIXED",
            why: format!("not seen in {} tries, so there is nothing to make smaller", seen.n),
            ..Pressed::default()
        },
        Minimised::NotReproduced(seen) => Pressed {
            exit: Exit::Findings,
            verdict: "FLAKY",
            why: format!(
                "seen in {} of {} tries; what is smaller could not be told from luck",
                seen.k, seen.n
            ),
            ..Pressed::default()
        },
        Minimised::Done { case, tries, complete } => {
            let before = restored.repro.sent_bytes();
            let mut smaller = Finding { repro: finding.repro.with_case(&case), ..finding.clone() };
            let after = smaller.repro.sent_bytes();
            redaction.apply(&mut smaller);
            smaller.last_seen = rfc3339(SystemTime::now());
            let mut pressed = Pressed::done(before, after, tries, complete);
            if smaller.repro != finding.repro
                && let Err(failure) = store::write(&corpus, &smaller, key::read_or_make().as_ref())
            {
                pressed.why += &format!("; it is not kept: {}", failure.message);
            }
            pressed
        }
    };
    tell(args, &finding, &redaction, pressed)
}

/// What making something smaller came to.
struct Pressed {
    exit: Exit,
    verdict: &'static str,
    why: String,
    before: Option<u64>,
    after: Option<u64>,
    tries: Option<u32>,
}

impl Default for Pressed {
    fn default() -> Pressed {
        let (before, after, tries) = (None, None, None);
        Pressed { exit: Exit::NotTested, verdict: "NOT REPLAYABLE", why: String::new(), before, after, tries }
    }
}

impl Pressed {
    fn not(why: String) -> Pressed {
        Pressed { why, ..Pressed::default() }
    }

    fn broken_off(why: String) -> Pressed {
        Pressed { verdict: "UNCHANGED", why, ..Pressed::default() }
    }

    fn done(before: u64, after: u64, tries: u32, complete: bool) -> Pressed {
        let end = if complete { "nothing smaller is left to try" } else { "the time limit was reached" };
        let (verdict, what) = match after < before {
            true => ("SMALLER", format!("{before} bytes became {after}")),
            false => ("UNCHANGED", format!("{before} bytes stayed")),
        };
        let why = format!("{what} in {tries} tries on fresh servers; {end}");
        let (before, after, tries) = (Some(before), Some(after), Some(tries));
        Pressed { exit: Exit::Clean, verdict, why, before, after, tries }
    }
}

fn tell(
    args: &MinimizeArgs,
    finding: &Finding,
    redaction: &Redaction,
    pressed: Pressed,
) -> Result<Exit, Failure> {
    let Pressed { exit, verdict, why, before, after, tries } = pressed;
    let text = match args.output.format {
        Format::Human => {
            let (kind, place, id) = (finding.kind.name(), place(finding), &finding.id);
            format!("{verdict}: {kind} in {place}  [{id}]\n  {}\n", shown(&why))
        }
        Format::Json => {
            let document = json!({
                "wallfacer": env!("CARGO_PKG_VERSION"),
                "run": { "command": "corpus minimize" },
                "id": finding.id,
                "verdict": verdict.to_lowercase().replace(' ', "_"),
                "why": why,
                "bytes_before": before,
                "bytes_after": after,
                "tries": tries,
            });
            written(&document)
        }
    };
    args.output.deliver(&redaction.of(&text))?;
    Ok(exit)
}
