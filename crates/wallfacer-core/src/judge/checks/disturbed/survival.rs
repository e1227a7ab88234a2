//! What a call has acknowledged must be there after the server was killed and started again, and after its disk failed.
//!
//! Only a server that keeps what it is given is held to it: one that has shown it after it ended in peace.

use std::collections::BTreeSet;

use super::{aftermath, all_told, answer};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation, Seen};
use crate::plan::{Case, Disk, Disturbance, Step, failure_in_words, marks_in};
use crate::run::{Recording, Taken};
use crate::target::Severity;

pub struct KeepsWhatIsStored;

/// What happened since something was read last, the gravest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happened {
    Nothing,
    Ended,
    WrittenBeside,
    Killed,
    KilledInCall,
    DiskReadOnly,
    FileVanished,
    DiskFull,
}

impl Check for KeepsWhatIsStored {
    fn name(&self) -> &'static str {
        "keeps-what-is-stored"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, _: &Context) -> Verdict {
        let restarts = |step: &Step| matches!(step, Step::Disturb(disturbance) if matches!(**disturbance, Disturbance::Restart { .. }));
        let writes = |step: &Step| step.request().is_some_and(|(_, params)| !marks_in(params).is_empty());
        if !case.steps.iter().any(restarts) || !case.steps.iter().any(writes) {
            return Verdict::Holds;
        }
        let mut store = Store::default();
        for (place, (step, taken)) in case.steps.iter().zip(&recording.steps).enumerate() {
            let Some(seen) = seen.steps.get(place) else { break };
            match store.see(step, taken, seen) {
                Judged::GoesOn => {}
                Judged::SaysNothing => return Verdict::Holds,
                Judged::Lost(happened, how) => {
                    return Verdict::Broken(Box::new(self.charge(case, recording, place, happened, how)));
                }
            }
        }
        Verdict::Holds
    }
}

/// What is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
enum How {
    Missing,
    Unreadable,
    NoStart(String),
}

enum Judged {
    GoesOn,
    SaysNothing,
    Lost(Happened, How),
}

/// What is known of a store while its history is read.
struct Store {
    /// All that was or may have been written.
    written: BTreeSet<String>,
    /// What the latest read has shown.
    shown: BTreeSet<String>,
    /// What was acknowledged while the disk failed.
    acknowledged: BTreeSet<String>,
    /// Which of the values of a call show in what is read, by their place.
    visible: BTreeSet<usize>,
    last_write: Vec<String>,
    persists: bool,
    happened: Happened,
    in_trouble: bool,
    under_way: bool,
}

impl Default for Store {
    fn default() -> Store {
        Store {
            written: BTreeSet::new(),
            shown: BTreeSet::new(),
            acknowledged: BTreeSet::new(),
            visible: BTreeSet::new(),
            last_write: Vec::new(),
            persists: false,
            happened: Happened::Nothing,
            in_trouble: false,
            under_way: false,
        }
    }
}

impl Store {
    fn see(&mut self, step: &Step, taken: &Taken, seen: &Seen) -> Judged {
        match step {
            Step::Disturb(disturbance) => match &**disturbance {
                Disturbance::BesideAsks { request } => {
                    self.written_beside(&marks_in(&request.params), taken, seen)
                }
                other => self.disturbed(other, taken),
            },
            Step::Call { params, .. } => match &marks_in(params)[..] {
                [] => self.read(taken, seen),
                marks => self.write(marks, taken, seen),
            },
            _ => Judged::GoesOn,
        }
    }

    fn disturbed(&mut self, disturbance: &Disturbance, taken: &Taken) -> Judged {
        let came = aftermath(taken);
        if came.is_some_and(|came| came.impossible.is_some()) {
            return Judged::SaysNothing;
        }
        let happened = match disturbance {
            Disturbance::Restart { killed: false } => Happened::Ended,
            Disturbance::Restart { killed: true } if std::mem::take(&mut self.under_way) => {
                Happened::KilledInCall
            }
            Disturbance::Restart { killed: true } => Happened::Killed,
            Disturbance::Begin { request, .. } => {
                self.written.extend(marks_in(&request.params));
                self.under_way = true;
                return Judged::GoesOn;
            }
            Disturbance::Disk(Disk::Well) => {
                self.in_trouble = false;
                return Judged::GoesOn;
            }
            Disturbance::Disk(disk) => {
                self.in_trouble = true;
                match disk {
                    Disk::Full => Happened::DiskFull,
                    Disk::ReadOnly { .. } => Happened::DiskReadOnly,
                    _ => {
                        // What was taken away is no loss of the server's.
                        self.shown.clear();
                        Happened::FileVanished
                    }
                }
            }
            _ => return Judged::GoesOn,
        };
        self.happened = self.happened.max(happened);
        let refused = came.and_then(|came| came.refused.clone());
        match refused {
            Some(why) if self.persists && happened != Happened::Ended => {
                Judged::Lost(self.happened, How::NoStart(why))
            }
            Some(_) => Judged::SaysNothing,
            None => Judged::GoesOn,
        }
    }

