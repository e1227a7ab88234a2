//! Writes a moment as RFC 3339 in UTC, to the second: such texts sort as the moments do.

use std::time::{SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;
/// Days of 400 years, after which the calendar repeats.
const ERA: u64 = 146_097;
/// Days from the first of March of the year 0 to the first of January 1970.
const TO_EPOCH: u64 = 719_468;

/// A clock that stands before 1970 gives 1970.
pub fn rfc3339(moment: SystemTime) -> String {
    let seconds = moment.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = date(seconds / DAY);
    let time = seconds % DAY;
    let (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Years are counted from March, so that the odd day is the last one.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + TO_EPOCH;
    let of_era = days % ERA;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, after) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (days / ERA * 400 + year + after, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn moments_are_told_as_the_calendar_does() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_767_323_045, "2026-01-02T03:04:05Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
        assert_eq!(rfc3339(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00Z");
    }
}
