//! Reads the question in a DNS message, and writes the answer.

use std::net::IpAddr;

/// RFC 1035: no name is longer.
const MAX_NAME: usize = 255;
const MAX_LABEL: usize = 63;

const HEADER: usize = 12;

/// Short, as names that move have it; long enough that nobody asks twice within a call.
const LIFETIME_SECONDS: u32 = 60;

const A: u16 = 1;
const AAAA: u16 = 28;
const ANY: u16 = 255;
const INTERNET: u16 = 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    id: [u8; 2],
    recursion: bool,
    /// In lower case; what is no letter, digit or the like is written as `\DDD`.
    pub(super) name: String,
    record: u16,
    class: u16,
    /// The question as it was asked, which the answer repeats letter by letter.
    raw: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Addresses(Vec<IpAddr>),
    NoSuchName,
    /// What a resolver says that cannot reach the network.
    Failure,
}

/// `None` for what is no plain question.
pub(super) fn parse(message: &[u8]) -> Option<Question> {
    let header: &[u8; HEADER] = message.first_chunk()?;
    let is_query = header[2] & 0b1111_1000 == 0;
    let one_question = header[4..6] == [0, 1];
    if !is_query || !one_question {
        return None;
    }
    let body = &message[HEADER..];
    let (name, length) = parse_name(body)?;
    let [record_high, record_low, class_high, class_low]: [u8; 4] =
        body.get(length..length + 4)?.try_into().ok()?;
    Some(Question {
        id: [header[0], header[1]],
        recursion: header[2] & 1 != 0,
        name,
        record: u16::from_be_bytes([record_high, record_low]),
        class: u16::from_be_bytes([class_high, class_low]),
        raw: body[..length + 4].to_vec(),
    })
}

/// The name, and how many bytes it took. A question's name is never compressed: nothing stands before it.
fn parse_name(body: &[u8]) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut at = 0;
    loop {
        let length = usize::from(*body.get(at)?);
        at += 1;
        if length == 0 {
            return Some((name, at));
        }
        if length > MAX_LABEL || at + length > MAX_NAME {
            return None;
        }
        if !name.is_empty() {
            name.push('.');
        }
        body.get(at..at + length)?.iter().for_each(|byte| push_plain(&mut name, *byte));
        at += length;
    }
}

fn push_plain(name: &mut String, byte: u8) {
    if byte.is_ascii_alphanumeric() || b"-_*/".contains(&byte) {
        name.push(char::from(byte.to_ascii_lowercase()));
    } else {
        name.push_str(&format!("\\{byte:03}"));
    }
}

impl Question {
    /// The type asked for, by its common name.
    pub(super) fn record(&self) -> String {
        let name = match self.record {
            A => "A",
            2 => "NS",
            5 => "CNAME",
            6 => "SOA",
            12 => "PTR",
            15 => "MX",
            16 => "TXT",
            AAAA => "AAAA",
            33 => "SRV",
            65 => "HTTPS",
            ANY => "ANY",
            other => return format!("TYPE{other}"),
        };
        name.to_owned()
    }

    /// Whether an address can be the answer.
    pub(super) fn asks_for_address(&self) -> bool {
        self.class == INTERNET && matches!(self.record, A | AAAA | ANY)
    }

    /// Types other than addresses are answered with nothing: the name is there, but has no such record.
    pub(super) fn answer(&self, answer: &Answer) -> Vec<u8> {
        let code = match answer {
            Answer::Addresses(_) => 0,
            Answer::NoSuchName => 3,
            Answer::Failure => 2,
        };
        let records: Vec<Vec<u8>> = match answer {
            Answer::Addresses(addresses) => {
                addresses.iter().filter_map(|address| self.resource(*address)).collect()
            }
            Answer::NoSuchName | Answer::Failure => Vec::new(),
        };
        // There are as many as the caller has set for one name: fewer than a count can say.
        let count = u16::try_from(records.len()).unwrap_or(u16::MAX).to_be_bytes();
        let mut message = vec![self.id[0], self.id[1], 0x80 | u8::from(self.recursion), 0x80 | code];
        message.extend([0, 1, count[0], count[1], 0, 0, 0, 0]);
        message.extend(&self.raw);
        records.iter().for_each(|record| message.extend(record));
        message
    }

