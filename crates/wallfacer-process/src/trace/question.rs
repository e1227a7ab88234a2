//! Reads from a datagram the name that it asks DNS for. Pure, and any bytes will do.

use std::fmt::Write;

/// The first question of a DNS message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Without the dot at the end. Bytes that do not belong in a name are shown as `\DDD`.
    pub name: String,
    /// 1 is A, 28 is AAAA, and so on.
    pub record: u16,
}

const HEADER_BYTES: usize = 12;

/// Where the header says that this is an answer, not a question.
const RESPONSE_BIT: u8 = 0x80;

/// The two upper bits of a label's length mean something else: no question begins with a pointer.
const MAX_LABEL: usize = 63;

/// All labels of a name and their lengths.
const MAX_NAME: usize = 255;

impl Question {
    /// `None` when the bytes are no DNS question.
    pub fn parse(message: &[u8]) -> Option<Self> {
        let (header, mut rest) = message.split_at_checked(HEADER_BYTES)?;
        let questions = u16::from_be_bytes([*header.get(4)?, *header.get(5)?]);
        if header.get(2)? & RESPONSE_BIT != 0 || questions == 0 {
            return None;
        }
        let mut name = String::new();
        let mut length = 0;
        loop {
            let (&size, after) = rest.split_first()?;
            let size = usize::from(size);
            length += size + 1;
            if size > MAX_LABEL || length > MAX_NAME {
                return None;
            }
            let (label, after) = after.split_at_checked(size)?;
            rest = after;
            if size == 0 {
                break;
            }
            if !name.is_empty() {
                name.push('.');
            }
            label.iter().for_each(|&byte| push(&mut name, byte));
        }
        let record = u16::from_be_bytes([*rest.first()?, *rest.get(1)?]);
        let class = u16::from_be_bytes([*rest.get(2)?, *rest.get(3)?]);
        // The class is what keeps other protocols from looking like a question. Its upper bit is used by mDNS.
        (class & 0x7fff == 1).then_some(Self { name, record })
    }
}

fn push(name: &mut String, byte: u8) {
    if byte.is_ascii_graphic() && byte != b'.' && byte != b'\\' {
        name.push(char::from(byte));
    } else {
        // Writing into a text does not fail.
        let _ = write!(name, "\\{byte:03}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(labels: &[&[u8]], record: u16) -> Vec<u8> {
        let mut message = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in labels {
            message.push(u8::try_from(label.len()).unwrap());
            message.extend_from_slice(label);
        }
        message.push(0);
        message.extend_from_slice(&record.to_be_bytes());
        message.extend_from_slice(&[0, 1]);
        message
    }

    #[test]
    fn a_question_is_read_with_its_type() {
        let question = Question::parse(&message(&[b"evil", b"example", b"com"], 28)).unwrap();
        assert_eq!((question.name.as_str(), question.record), ("evil.example.com", 28));
    }

    #[test]
    fn bytes_that_do_not_belong_in_a_name_are_escaped() {
        let question = Question::parse(&message(&[b"a.b\n"], 1)).unwrap();
        assert_eq!(question.name, "a\\046b\\010");
    }

    #[test]
    fn an_answer_is_no_question() {
        let mut answer = message(&[b"a"], 1);
        answer[2] |= RESPONSE_BIT;
        assert_eq!(Question::parse(&answer), None);
    }

    #[test]
    fn every_shorter_message_is_no_question() {
        let whole = message(&[b"evil", b"example"], 1);
        for length in 0..whole.len() {
            assert_eq!(Question::parse(&whole[..length]), None, "{length}");
        }
    }

    #[test]
    fn a_name_that_is_too_long_is_none() {
        let label = [b'x'; MAX_LABEL];
        assert!(Question::parse(&message(&[&label, &label, &label], 1)).is_some());
        assert_eq!(Question::parse(&message(&[&label, &label, &label, &label], 1)), None);
        assert_eq!(Question::parse(b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"), None);
    }
}
