//! Turns JSON with comments and trailing commas, as editors let people write it, into plain JSON with every byte left
//! in its place.

/// Comments and trailing commas become spaces, so that a position in the result is one in the file.
pub(super) fn plain(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut comma = None;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = string_end(&bytes, at);
                comma = None;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = blank(&mut bytes, at, line_end),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at = blank(&mut bytes, at, comment_end),
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    String::from_utf8(bytes).expect("whole characters were replaced by spaces")
}

/// The place of the closing quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// Overwrites a comment and gives the place of its last byte.
fn blank(bytes: &mut [u8], start: usize, end: fn(&[u8], usize) -> usize) -> usize {
    let end = end(bytes, start);
    for byte in bytes[start..end].iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
    end - 1
}

fn line_end(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| start + length)
}

fn comment_end(bytes: &[u8], start: usize) -> usize {
    let inside = start + 2;
    let close = bytes[inside..].windows(2).position(|pair| pair == b"*/");
    close.map_or(bytes.len(), |length| inside + length + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<serde_json::Value, serde_json::Error> {
        serde_json::from_str(&plain(text))
    }

    #[test]
    fn comments_and_trailing_commas_are_taken_for_nothing() {
        let text = "// ä\n{ \"a\": [1, 2, /* , ] */ ], // }\n \"b\": \"// no /* comment */ ,]\\\"\", }";
        let value = read(text).unwrap();
        assert_eq!(value["a"][1], 2);
        assert_eq!(value["b"], "// no /* comment */ ,]\"");
        assert_eq!(plain(text).len(), text.len());
    }

    #[test]
    fn plain_json_is_not_changed() {
        let text = r#"{"a":[1,2],"b":"\\","c":{}}"#;
        assert_eq!(plain(text), text);
    }

    #[test]
    fn what_is_wrong_stays_wrong() {
        for text in ["{,}x", "[1 2]", "\"open", "/* open", "/", "[,,]", "", "\"\\"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