    fn resource(&self, address: IpAddr) -> Option<Vec<u8>> {
        let (record, data) = match address {
            IpAddr::V4(v4) if self.record != AAAA => (A, v4.octets().to_vec()),
            IpAddr::V6(v6) if self.record != A => (AAAA, v6.octets().to_vec()),
            _ => return None,
        };
        if !self.asks_for_address() {
            return None;
        }
        // The name is that of the question, right behind the header.
        let mut resource = vec![0xc0, 12];
        resource.extend(record.to_be_bytes());
        resource.extend(INTERNET.to_be_bytes());
        resource.extend(LIFETIME_SECONDS.to_be_bytes());
        // Four or sixteen.
        resource.extend([0, u8::try_from(data.len()).unwrap_or_default()]);
        resource.extend(data);
        Some(resource)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::hash::hash;

    fn ask(name: &str, record: u16) -> Vec<u8> {
        let mut message = vec![0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            message.push(u8::try_from(label.len()).unwrap());
            message.extend(label.as_bytes());
        }
        message.push(0);
        message.extend(record.to_be_bytes());
        message.extend(INTERNET.to_be_bytes());
        message
    }

    #[test]
    fn a_question_gives_its_name_and_type() {
        let question = parse(&ask("Evil.Example.com", AAAA)).unwrap();
        assert_eq!(question.name, "evil.example.com");
        assert_eq!(question.record(), "AAAA");
        assert_eq!(parse(&ask("a b.c", 999)).unwrap().name, "a\\032b.c");
        assert_eq!(parse(&ask("a.b", 999)).unwrap().record(), "TYPE999");
    }

    #[test]
    fn an_answer_repeats_the_question_and_carries_the_addresses_of_its_type() {
        let asked = ask("Evil.Example.com", A);
        let addresses = Answer::Addresses(vec!["23.1.2.3".parse().unwrap(), "2600::1".parse().unwrap()]);
        let answer = parse(&asked).unwrap().answer(&addresses);
        assert_eq!(answer[..4], [0xab, 0xcd, 0x81, 0x80]);
        assert_eq!(answer[4..12], [0, 1, 0, 1, 0, 0, 0, 0]);
        assert_eq!(answer[12..asked.len()], asked[12..]);
        assert_eq!(answer[asked.len()..], [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 23, 1, 2, 3]);
    }

    #[test]
    fn other_types_and_failures_are_answered_without_records() {
        let addresses = Answer::Addresses(vec!["23.1.2.3".parse().unwrap()]);
        for (record, answer, code) in
            [(16, addresses, 0), (A, Answer::NoSuchName, 3), (A, Answer::Failure, 2)]
        {
            let bytes = parse(&ask("a.example", record)).unwrap().answer(&answer);
            assert_eq!((bytes[3] & 15, &bytes[6..8]), (code, &[0, 0][..]));
        }
    }

    #[test]
    fn what_is_no_question_is_none() {
        let good = ask("evil.example.com", A);
        for length in 0..good.len() {
            assert_eq!(parse(&good[..length]), None);
        }
        let mut reply = good.clone();
        reply[2] = 0x81;
        assert_eq!(parse(&reply), None);
        let mut pointing_at_itself = good;
        pointing_at_itself[12] = 0xc0;
        assert_eq!(parse(&pointing_at_itself), None);
        assert_eq!(parse(&ask(&["abcdefgh"; 40].join("."), A)), None);
    }

    #[test]
    fn any_bytes_are_read_without_harm() {
        for round in 0..20_000_u64 {
            let mut message = ask("evil.example.com", A);
            for change in 0..4_u64 {
                let number = hash(round, &change.to_be_bytes());
                let at = usize::try_from(number >> 32).unwrap() % message.len();
                message[at] = number.to_be_bytes()[7];
            }
            message.truncate(usize::try_from(hash(round, b"cut")).unwrap() % 64);
            if let Some(question) = parse(&message) {
                assert!(question.name.len() <= 4 * MAX_NAME);
                assert!(question.answer(&Answer::NoSuchName).len() <= message.len());
            }
        }
    }
}
