//! Writes a message as one server-sent event.

/// The message may hold line breaks, since flawed modes send what they like.
pub fn event(kind: Option<&str>, id: Option<&str>, message: &[u8]) -> Vec<u8> {
    let mut event = Vec::with_capacity(message.len() + 32);
    for (field, value) in [("event", kind), ("id", id)] {
        if let Some(value) = value {
            event.extend(format!("{field}: {value}\n").bytes());
        }
    }
    for line in message.split(|byte| *byte == b'\n') {
        event.extend(b"data: ");
        event.extend(line);
        event.push(b'\n');
    }
    event.push(b'\n');
    event
}

#[cfg(test)]
mod tests {
    use super::event;

    #[test]
    fn each_line_of_a_message_is_a_data_field() {
        assert_eq!(event(None, Some("s1-2"), b"{\n}"), b"id: s1-2\ndata: {\ndata: }\n\n");
    }
}
