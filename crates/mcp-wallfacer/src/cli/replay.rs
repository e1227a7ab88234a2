//! `replay`: is a finding still true?

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use wallfacer_core::findings::{CorpusError, Finding, Redaction, Repro, read_finding};
use wallfacer_core::report::written;
use wallfacer_core::session::{Replay, Replayed, replay, usual_budget};

use wallfacer_text::shown;

use super::corpus_place::CorpusArgs;
use super::output::{Format, OutputArgs};
use super::rerun::{Rerun, TrustArgs, prepare};
use super::target::TargetArgs;
use super::{redaction, store, units};
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer replay 181ee243                       # the beginning of an id is enough
  wallfacer replay 181ee243 -- python3 mended.py  # on another server";

/// Try a stored finding once more: FIXED, STILL FAILS, FLAKY or NOT REPLAYABLE
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The id of the finding, or its first digits, or the path of its file
    #[arg(value_name = "ID")]
    id: String,
    /// Show what is sent
    #[arg(long)]
    show_payload: bool,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    trust: TrustArgs,
    #[command(flatten)]
    pub(super) target: TargetArgs,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
pub struct TimeArgs {
    /// The time for the tries of one finding, downloads not counted [default: 2m, and for a hang as long
    /// as it takes]
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    budget: Option<Duration>,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    let finding = find(&args.id, &args.corpus, config)?;
    let told = tell(&finding, args, config, watch)?;
    let text = match args.output.format {
        Format::Human => told.human(args.show_payload),
        Format::Json => written(&told.json(args.show_payload)),
    };
    args.output.deliver(&told.redaction.of(&text))?;
    Ok(told.exit())
}

fn tell<'a>(
    finding: &'a Finding,
    args: &Args,
    config: Option<&Path>,
    watch: &Watch,
) -> Result<Told<'a>, Failure> {
    try_again(finding, &args.time, &args.target, &args.trust, &args.output, config, watch)
}

/// A finding and what became of it.
pub struct Told<'a> {
    finding: &'a Finding,
    replayed: Replayed,
    pub redaction: Redaction,
}

/// Tries one finding; what stands in the way is a verdict too.
pub fn try_again<'a>(
    finding: &'a Finding,
    time: &TimeArgs,
    target: &TargetArgs,
    trust: &TrustArgs,
    output: &OutputArgs,
    config: Option<&Path>,
    watch: &Watch,
) -> Result<Told<'a>, Failure> {
    let known = redaction::of_environment(&redaction::Written::default());
    let not = |why: String, redaction| Told { finding, replayed: Replayed::not(why), redaction };
    // What was stored as not replayable needs no server to say so.
    if let Err(why) = finding.repro.case() {
        return Ok(not(why.to_string(), known));
    }
    let Rerun { finding: restored, mut connector, mut other, destructive, redaction, .. } =
        match prepare(finding, target, trust, config)? {
            Ok(rerun) => rerun,
            Err(why) => return Ok(not(why, known)),
        };
    let mut listeners = output.listeners(&redaction)?;
    let budget = time.budget.unwrap_or_else(|| usual_budget(&restored));
    let tried = watch.wait_for(async {
        for server in std::iter::once(&mut connector).chain(&mut other) {
            server.prepare().await?;
        }
        watch.hold_to(Some(watch.elapsed() + budget));
        replay(connector, other, &restored, &destructive, budget, &mut listeners).await
    });
    watch.hold_to(None);
    listeners.finish();
    let tried = match tried {
        Ok(tried) => tried,
        Err(broken_off) => return Ok(not(broken_off.message, redaction)),
    };
    match tried {
        Ok(replayed) => Ok(Told { finding, replayed, redaction }),
        Err(error) => Ok(not(Failure::from(error).message, redaction)),
    }
}

/// A finding of the corpus by the beginning of its id, or of a file.
pub fn find(id: &str, corpus: &CorpusArgs, config: Option<&Path>) -> Result<Finding, Failure> {
    let found = if id.ends_with(".json") || id.contains(std::path::MAIN_SEPARATOR) {
        read_finding(Path::new(id))
    } else {
        corpus.corpus(config)?.find(id)
    };
    found.map_err(|error: CorpusError| store::failure(&error))
}

impl Told<'_> {
    pub fn exit(&self) -> Exit {
        match self.replayed.verdict {
            Replay::Fixed { .. } => Exit::Clean,
            Replay::StillFails { .. } | Replay::Flaky(_) => Exit::Findings,
            Replay::NotReplayable { .. } => Exit::NotTested,
        }
    }

    pub fn human(&self, show_payload: bool) -> String {
        let (verdict, why) = self.words();
        let (kind, place, id) = (self.finding.kind.name(), place(self.finding), &self.finding.id);
        let mut text = format!("{verdict}: {kind} in {place}  [{id}]\n  {}\n", shown(&why));
        self.replayed.remarks.iter().for_each(|remark| text += &format!("  {}\n", shown(remark)));
        if show_payload {
            sent(self.finding)
                .iter()
                .for_each(|step| text += &format!("  sent: {}\n", shown(&step.to_string())));
        }
        text
    }

    pub fn json(&self, show_payload: bool) -> Value {
        let (name, k, n) = match &self.replayed.verdict {
            Replay::Fixed { n } => ("fixed", Some(0), Some(*n)),
            Replay::StillFails { n, .. } => ("still_fails", Some(*n), Some(*n)),
            Replay::Flaky(seen) => ("flaky", Some(seen.k), Some(seen.n)),
            Replay::NotReplayable { .. } => ("not_replayable", None, None),
        };
        let mut told = json!({
            "wallfacer": env!("CARGO_PKG_VERSION"),
            "run": { "command": "replay" },
            "id": self.finding.id,
            "kind": self.finding.kind,
            "tool": self.finding.tool,
            "verdict": name,
            "reproduced": k.zip(n).map(|(k, n)| json!({ "k": k, "n": n })),
            "why": self.words().1,
            "remarks": self.replayed.remarks,
        });
        if show_payload {
            told["sent"] = sent(self.finding).into();
        }
        told
    }

    /// The verdict, and what stands behind it.
    fn words(&self) -> (String, String) {
        match &self.replayed.verdict {
            Replay::Fixed { n } => ("FIXED".to_owned(), format!("not seen in {n} tries on fresh servers")),
            Replay::StillFails { n, message } => (format!("STILL FAILS {n}/{n}"), message.clone()),
            Replay::Flaky(seen) => {
                let (k, n) = (seen.k, seen.n);
                (format!("FLAKY {k}/{n}"), format!("seen in {k} of {n} tries on fresh servers"))
            }
            Replay::NotReplayable { why } => ("NOT REPLAYABLE".to_owned(), why.clone()),
        }
    }
}

/// What a finding is about, in a few words that steer no terminal.
pub fn place(finding: &Finding) -> String {
    const MOST: usize = 60;
    wallfacer_core::wire::shortened(finding.place(), MOST)
}

/// What is sent, step by step, in the short form in which it is stored and without secrets.
pub fn sent(finding: &Finding) -> Vec<Value> {
    match &finding.repro {
        Repro::Replayable { case, .. } => {
            case.get("steps").and_then(Value::as_array).cloned().unwrap_or_default()
        }
        Repro::NotReplayable { .. } => Vec::new(),
    }
}
