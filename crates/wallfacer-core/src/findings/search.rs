//! Finds known secrets in a text, however they are written there. Built once for a run, for it is asked for every text.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem;

use super::encodings::{LAYERS, encodings};
use super::escapes::{CUT, Unescaped, unbroken, unescape};

/// A shorter secret may be part of a word in another letter case; it is looked for exactly as it is.
const SHORTEST_IN_ANY_CASE: usize = 8;
/// A shorter beginning of a secret tells nothing, and would be found in ordinary words.
const SHORTEST_BEGINNING: usize = 4;
/// What is looked at before a cut.
const LONGEST_BEGINNING: usize = 512;

/// What to look for.
#[derive(Debug, Clone, Default)]
pub struct SecretSearch(Option<Arc<Automata>>);

#[derive(Debug)]
struct Automata {
    any_case: Forms,
    exact: Forms,
    /// All forms in small letters and in order, with the number of their secrets.
    beginnings: Vec<(Vec<u8>, usize)>,
    /// The first letters of each, because most places before a cut begin with none of them.
    openings: HashSet<[u8; SHORTEST_BEGINNING]>,
}

#[derive(Debug)]
struct Forms {
    automaton: AhoCorasick,
    /// The number of the secret that each is a form of.
    secrets: Vec<usize>,
}

/// Where a secret stands, or some of it before a cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    pub at: Range<usize>,
    /// Its number among those that are looked for.
    pub secret: usize,
}

impl SecretSearch {
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> SecretSearch {
        let (mut any_case, mut exact) = (Vec::new(), Vec::new());
        for (number, secret) in secrets.into_iter().enumerate().filter(|(_, secret)| !secret.is_empty()) {
            let is_long = |form: &[u8]| form.len() >= SHORTEST_IN_ANY_CASE;
            for form in std::iter::once(secret.as_bytes().to_vec()).chain(encodings(secret)) {
                if is_long(&form) { &mut any_case } else { &mut exact }.push((form, number));
            }
        }
        if any_case.is_empty() && exact.is_empty() {
            return SecretSearch(None);
        }
        let all = any_case.iter().chain(&exact);
        let mut beginnings: Vec<_> = all.map(|(form, number)| (form.to_ascii_lowercase(), *number)).collect();
        beginnings.sort();
        let openings = beginnings.iter().filter_map(|(form, _)| form.first_chunk().copied()).collect();
        let (any_case, exact) = (Forms::new(any_case, true), Forms::new(exact, false));
        let automata = Automata { any_case, exact, beginnings, openings };
        SecretSearch(Some(Arc::new(automata)))
    }

    /// All places, in order and apart from each other. Of what overlaps, all is gone.
    pub fn find(&self, text: &str) -> Vec<Sighting> {
        let Some(automata) = &self.0 else { return Vec::new() };
        let mut found = automata.find_in_lines(text.as_bytes());
        let mut layers: Vec<Unescaped> = Vec::new();
        for _ in 0..LAYERS {
            let above = layers.last().map_or(text.as_bytes(), |layer| &layer.bytes);
            let Some(layer) = unescape(above) else { break };
            let places = automata.find_in_lines(&layer.bytes);
            layers.push(layer);
            found.extend(places.into_iter().map(|Sighting { at, secret }| {
                let at = layers.iter().rev().fold(at, |at, layer| layer.written(&at));
                Sighting { at: on_borders(text, at), secret }
            }));
        }
        merged(found)
    }

    pub fn occurs_in(&self, text: &str) -> bool {
        !self.find(text).is_empty()
    }

    /// The text with a mark in the place of each secret, by its number.
    pub fn replace<'a>(&self, text: &str, mark: impl Fn(usize) -> &'a str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut done = 0;
        for Sighting { at, secret } in self.find(text) {
            shown.push_str(&text[done..at.start]);
            shown.push_str(mark(secret));
            done = at.end;
        }
        shown.push_str(&text[done..]);
        shown
    }
}

