//! Holds what tools declare against what was written down when their answers were learned.

use std::sync::Arc;

use super::notebook::Seen;
use super::{Notebook, Probe};
use crate::event::Listener;
use crate::findings::Reproduced;
use crate::judge::{Charge, Context, Output, weigh};
use crate::learn::Learned;
use crate::observe::observe;
use crate::plan::{Case, Measure};
use crate::run::Recording;
use crate::session::agenda::Selection;
use crate::session::lab::{Done, Job, Work, World};
use crate::session::prove::{Confirmed, Interest, Suspicion};
use crate::target::Version;
use crate::wire::shortened;

/// How often a server is asked again for its tools where what it says of them is not in order.
const ASKED_AGAIN: u32 = 2;
/// Letters of a name that are told.
const SHOWN: usize = 80;

/// Judges cases that need no call, by what the server lists. What is broken must be so each time that it is asked.
pub struct Listing {
    seen: Seen,
    protocol: Version,
    /// What is held against the first list, and in how many of the others it was there again.
    broken: Vec<(Case, Charge, u32)>,
    asked: u32,
    answered: u32,
    told: bool,
    /// What a rule says nothing of, and why; nothing where it said something.
    pub rulings: Vec<(Case, Option<String>)>,
}

impl Listing {
    /// `again` makes the context of a further list.
    pub fn new(cases: Vec<Case>, context: &Arc<Context>, protocol: Version, interest: Interest) -> Listing {
        let mut broken = Vec::new();
        let mut rulings = Vec::new();
        for case in cases {
            let (charges, unknown) = judged(&case, context);
            broken.extend(charges.into_iter().map(|charge| (case.clone(), charge, 0)));
            rulings.push((case, unknown));
        }
        let seen = Seen { world: World::Plain, context: context.clone(), interest };
        Listing { seen, protocol, broken, asked: 0, answered: 0, told: false, rulings }
    }

    fn tell(&mut self, notebook: &mut Notebook, listener: &mut dyn Listener) {
        self.told = true;
        for (case, charge, k) in std::mem::take(&mut self.broken) {
            let reproduced = Reproduced { k, n: self.answered };
            let suspicion = Suspicion {
                case: case.clone(),
                charge: charge.clone(),
                before: Vec::new(),
                world: self.seen.world,
                context: self.seen.context.clone(),
                interest: self.seen.interest,
                number: (notebook.probe, 0),

                alone: true,
                raised: std::time::Instant::now(),
            };
            let confirmed = match k {
                0 => Confirmed::Never,
                _ => Confirmed::Finding { charge: Box::new(charge), case, reproduced },
            };
            notebook.prover.take_one(confirmed, suspicion, listener);
        }
    }
}

impl Probe for Listing {
    fn name(&self) -> &'static str {
        "declarations"
    }

    fn propose(&mut self, computes: bool, _: &mut dyn Listener) -> Option<(u64, Job)> {
        if !computes || self.broken.is_empty() || self.asked >= ASKED_AGAIN {
            return None;
        }
        self.asked += 1;
        let Seen { world, context, .. } = self.seen.clone();
        Some((self.asked.into(), Job { world, context, work: Work::List, waits: false }))
    }

    fn read(&mut self, _: u64, done: Done, notebook: &mut Notebook, listener: &mut dyn Listener) {
        if let Done::Listed(catalogue) = done {
            self.answered += 1;
            let marker = self.seen.context.marker.clone();
            let again = Context { marker, ..Context::new(&catalogue, self.protocol) };
            for (case, charge, k) in &mut self.broken {
                let (charges, _) = judged(case, &again);
                *k += u32::from(charges.iter().any(|other| other.kind.name() == charge.kind.name()));
            }
        }
        if self.answered == ASKED_AGAIN && !self.told {
            self.tell(notebook, listener);
        }
    }

    fn is_done(&self) -> bool {
        self.broken.is_empty() || self.told
    }

    fn finish(&mut self, _: Option<&str>, notebook: &mut Notebook) {
        for (case, charge, _) in &self.broken {
            let what = format!(
                "a suspected {} in {}",
                charge.kind.name(),
                case.subject.name().unwrap_or("the server")
            );
            notebook.leave_out(&what, "there was no time to ask for the list again");
        }
    }
}

fn judged(case: &Case, context: &Context) -> (Vec<Charge>, Option<String>) {
    let nothing = Recording { steps: Vec::new(), stderr: None };
    let judgement = weigh(case, &nothing, &observe(&nothing), context);
    (judgement.charges, judgement.unknown)
}

/// Cases that hold what each tool declares against what was written down.
pub fn declaration_cases(learned: &Learned, selection: &Selection, seed: u64) -> Vec<Case> {
    let wanted = learned.tools.iter().filter(|(tool, _)| selection.wants(tool));
    let case = |(tool, entry): (&String, &crate::learn::Entry)| {
        Case::listing(tool, Measure::Declared { schema: entry.declared.clone() }, seed)
    };
    wanted.map(case).collect()
}

/// Says what has come since the answers were learned.
pub fn tell_news(
    selection: &Selection,
    context: &Context,
    known: &Learned,
    server: Option<&str>,
    notebook: &mut Notebook,
) {
    if known.server.as_deref() != server {
        let shown = |name: Option<&str>| name.map_or("nothing".to_owned(), |name| shortened(name, SHOWN));
        let (was, is) = (shown(known.server.as_deref()), shown(server));
        notebook.note(None, format!("the server calls itself {is}, and {was} when its answers were learned"));
    }
    for tool in &selection.tools {
        let declares = context.tools.get(&tool.name).is_some_and(|facts| facts.output.is_some());
        let text = match known.tools.get(&tool.name) {
            None => "it is new since answers were learned",
            Some(entry) if declares && entry.declared.is_none() => {
                "it declares an output schema now, and did not when answers were learned"
            }
            Some(_) => continue,
        };
        notebook.note(Some(&tool.name), text.to_owned());
    }
}

/// Says of which tools nothing is known that answers could be held against.
pub fn tell_unheld(selection: &Selection, context: &Context, notebook: &mut Notebook) {
    for tool in &selection.tools {
        let declared = context.tools.get(&tool.name).and_then(|facts| facts.output.as_ref());
        let why = match declared {
            Some(Output::Compiled(_)) => continue,
            Some(Output::Unusable(why)) => {
                format!("its output schema cannot be used: {}", shortened(why, SHOWN))
            }
            None if context.habits.contains_key(&tool.name) => continue,
            None => "no output schema is declared, and none was learned".to_owned(),
        };
        notebook.leave_out(&format!("the answers of {}", tool.name), &why);
    }
}
