//! Durations and sizes as people write them: `500ms`, `30s`, `10m`, `1h`; `64KiB`, `1MiB`.

use std::time::Duration;

/// A duration; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let seconds = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{text}` is no duration; write 500ms, 30s, 10m or 1h")),
    };
    let number: f64 =
        number.parse().map_err(|_| format!("`{text}` is no duration; write 500ms, 30s, 10m or 1h"))?;
    match Duration::try_from_secs_f64(number * seconds) {
        Ok(Duration::ZERO) => Err(format!("`{text}` is no time to wait; write 500ms, 30s, 10m or 1h")),
        duration => duration.map_err(|_| format!("`{text}` is too long a time")),
    }
}

/// The time of one tool, as `NAME=30s`.
pub fn tool_duration(text: &str) -> Result<(String, Duration), String> {
    match text.rsplit_once('=') {
        Some((name, time)) if !name.is_empty() => Ok((name.to_owned(), duration(time)?)),
        _ => Err(format!("`{text}` does not name a tool and a time; write NAME=30s")),
    }
}

/// A number that says which random choices are made.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no whole number from 0 on; write 0, 1 or 42"))
}

/// A number of bytes.
pub fn size(text: &str) -> Result<usize, String> {
    let (number, unit) = split(text);
    let factor: usize = match unit {
        "" | "B" => 1,
        "KiB" | "K" => 1 << 10,
        "MiB" | "M" => 1 << 20,
        "GiB" | "G" => 1 << 30,
        _ => return Err(format!("`{text}` is no size; write 4096, 64KiB or 1MiB")),
    };
    let number: usize =
        number.parse().map_err(|_| format!("`{text}` is no size; write 4096, 64KiB or 1MiB"))?;
    number.checked_mul(factor).ok_or_else(|| format!("`{text}` is more than this machine can count"))
}

fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_their_units() {
        let cases = [("500ms", 500), ("30s", 30_000), ("2", 2_000), ("1.5m", 90_000), ("1h", 3_600_000)];
        for (text, millis) in cases {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "5 parsecs", "-1s", "1e99h", "..s", "0", "0ms"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_tool_and_its_time_are_told_apart_at_the_last_equals_sign() {
        assert_eq!(tool_duration("a=b=2s"), Ok(("a=b".to_owned(), Duration::from_secs(2))));
        for text in ["", "report", "=2s", "report=", "report=soon"] {
            assert!(tool_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_in_their_units() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("64KiB"), Ok(64 << 10));
        assert_eq!(size("1MiB"), Ok(1 << 20));
        for text in ["", "1.5MiB", "KiB", "1TB", "99999999999999999999GiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