impl Automata {
    /// Also what is broken into lines.
    fn find_in_lines(&self, text: &[u8]) -> Vec<Sighting> {
        let mut found = self.find(text);
        if let Some(whole) = unbroken(text) {
            let places = self.find(&whole.bytes).into_iter();
            found.extend(places.map(|Sighting { at, secret }| Sighting { at: whole.written(&at), secret }));
        }
        found
    }

    fn find(&self, text: &[u8]) -> Vec<Sighting> {
        let mut found = Vec::new();
        for forms in [&self.any_case, &self.exact] {
            let places = forms.automaton.find_overlapping_iter(text).map(|place| Sighting {
                at: place.range(),
                secret: forms.secrets[place.pattern().as_usize()],
            });
            // A text may hold one secret a million times over itself.
            for place in places {
                match found.last_mut() {
                    Some(Sighting { at, secret })
                        if *secret == place.secret
                            && place.at.start < at.end
                            && at.start <= place.at.start =>
                    {
                        at.end = at.end.max(place.at.end)
                    }
                    _ => found.push(place),
                }
            }
        }
        found.extend(memmem::find_iter(text, CUT).filter_map(|cut| self.beginning(text, cut)));
        found
    }

    /// What a cut left of a secret.
    fn beginning(&self, text: &[u8], cut: usize) -> Option<Sighting> {
        let window = text[cut.saturating_sub(LONGEST_BEGINNING)..cut].to_ascii_lowercase();
        let openings = window.windows(SHORTEST_BEGINNING).enumerate();
        let mut starts =
            openings.filter(|(_, letters)| self.openings.contains(*letters)).map(|(start, _)| start);
        starts.find_map(|start| {
            let left = &window[start..];
            let next = self.beginnings.partition_point(|(form, _)| &form[..] < left);
            let (form, secret) = self.beginnings.get(next)?;
            form.starts_with(left).then(|| Sighting { at: cut - left.len()..cut, secret: *secret })
        })
    }
}

impl Forms {
    fn new(forms: Vec<(Vec<u8>, usize)>, any_case: bool) -> Forms {
        let (forms, secrets): (Vec<_>, Vec<_>) = forms.into_iter().unzip();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(any_case)
            .build(forms)
            .expect("the forms of a few hundred secrets have far fewer states than there may be");
        Forms { automaton, secrets }
    }
}

