//! Makes calls one by one on one server to see what each does: whether it takes values of ours, where these show later, and
//! whether it counts.

use super::form::Form;
use super::is_good;
use crate::judge::{ClientReply, is_counter, replies};
use crate::plan::{Ask, Case, Part, Question, Schedule, Step};
use crate::session::lab::{Tried, of_server};

/// Numbers of marks that belong to calls made alone.
const FIRST: u64 = 1_000_000;
/// Calls in a row that show whether something is counted.
const IN_A_ROW: usize = 3;

/// The calls, and what each of them is for.
pub struct Calibration {
    asks: Vec<Ask>,
    purposes: Vec<Purpose>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// The form with marks in this set of its sites; before or after the first look.
    Marked { form: usize, set: usize, late: bool },
    /// The form as it was learned.
    Plain { form: usize, late: bool },
}

/// What was seen.
#[derive(Debug, Default)]
pub struct Calibrated {
    /// The sites that each form takes marks in; none where it takes them nowhere.
    pub sites: Vec<Option<usize>>,
    /// Forms that still work when they are made again.
    pub works: Vec<bool>,
    /// Writer and reader: what one wrote shows in what the other reads.
    pub pairs: Vec<(usize, usize)>,
    pub counters: Vec<usize>,
}

impl Calibration {
    pub fn new(forms: &[Form], seed: u64) -> Calibration {
        let mut made = Calibration { asks: Vec::new(), purposes: Vec::new() };
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
            let said: Vec<&str> =
                of(Purpose::Plain { form, late: true }).iter().map(|reply| reply.said.as_str()).collect();
            if seen.works[form] && is_counter(&said) {
                seen.counters.push(form);
            }
        }
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
}

/// Whether what one client wrote shows in what another reads.
pub fn shows_elsewhere(replies: &[ClientReply<'_>]) -> bool {
    let written = replies.iter().filter(|reply| reply.ask.part == Part::Write);
    written.into_iter().any(|written| {
        let others = replies.iter().filter(|read| read.ask.client != written.ask.client);
        others.into_iter().any(|read| written.ask.marks.iter().any(|mark| read.shows(mark) > 0))
    })
}
