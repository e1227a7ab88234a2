//! Who knows the id of a session is taken for its client, so nobody must be able to guess one from others.

use super::{aftermath, disturbances};
use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Disturbance};
use crate::run::Recording;
use crate::target::Severity;

/// Ids from which something is concluded: two to learn a rule from, and two that it foretells.
const FEWEST: usize = 4;
/// So many bits can be tried out over a network; ids that are drawn at random have three times as many.
const FEW_BITS: f64 = 40.0;

pub struct HidesSessionIds;

impl Check for HidesSessionIds {
    fn name(&self) -> &'static str {
        "session-ids-cannot-be-guessed"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let opened = disturbances(case, recording).find_map(|(_, disturbance, taken)| match disturbance {
            Disturbance::Sessions { .. } => aftermath(taken),
            _ => None,
        });
        let Some(opened) = opened else { return Verdict::Holds };
        let ids = &opened.sessions;
        if ids.len() < FEWEST {
            let why = opened.impossible.clone();
            return Verdict::Unknown(why.unwrap_or_else(|| "the server has no sessions".to_owned()));
        }
        let Some((part, severity, message)) = guessed(ids) else { return Verdict::Holds };
        let cause = Cause::rule(self.name(), Some(part)).server_wide();
        let kind = Kind::Conformance { rule: self.name().to_owned() };
        let mut charge = Charge::new(self.name(), kind, cause, message);
        charge.severity = Some(severity);
        charge.details =
            "Whoever sends the id of a session goes on with it. Draw each id at random, such as a UUID of version 4."
                .to_owned();
        charge.references = vec![
            Reference { kind: ReferenceKind::Spec, text: "basic/transports#session-management".to_owned() },
            Reference { kind: ReferenceKind::Cwe, text: "CWE-340".to_owned() },
        ];
        Verdict::Broken(Box::new(charge.with("sessions", ids.join("\n"))))
    }
}

fn guessed(ids: &[String]) -> Option<(&'static str, Severity, String)> {
    let doubled = ids.iter().enumerate().any(|(place, id)| ids[..place].contains(id));
    if doubled {
        return Some(("the same twice", Severity::High, "two sessions are given the same id".to_owned()));
    }
    if is_counted(ids) {
        let message =
            "the ids of sessions are counted up: whoever opens one knows those of others".to_owned();
        return Some(("counted", Severity::Medium, message));
    }
    let bits = most_bits(ids);
    if bits >= FEW_BITS {
        return None;
    }
    let message =
        format!("the ids of sessions differ in so little that at most 2^{:.0} are possible", bits.ceil());
    Some(("few", Severity::Medium, message))
}

/// Whether each id is the one before and one number more, in decimal or hexadecimal digits.
fn is_counted(ids: &[String]) -> bool {
    [10, 16].into_iter().any(|radix| {
        let (start, end) = shared(ids, radix);
        let number = |id: &String| i128::from_str_radix(id.get(start..id.len() - end)?, radix).ok();
        let Some(numbers) = ids.iter().map(number).collect::<Option<Vec<i128>>>() else { return false };
        let steps: Vec<i128> = numbers.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
        steps.iter().all(|step| *step != 0 && *step == steps[0])
    })
}

/// How many bytes all ids have in common at their beginning and at their end; digits next to where they differ belong to the
/// number that is counted.
fn shared(ids: &[String], radix: u32) -> (usize, usize) {
    let is_digit = |byte: &u8| char::from(*byte).is_digit(radix);
    let shortest = ids.iter().map(String::len).min().unwrap_or_default();
    let first = ids[0].as_bytes();
    let alike = |place: usize| ids.iter().all(|id| id.as_bytes()[place] == first[place]);
    let mut start = (0..shortest).take_while(|place| alike(*place)).count();
    while start > 0 && is_digit(&first[start - 1]) {
        start -= 1;
    }
    let from_end = |id: &String, back: usize| id.as_bytes()[id.len() - 1 - back];
    let same = |back: &usize| ids.iter().all(|id| from_end(id, *back) == from_end(&ids[0], *back));
    let mut end = (0..shortest - start).take_while(same).count();
    while end > 0 && is_digit(&first[first.len() - end]) {
        end -= 1;
    }
    (start, end)
}

/// The bits that the ids differ in at most, by the places that are not always the same and the signs that stand there.
fn most_bits(ids: &[String]) -> f64 {
    let longest = ids.iter().map(String::len).max().unwrap_or_default();
    let at = |place: usize| ids.iter().map(move |id| id.as_bytes().get(place).copied());
    let varies = |place: &usize| at(*place).any(|byte| byte != at(*place).next().flatten());
    let places: Vec<usize> = (0..longest).filter(varies).collect();
    let signs: Vec<u8> = places.iter().flat_map(|place| at(*place)).flatten().collect();
    let all = |belongs: fn(&u8) -> bool| signs.iter().all(belongs);
    let kinds: f64 = match () {
        () if all(u8::is_ascii_digit) => 10.0,
        () if all(u8::is_ascii_hexdigit) => 16.0,
        () if all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit()) => 36.0,
        () => 64.0,
    };
    places.len() as f64 * kinds.log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(ids: &[&str]) -> Option<&'static str> {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        guessed(&ids).map(|(part, ..)| part)
    }

    #[test]
    fn what_is_drawn_at_random_cannot_be_guessed() {
        let drawn = [
            "9f1c2ab0-77e4-4c1d-9a55-0b1e6d2f4c88",
            "03d9e7c1-18b2-4f6a-b0c3-7ae51f90d264",
            "c47a6b5e-e2f0-4b97-8d1c-94f32a0be715",
            "5be08f3d-4a9c-4e25-a7f6-d81c3b60e92a",
        ];
        assert_eq!(part(&drawn), None);
    }

    #[test]
    fn counters_few_digits_and_the_same_id_twice_are_seen() {
        assert_eq!(part(&["session-9", "session-10", "session-11", "session-12"]), Some("counted"));
        assert_eq!(part(&["0x0fe-a", "0x0ff-a", "0x100-a", "0x101-a"]), Some("counted"));
        assert_eq!(part(&["4711", "0815", "1234", "9876"]), Some("few"));
        assert_eq!(part(&["aaaa", "bbbb", "cccc", "aaaa"]), Some("the same twice"));
    }

    #[test]
    fn ids_of_any_form_are_looked_at() {
        assert_eq!(part(&["", "1", "2", "3"]), Some("few"));
        assert!(part(&["ä1", "ö22", "ü333", "ß4444"]).is_some());
    }
}