/// The place with whole letters at its ends.
fn on_borders(text: &str, at: Range<usize>) -> Range<usize> {
    let start = (0..=at.start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let end = (at.end..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    start..end
}

fn merged(mut found: Vec<Sighting>) -> Vec<Sighting> {
    // Of two that begin at one place the longer one gives its name.
    found.sort_by_key(|sighting| (sighting.at.start, std::cmp::Reverse(sighting.at.end)));
    let mut apart: Vec<Sighting> = Vec::new();
    for sighting in found {
        match apart.last_mut() {
            Some(last) if sighting.at.start < last.at.end => last.at.end = last.at.end.max(sighting.at.end),
            _ => apart.push(sighting),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

    const MARK: &str = "[gone]";
    const ROUNDS: u64 = 2_000;

    fn shown(secrets: &[&str], text: &str) -> String {
        SecretSearch::new(secrets.iter().copied()).replace(text, |_| MARK)
    }

    /// Numbers that look random and are the same each time.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, most: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % most as u64) as usize
        }

        fn word(&mut self, letters: &str, least: usize, more: usize) -> String {
            let letters: Vec<char> = letters.chars().collect();
            let length = least + self.below(more);
            (0..length).map(|_| letters[self.below(letters.len())]).collect()
        }
    }

    const ALPHABETS: [&str; 6] = [
        "abcdefghijklmnopqrstuvwxyz",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "0123456789abcdef",
        "abcXYZ0189-_.~",
        "aZ9+/=%&\\\"'<> ;:@?#",
        "aäéßあ😀Zz0 \"\\",
    ];

    fn percent(secret: &str, all: bool, upper: bool) -> String {
        let plain = |byte: u8| !all && (byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte));
        let hex = |byte: u8| if upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") };
        secret
            .bytes()
            .map(|byte| if plain(byte) { char::from(byte).to_string() } else { hex(byte) })
            .collect()
    }

    fn json(text: &str) -> String {
        let text = serde_json::Value::from(text).to_string();
        text[1..text.len() - 1].to_owned()
    }

    fn html(secret: &str) -> String {
        let named = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        named.replace('"', "&quot;").replace('\'', "&#39;")
    }

    /// The secret in some form, and what of other bytes may be left around it.
    fn written(secret: &str, dice: &mut Dice) -> (String, usize) {
        let hex = || secret.bytes().map(|byte| format!("{byte:02x}"));
        let plain = |text: String| (text, 0);
        match dice.below(26) {
            0 => plain(secret.to_owned()),
            1 => plain(secret.to_ascii_uppercase()),
            2 => plain(secret.to_ascii_lowercase()),
            3 => plain(hex().collect()),
            4 => plain(hex().collect::<String>().to_uppercase()),
            5 => plain(hex().collect::<Vec<_>>().join(":")),
            6 => plain(percent(secret, false, true)),
            7 => plain(percent(secret, true, dice.below(2) == 0)),
            8 => plain(json(secret)),
            9 => plain(json(&json(secret))),
            10 => plain(secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()),
            11 => plain(secret.bytes().map(|byte| format!("\\x{byte:02X}")).collect()),
            12 => plain(html(secret)),
            13 => plain(secret.chars().map(|letter| format!("&#x{:x};", u32::from(letter))).collect()),
            14 => plain(secret.chars().rev().collect()),
            15 => plain(json(&percent(secret, false, false))),
            16 => plain(secret.chars().map(|letter| format!("\\u{{{:x}}}", u32::from(letter))).collect()),
            // What stays is the brackets, or the last `\x00`.
            23 => (format!("{:?}", secret.as_bytes()), 2),
            24 => (format!("{:?}", secret.as_bytes()).replace(' ', ""), 2),
            25 if secret.is_ascii() && !secret.contains('\\') => {
                (secret.chars().map(|letter| format!("{letter}\\x00")).collect(), 4)
            }
            25 => plain(secret.to_owned()),
            kind @ (17 | 18) => {
                let (before, behind) = (dice.word("abc:", 0, 9), dice.word("xyz", 0, 5));
                let encoded = base32(format!("{before}{secret}{behind}").as_bytes());
                let encoded = if kind == 17 { encoded } else { in_lines(&encoded, dice) };
                let left = (before.len() + behind.len()) * 8 / 5 + 8;
                (encoded, left + LONGEST_BREAK * (left / 4 + 1))
            }
            kind => {
                let (before, behind) = (dice.word("abc:", 0, 9), dice.word("xyz", 0, 5));
                let whole = format!("{before}{secret}{behind}");
                let engine = [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD][dice.below(4)];
                // What is left: whole letters of the other bytes, and at each end one that the secret has a part in.
                let left = (before.len() + behind.len()) * 4 / 3 + 6;
                match kind {
                    19 | 20 => (in_lines(&engine.encode(whole), dice), left + LONGEST_BREAK * (left / 4 + 1)),
                    _ => (engine.encode(whole), left),
                }
            }
        }
    }

    /// As the usual programs write it, bit by bit.
    fn base32(bytes: &[u8]) -> String {
        let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
        let groups = bits.as_bytes().chunks(5).map(|bits| format!("{:0<5}", String::from_utf8_lossy(bits)));
        let letters = groups.map(|bits| usize::from_str_radix(&bits, 2).unwrap());
        letters.map(|letter| char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[letter])).collect()
    }

    const LONGEST_BREAK: usize = 6;

    /// Broken into lines, with breaks as files, mails and JSON have them.
    fn in_lines(text: &str, dice: &mut Dice) -> String {
        let (length, between) = (4 + dice.below(73), ["\n", "\r\n", "\n  ", "\\n", "\\r\\n", "%0D%0A"]);
        let lines: Vec<_> = text.as_bytes().chunks(length).map(String::from_utf8_lossy).collect();
        lines.join(between[dice.below(between.len())])
    }

    #[test]
    fn what_a_cut_left_of_an_escaped_secret_is_gone_wherever_it_was_cut() {
        let secret = "sk-live-Zx9Kq2Lm4Np8Rt6V";
        let numbered = |form: &dyn Fn(u8) -> String| secret.bytes().map(form).collect::<String>();
        for written in [
            numbered(&|byte| format!("&#{byte};")),
            numbered(&|byte| format!("\\x{byte:02x}")),
            numbered(&|byte| format!("%{byte:02x}")),
            numbered(&|byte| format!("\\u{{{byte:x}}}")),
        ] {
            for end in 5 * 6..written.len() {
                let shown = shown(&[secret], &format!("it is {}…", &written[..end]));
                assert!(shown.starts_with("it is [gone]") && shown.len() < 30, "{end}: {shown}");
            }
        }
        assert_eq!(shown(&[secret], "100%… &… \\… a&b…"), "100%… &… \\… a&b…");
    }

    #[test]
    fn a_random_secret_is_gone_in_every_form_and_what_stands_around_it_stays() {
        let mut dice = Dice(0x5eed);
        for round in 0..ROUNDS {
            let alphabet = ALPHABETS[dice.below(ALPHABETS.len())];
            let secrets: Vec<String> = (0..1 + dice.below(3))
                .map(|_| dice.word(alphabet, 8, 40).trim().to_owned())
                .filter(|secret| secret.len() >= 8)
                .collect();
            let Some(secret) = secrets.first() else { continue };
            let search = SecretSearch::new(secrets.iter().map(String::as_str));
            let (form, left) = written(secret, &mut dice);
            let around = "QRSTU vwxy, %\\&{}()\n";
            let (before, behind) =
                (dice.word(around, 0, 60) + "| ", format!(" |{}", dice.word(around, 0, 60)));
            let text = format!("{before}{form}{behind}");
            let shown = search.replace(&text, |_| MARK);
            let within = shown.strip_prefix(&before).and_then(|shown| shown.strip_suffix(&behind));
            let is_gone =
                within.is_some_and(|within| within.contains(MARK) && within.len() <= MARK.len() + left);
            assert!(is_gone, "round {round}: {secret:?} is written {text:?} and shown {shown:?}");
        }
    }

    #[test]
    fn a_text_without_the_secret_stays_as_it_is() {
        let search = SecretSearch::new(["hunter22-is-secret", "p%41ss\\word&amp;"]);
        for text in ["", "100% \\ of & hunter2", "cGxhaW4gdGV4dA==", "\\ud83d\\u0041%zz&#65;", "hunter22-is…"]
        {
            let wanted = if text.ends_with('…') { "[gone]…" } else { text };
            assert_eq!(search.replace(text, |_| MARK), wanted);
        }
    }

    #[test]
    fn a_secret_that_looks_escaped_is_found_as_it_is_and_escaped_again() {
        let secret = "p%41ss\\\"word&amp;x";
        for form in
            [secret.to_owned(), json(secret), percent(secret, false, true), html(secret), json(&json(secret))]
        {
            assert_eq!(shown(&[secret], &form), MARK, "{form}");
        }
    }

    #[test]
    fn secrets_that_overlap_are_all_gone() {
        assert_eq!(shown(&["abcdefgh", "efghijkl"], "x abcdefghijkl y"), "x [gone] y");
        assert_eq!(
            shown(&["hunter22", "hunter22-and-more"], "a hunter22-and-more, hunter22."),
            "a [gone], [gone]."
        );
        assert_eq!(shown(&["aaaaaaaa"], &"a".repeat(1_000)), MARK);
    }

    #[test]
    fn the_beginning_of_a_secret_before_a_cut_is_gone() {
        let secrets = ["hunter22"];
        assert_eq!(shown(&secrets, "token hunter2… and hunt…"), "token [gone]… and [gone]…");
        assert_eq!(shown(&secrets, "hun… hunter"), "hun… hunter");
        assert_eq!(shown(&secrets, "token \\u0068unter… and 68756e74…"), "token [gone]… and [gone]…");
    }

    #[test]
    fn a_short_secret_is_looked_for_in_its_own_letter_case() {
        assert_eq!(shown(&["Cat9Dog"], "cat9dog Cat9Dog 43617439446f67"), "cat9dog [gone] [gone]");
    }
}
