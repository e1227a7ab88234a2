//! Makes calls one by one on one server to see what each does: whether it takes values of ours, where these show later, and
//! whether it counts.

use std::time::Duration;

use super::form::{Form, argument};
use super::is_good;
use crate::judge::{ClientReply, is_counter, replies, risen};
use crate::plan::{Ask, Case, Part, Question, Schedule, Step};
use crate::session::lab::{Tried, of_server};

/// Numbers of marks that belong to calls made alone.
const FIRST: u64 = 1_000_000;
/// Pairs that may store and show something under a name.
const MAX_KEYED: usize = 16;
/// Calls in a row that show whether something is counted.
const IN_A_ROW: usize = 3;

/// The calls, and what each of them is for.
pub struct Calibration {
    asks: Vec<Ask>,
    purposes: Vec<Purpose>,
    keyed: Vec<Keyed>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// The form with marks in this set of its sites; before or after the first look.
    Marked { form: usize, set: usize, late: bool },
    /// The form as it was learned.
    Plain { form: usize, late: bool },
    /// A look at what one form stored, under the name that it was stored by.
    Keyed(usize),
}

/// A writer that stores something under a name, and a reader that takes the name; with the place of the name in each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyed {
    pub writer: usize,
    pub reader: usize,
    pub name: String,
    pub look: String,
}

/// What was seen.
#[derive(Debug, Default)]
pub struct Calibrated {
    /// The sites that each form takes marks in; none where it takes them nowhere.
    pub sites: Vec<Option<usize>>,
    /// Forms that still work when they are made again.
    pub works: Vec<bool>,
    /// What each form took when it was quickest: on a busy machine the first call says little.
    pub took: Vec<Duration>,
    /// Writer and reader: what one wrote shows in what the other reads.
    pub pairs: Vec<(usize, usize)>,
    pub counters: Vec<usize>,
    /// The same where the reader must name what the writer wrote.
    pub keyed: Vec<Keyed>,
    /// Writer and reader, where each call of one seems to raise a number that the other shows by one.
    pub counted: Vec<(usize, usize)>,
}

impl Calibration {
    pub fn new(forms: &[Form], seed: u64) -> Calibration {
        let mut made = Calibration { asks: Vec::new(), purposes: Vec::new(), keyed: Keyed::all(forms) };
        for late in [false, true] {
            for (form, each) in forms.iter().enumerate() {
                for set in 0..each.sites.len() {
                    let number = FIRST + (form * 4 + set) as u64 * 2 + u64::from(late);
                    made.asks.push(each.marked(0, Part::Call, &each.sites[set], seed, number));
                    made.purposes.push(Purpose::Marked { form, set, late });
                }
            }
            for (form, each) in forms.iter().enumerate() {
                for _ in 0..if late { IN_A_ROW } else { 1 } {
                    made.asks.push(each.plain(0, Part::Call));
                    made.purposes.push(Purpose::Plain { form, late });
                }
            }
        }
        for number in 0..made.keyed.len() {
            let Keyed { writer, reader, name, look } = &made.keyed[number];
            let marked = Purpose::Marked { form: *writer, set: 0, late: true };
            let written = made.purposes.iter().position(|purpose| *purpose == marked);
            let place = forms[*writer].sites[0].iter().position(|site| site == name);
            let (Some(written), Some(place)) = (written, place) else { continue };
            let ask = forms[*reader].with(look, &made.asks[written].marks[place]);
            made.asks.push(ask);
            made.purposes.push(Purpose::Keyed(number));
        }
        made
    }

    pub fn case(&self, seed: u64) -> Case {
        let rounds = self.asks.iter().map(|ask| vec![ask.clone()]).collect();
        let schedule = Schedule { question: Question::Nothing, rounds, times: 1 };
        of_server(vec![Step::Rounds(Box::new(schedule))], seed)
    }