    /// A second process wrote to the same disk.
    fn written_beside(&mut self, marks: &[String], taken: &Taken, seen: &Seen) -> Judged {
        self.written.extend(marks.iter().cloned());
        if !is_acknowledged(taken, seen) {
            return Judged::SaysNothing;
        }
        self.happened = self.happened.max(Happened::WrittenBeside);
        self.acknowledge(marks);
        Judged::GoesOn
    }

    fn acknowledge(&mut self, marks: &[String]) {
        let visible = marks.iter().enumerate().filter(|(place, _)| self.visible.contains(place));
        self.acknowledged.extend(visible.map(|(_, mark)| mark.clone()));
    }

    fn write(&mut self, marks: &[String], taken: &Taken, seen: &Seen) -> Judged {
        self.written.extend(marks.iter().cloned());
        match (is_acknowledged(taken, seen), self.in_trouble) {
            (true, true) => {
                self.acknowledge(marks);
                Judged::GoesOn
            }
            (true, false) => {
                self.last_write = marks.to_vec();
                Judged::GoesOn
            }
            // An error is the right answer then.
            (false, true) => Judged::GoesOn,
            (false, false) => Judged::SaysNothing,
        }
    }

    fn read(&mut self, taken: &Taken, seen: &Seen) -> Judged {
        let fatal = matches!(seen.answer, Answer::Silent | Answer::Gone { .. });
        if self.in_trouble || fatal {
            return if fatal { Judged::SaysNothing } else { Judged::GoesOn };
        }
        let happened = std::mem::replace(&mut self.happened, Happened::Nothing);
        let disturbed = happened > Happened::Ended;
        if seen.answer != Answer::Completed {
            let lost = self.persists && disturbed;
            return if lost { Judged::Lost(happened, How::Unreadable) } else { Judged::SaysNothing };
        }
        let text = answer(taken).to_lowercase();
        let now: BTreeSet<String> =
            self.written.iter().filter(|mark| text.contains(mark.as_str())).cloned().collect();
        let missing = !self.shown.is_subset(&now) || !self.acknowledged.is_subset(&now);
        if missing {
            return match self.persists && disturbed {
                true => Judged::Lost(happened, How::Missing),
                // It keeps nothing, or not for long.
                false => Judged::SaysNothing,
            };
        }
        let written = std::mem::take(&mut self.last_write);
        let places = written.iter().enumerate().filter(|(_, mark)| now.contains(*mark));
        self.visible.extend(places.map(|(place, _)| place));
        self.persists |= happened == Happened::Ended && !self.shown.is_empty();
        self.shown = now;
        self.acknowledged.clear();
        Judged::GoesOn
    }
}

fn is_acknowledged(taken: &Taken, seen: &Seen) -> bool {
    let fails = super::super::reply::message(taken).and_then(|said| failure_in_words(&said.result()?));
    seen.answer == Answer::Completed && fails.is_none()
}

impl KeepsWhatIsStored {
    fn charge(
        &self,
        case: &Case,
        recording: &Recording,
        place: usize,
        happened: Happened,
        how: How,
    ) -> Charge {
        let (part, after) = match happened {
            Happened::WrittenBeside => {
                ("second process", "a second process of the server stored something too")
            }
            Happened::Nothing | Happened::Ended | Happened::Killed => {
                ("killed", "the server was killed and started again")
            }
            Happened::KilledInCall => {
                ("killed in a call", "the server was killed in the middle of a call and started again")
            }
            Happened::DiskFull => ("full disk", "its disk was full for a while"),
            Happened::DiskReadOnly => ("read-only disk", "its files could not be written to for a while"),
            Happened::FileVanished => ("vanished file", "a file of its own was gone"),
        };
        let (what, message) = match &how {
            How::Missing => ("missing", format!("what was stored and acknowledged is gone after {after}")),
            How::Unreadable => {
                ("unreadable", format!("what was stored cannot be read any more after {after}"))
            }
            How::NoStart(_) => ("no start", format!("the server does not start any more after {after}")),
        };
        let cause = Cause::rule(self.name(), Some(&format!("{part}: {what}")));
        let mut charge = Charge::new(self.name(), Kind::DataLoss, cause, message);
        let advice = match happened {
            Happened::WrittenBeside => {
                charge.severity = Some(Severity::Medium);
                "Each client of a stdio server starts a process of its own, and they share its files: read the file again, and \
                 lock it, before each change, or use a database."
            }
            _ => {
                "Write to a new file and put it in the place of the old one, before the call is answered, and answer with an \
                 error where that fails."
            }
        };
        charge.details = format!(
            "After it ended as clients end it, the same server showed what was stored before. {advice}"
        );
        charge.needed = Some((0..=place).collect());
        let places: Vec<usize> = (0..=place).collect();
        let charge = charge.with("calls", all_told(case, recording, &places));
        match how {
            How::NoStart(why) => charge.with("start", why),
            How::Missing | How::Unreadable => charge,
        }
    }
}
