//! Makes the schedules: which calls are made alone, which at once, and what is read afterwards.

use std::collections::BTreeSet;

use serde_json::Map;

use super::calibration::{Calibrated, Keyed};
use super::form::Form;
use super::identity::says_apart;
use crate::judge::Context;
use crate::plan::{Ask, Case, Part, Question, Schedule, Step, Subject};
use crate::session::lab::of_server;

/// Pairs of a writer and a reader that are tried.
const MAX_PAIRS: usize = 8;
const MAX_COUNTERS: usize = 4;
/// The same where two processes write, which must be started for it; and how many these are.
const MAX_FILES: usize = 3;
const PROCESSES: usize = 2;
/// Calls at once of one tool among those of all.
const OF_EACH: usize = 2;
/// A schedule is tried so many times on one server before it is taken to hold.
const TURNS: u32 = 3;
/// Calls of a counter before and after.
const COUNTED_ALONE: usize = 3;

pub struct Plans<'a> {
    pub forms: &'a [Form],
    pub calibrated: &'a Calibrated,
    pub concurrency: usize,
    pub clients: usize,
    pub seed: u64,
}

impl Plans<'_> {
    /// The call with the number `number` of all that are made of a form: with values of its own where it takes them.
    fn ask(&self, form: usize, client: usize, part: Part, number: usize) -> Ask {
        let each = &self.forms[form];
        match self.calibrated.sites.get(form).copied().flatten() {
            Some(set) => {
                let number = ((form as u64) << 16) + number as u64;
                each.marked(client, part, &each.sites[set], self.seed, number)
            }
            None => each.plain(client, part),
        }
    }

    fn case(&self, forms: &[usize], question: Question, rounds: Vec<Vec<Ask>>, times: u32) -> Case {
        let schedule = Schedule { question, rounds, times };
        let case = of_server(vec![Step::Rounds(Box::new(schedule))], self.seed);
        let tools: BTreeSet<&str> = forms.iter().map(|form| self.forms[*form].tool.as_str()).collect();
        let subject = match tools.len() {
            1 => Subject::Tool(self.forms[forms[0]].tool.clone()),
            _ => Subject::Server,
        };
        let prelude = forms.first().map(|form| self.forms[*form].prelude.clone()).unwrap_or_default();
        Case { subject, prelude, ..case }
    }

    /// One form of each tool that works, preferably with values of its own.
    pub(super) fn one_of_each(&self) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        for form in 0..self.forms.len() {
            let takes = |form: usize| self.calibrated.sites.get(form).is_some_and(Option::is_some);
            let works = self.calibrated.works.get(form).copied().unwrap_or(false);
            if !takes(form) && !works {
                continue;
            }
            match chosen.iter_mut().find(|other| self.forms[**other].tool == self.forms[form].tool) {
                Some(other) if takes(form) && !takes(*other) => *other = form,
                Some(_) => {}
                None => chosen.push(form),
            }
        }
        chosen
    }

    /// Each call at once with others of its kind, and with all others.
    pub fn answers(&self) -> Vec<Case> {
        let chosen = self.one_of_each();
        let mut cases: Vec<Case> = Vec::new();
        for clients in BTreeSet::from([1, self.clients]) {
            let single = chosen.iter().map(|form| self.company(&[*form], self.concurrency, clients));
            cases.extend(single);
        }
        if chosen.len() > 1 {
            let plain: Vec<usize> =
                chosen.iter().copied().filter(|form| self.forms[*form].prelude.is_empty()).collect();
            cases.push(self.company(&plain, OF_EACH, self.clients));
        }
        cases
    }

    /// Twice alone, then so many of each at once, then once more alone.
    fn company(&self, forms: &[usize], of_each: usize, clients: usize) -> Case {
        let alone =
            |number: usize| forms.iter().map(move |form| vec![self.ask(*form, 0, Part::Call, number)]);
        let mut rounds: Vec<Vec<Ask>> = alone(0).chain(alone(1)).collect();
        let at_once = (0..of_each).flat_map(|number| forms.iter().map(move |form| (number, *form)));
        let at_once = at_once
            .enumerate()
            .map(|(place, (number, form))| self.ask(form, place % clients.max(1), Part::Call, 3 + number));
        rounds.push(at_once.collect());
        rounds.extend(alone(2));
        self.case(forms, Question::Answers, rounds, 1)
    }

    /// What one client writes must be there, and what several write.
    pub fn stores(&self) -> Vec<Case> {
        let pairs = self.calibrated.pairs.iter().take(MAX_PAIRS);
        let of_pair = |pair: &(usize, usize)| {
            let clients = BTreeSet::from([1, self.clients.max(1)]);
            clients.into_iter().map(|clients| self.store(*pair, clients, Question::Store)).collect::<Vec<_>>()
        };
        pairs.flat_map(of_pair).collect()
    }

    /// The same with two processes of the server, which have nothing in common but their files.
    pub fn files(&self) -> Vec<Case> {
        let pairs = self.calibrated.pairs.iter().take(MAX_FILES);
        pairs.map(|pair| self.store(*pair, PROCESSES, Question::Files)).collect()
    }

    /// A write alone and a look at it, then many at once, and looks at what is there. The first client looks at what the last
    /// one writes alone: where that does not show, each keeps its own.
    fn store(&self, (writer, reader): (usize, usize), clients: usize, question: Question) -> Case {
        let read = |client: usize| self.forms[reader].plain(client, Part::Read);
        let write = |number: usize| self.ask(writer, number % clients, Part::Write, number);
        let mut at_once: Vec<Ask> = (1..=self.concurrency).map(write).collect();
        if at_once.len() >= 6 {
            at_once.insert(at_once.len() / 2, read(0));
        }
        let alone = self.ask(writer, clients - 1, Part::Write, 0);
        let rounds = vec![vec![alone], vec![read(0)], at_once, vec![read(0)], vec![read(0)]];
        self.case(&[writer], question, rounds, TURNS)
    }

    pub fn counters(&self) -> Vec<Case> {
        let counter = |form: &usize| {
            let call = |client: usize| self.forms[*form].plain(client, Part::Write);
            let mut rounds: Vec<Vec<Ask>> = (0..COUNTED_ALONE).map(|_| vec![call(0)]).collect();
            rounds.push((0..self.concurrency).map(|number| call(number % self.clients.max(1))).collect());
            rounds.push(vec![call(0)]);
            self.case(&[*form], Question::Counter, rounds, TURNS)
        };
        let counters = self.calibrated.counters.iter().take(MAX_COUNTERS).map(counter);
        let counted = self.calibrated.counted.iter().take(MAX_COUNTERS).map(|pair| self.counted(*pair));
        counters.chain(counted).collect()
    }

    /// Each call alone and a look at the count, then many at once, and a look at what was counted.
    fn counted(&self, (writer, reader): (usize, usize)) -> Case {
        let call = |client: usize| self.forms[writer].plain(client, Part::Write);
        let look = || vec![self.forms[reader].plain(0, Part::Read)];
        let mut rounds: Vec<Vec<Ask>> = (0..COUNTED_ALONE).flat_map(|_| [vec![call(0)], look()]).collect();
        rounds.push((0..self.concurrency).map(|number| call(number % self.clients.max(1))).collect());
        rounds.push(look());
        self.case(&[writer], Question::Counter, rounds, TURNS)
    }

    /// What is written under one name must not show under another, where sessions are named in the arguments.
    pub fn named_sessions(&self, said: &Context) -> Vec<Case> {
        let named = self.calibrated.pairs.iter().filter_map(|(writer, reader)| {
            let (write, read) = (&self.forms[*writer], &self.forms[*reader]);
            let sites = &write.sites[self.calibrated.sites[*writer]?];
            let owner = write.identity.first()?;
            let other = read.identity.first()?;
            let written: Vec<String> = sites.iter().filter(|site| *site != owner).cloned().collect();
            if written.is_empty() || !self.says_apart(*writer, *reader, said) {
                return None;
            }
            let named = write.marked(0, Part::Write, std::slice::from_ref(owner), self.seed, 1);
            let named = Form { arguments: named.params["arguments"].clone(), ..write.clone() };
            let plant = named.marked(0, Part::Write, &written, self.seed, 2);
            let look = read.marked(0, Part::Read, std::slice::from_ref(other), self.seed, 3);
            let look = Ask { marks: Vec::new(), ..look };
            Some(self.case(&[*writer], Question::Isolation, vec![vec![plant], vec![look]], 1))
        });
        named.take(MAX_PAIRS).collect()
    }

    /// What one session wrote must not show in another, where somebody says so; else it is only seen whether it does.
    pub fn sessions(&self, said: &Context, shared: Option<bool>, lists: &[&str]) -> Vec<Case> {
        if shared == Some(true) {
            return Vec::new();
        }
        let pairs = self.calibrated.pairs.iter().take(MAX_PAIRS);
        let case = |(writer, reader): &(usize, usize)| {
            let plant = self.ask(*writer, 0, Part::Write, 1);
            let look = self.forms[*reader].plain(1, Part::Read);
            // Who has not looked before may not listen yet for what it is told.
            let rounds =
                [look.clone(), plant, look].into_iter().chain(lists.iter().map(|what| list(1, what)));
            let question = self.about_sessions(*writer, *reader, said, shared);
            self.case(&[*writer], question, rounds.map(|ask| vec![ask]).collect(), 1)
        };
        let keyed = self.calibrated.keyed.iter().take(MAX_PAIRS);
        pairs.map(case).chain(keyed.filter_map(|keyed| self.keyed_session(keyed, said, shared))).collect()
    }

    fn about_sessions(&self, writer: usize, reader: usize, said: &Context, shared: Option<bool>) -> Question {
        let apart = shared == Some(false) || self.says_apart(writer, reader, said);
        if apart { Question::Isolation } else { Question::Nothing }
    }

    /// The same where the reader must name what was written: the name itself, which it sends, shows nothing.
    fn keyed_session(&self, keyed: &Keyed, said: &Context, shared: Option<bool>) -> Option<Case> {
        let Keyed { writer, reader, name, look } = keyed;
        let question = self.about_sessions(*writer, *reader, said, shared);
        let plant = self.ask(*writer, 0, Part::Write, 2);
        let key = plant.params["arguments"].pointer(name)?.as_str()?.to_owned();
        let look = Ask { client: 1, part: Part::Read, ..self.forms[*reader].with(look, &key) };
        let marks = plant.marks.iter().filter(|mark| **mark != key).cloned().collect();
        let plant = Ask { marks, ..plant };
        Some(self.case(&[*writer], question, vec![vec![plant], vec![look]], 1))
    }

    fn says_apart(&self, writer: usize, reader: usize, said: &Context) -> bool {
        let described = |form: usize| {
            said.tools.get(&self.forms[form].tool).is_some_and(|facts| says_apart(&facts.declared.described))
        };
        described(writer) || described(reader) || says_apart(&said.server_said)
    }
}

fn list(client: usize, what: &str) -> Ask {
    Ask { client, part: Part::Read, method: format!("{what}/list"), params: Map::new(), marks: Vec::new() }
}