    pub fn read(&self, forms: &[Form], tried: &Tried) -> Calibrated {
        let case = tried.played.as_ref().unwrap_or(&tried.case);
        let Some((_, _, replies)) = replies(case, &tried.recording) else { return Calibrated::default() };
        let of = |wanted: Purpose| -> Vec<&ClientReply<'_>> {
            let all = self.purposes.iter().zip(&replies);
            all.filter(|(purpose, _)| **purpose == wanted).map(|(_, reply)| reply).collect()
        };
        let good = |wanted: Purpose| {
            let made = of(wanted);
            !made.is_empty() && made.iter().all(|reply| is_good(&reply.answer))
        };
        let mut seen = Calibrated::default();
        for (form, each) in forms.iter().enumerate() {
            let takes = |set: &usize| {
                [false, true].iter().all(|late| good(Purpose::Marked { form, set: *set, late: *late }))
            };
            seen.sites.push((0..each.sites.len()).find(takes));
            seen.works.push([false, true].iter().all(|late| good(Purpose::Plain { form, late: *late })));
            let plain = [false, true].into_iter().flat_map(|late| of(Purpose::Plain { form, late }));
            let took = plain.filter_map(|reply| reply.asked.answered?.checked_sub(reply.asked.asked));
            seen.took.push(took.min().unwrap_or(each.took));
            let said: Vec<&str> =
                of(Purpose::Plain { form, late: true }).iter().map(|reply| reply.said.as_str()).collect();
            if seen.works[form] && is_counter(&said) {
                seen.counters.push(form);
            }
        }
        for (number, keyed) in self.keyed.iter().enumerate() {
            let written = of(Purpose::Marked { form: keyed.writer, set: 0, late: true });
            let marks = written.first().map(|reply| reply.ask.marks.as_slice()).unwrap_or_default();
            let sites = forms[keyed.writer].sites.first();
            let stored = sites.into_iter().flatten().zip(marks).filter(|(site, _)| **site != keyed.name);
            let stored: Vec<&String> = stored.map(|(_, mark)| mark).collect();
            let shows = |read: &&ClientReply<'_>| stored.iter().any(|mark| read.shows(mark) > 0);
            if seen.sites[keyed.writer] == Some(0) && of(Purpose::Keyed(number)).iter().any(shows) {
                seen.keyed.push(keyed.clone());
            }
        }
        seen.counted = self.counted(forms, &replies, &seen.works);
        for writer in 0..forms.len() {
            let Some(set) = seen.sites[writer] else { continue };
            let shows = |reader: usize, late: bool| {
                let written = of(Purpose::Marked { form: writer, set, late });
                let marks = written.first().map(|reply| reply.ask.marks.as_slice()).unwrap_or_default();
                let read = of(Purpose::Plain { form: reader, late });
                read.first().is_some_and(|read| marks.iter().any(|mark| read.shows(mark) > 0))
            };
            let readers = (0..forms.len())
                .filter(|reader| seen.works[*reader] && forms[*reader].prelude == forms[writer].prelude);
            let mut readers: Vec<usize> =
                readers.filter(|reader| shows(*reader, false) && shows(*reader, true)).collect();
            // What reads and nothing else comes first, and what needs the fewest words.
            readers.sort_by_key(|reader| {
                (forms[*reader].tool == forms[writer].tool, forms[*reader].arguments.to_string().len())
            });
            seen.pairs.extend(readers.first().map(|reader| (writer, *reader)));
        }
        seen
    }

    /// Who counts calls of another: its number has risen by as many as were made between two looks, and not by the looks.
    fn counted(&self, forms: &[Form], replies: &[ClientReply<'_>], works: &[bool]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for reader in (0..forms.len()).filter(|reader| works[*reader]) {
            let places: Vec<usize> = (0..replies.len().min(self.purposes.len()))
                .filter(
                    |place| matches!(self.purposes[*place], Purpose::Plain { form, .. } if form == reader),
                )
                .collect();
            let [first, next, .., last] = places[..] else { continue };
            let said = |place: usize| replies[place].said.as_str();
            let Some(risen) = risen(said(first), said(next)).filter(|_| said(next) == said(last)) else {
                continue;
            };
            let made = |writer: usize| {
                let between = self.asks[first..next].iter().zip(&replies[first..next]);
                let own = between.filter(|(ask, _)| ask.tool_name() == Some(&forms[writer].tool));
                own.filter(|(_, reply)| is_good(&reply.answer)).count() as u64
            };
            let counts = (0..forms.len()).filter(|writer| {
                works[*writer]
                    && forms[*writer].tool != forms[reader].tool
                    && forms[*writer].prelude == forms[reader].prelude
                    && made(*writer) == risen
            });
            found.extend(counts.map(|writer| (writer, reader)));
        }
        found
    }
}

impl Keyed {
    /// All that may be such a pair, by the names of their arguments.
    fn all(forms: &[Form]) -> Vec<Keyed> {
        let mut found = Vec::new();
        for (writer, write) in forms.iter().enumerate() {
            let Some(sites) = write.sites.first().filter(|sites| sites.len() > 1) else { continue };
            for (reader, read) in forms.iter().enumerate() {
                let others = read.tool != write.tool && read.prelude == write.prelude;
                let looks = read.sites.first().into_iter().flatten().filter(|_| others);
                let pair = looks.flat_map(|look| sites.iter().map(move |name| (name, look)));
                let pair = pair.into_iter().find(|(name, look)| argument(name) == argument(look));
                found.extend(pair.map(|(name, look)| Keyed {
                    writer,
                    reader,
                    name: name.clone(),
                    look: look.clone(),
                }));
            }
        }
        found.truncate(MAX_KEYED);
        found
    }
}

/// Whether what one client wrote shows in what another reads.
pub fn shows_elsewhere(replies: &[ClientReply<'_>]) -> bool {
    let written = replies.iter().filter(|reply| reply.ask.part == Part::Write);
    written.into_iter().any(|written| {
        let others = replies.iter().filter(|read| read.ask.client != written.ask.client);
        others.into_iter().any(|read| written.ask.marks.iter().any(|mark| read.shows(mark) > 0))
    })
}
