//! Dates, times and durations by RFC 3339.

use crate::choices::Choices;

pub(super) fn date(choices: &mut Choices) -> String {
    // Recent years are what a server expects; the first choice is a plain one.
    let year = 2024 + choices.below(12) as i64 - if choices.one_in(8) { 40 } else { 0 };
    format!("{year:04}-{:02}-{:02}", 1 + choices.below(12), 1 + choices.below(28))
}

pub(super) fn time(choices: &mut Choices) -> String {
    let (hour, minute, second) = (choices.below(24), choices.below(60), choices.below(60));
    let fraction = if choices.one_in(4) { format!(".{}", choices.below(1000)) } else { String::new() };
    let offset = ["Z", "+00:00", "-05:00", "+05:30"][choices.index(4)];
    format!("{hour:02}:{minute:02}:{second:02}{fraction}{offset}")
}

pub(super) fn date_time(choices: &mut Choices) -> String {
    format!("{}T{}", date(choices), time(choices))
}

pub(super) fn duration(choices: &mut Choices) -> String {
    let count = 1 + choices.below(30);
    match choices.index(6) {
        0 => format!("P{count}D"),
        1 => format!("PT{count}H"),
        2 => format!("PT{count}M{}S", choices.below(60)),
        3 => format!("P{count}W"),
        4 => format!("P{count}Y{}M", choices.below(12)),
        _ => format!("P{count}DT{}H", choices.below(24)),
    }
}

pub(super) fn is_date(text: &str) -> bool {
    let [year, month, day] = text.split('-').collect::<Vec<_>>()[..] else { return false };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2)) else {
        return false;
    };
    (1..=12).contains(&month) && (1..=days(year, month)).contains(&day)
}

pub(super) fn is_date_time(text: &str) -> bool {
    let separator = text.get(10..11).is_some_and(|letter| letter.eq_ignore_ascii_case("t"));
    separator && is_date(&text[..10]) && is_time(&text[11..])
}

pub(super) fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else { return false };
    let [hour, minute, second] = clock.split(':').collect::<Vec<_>>()[..] else { return false };
    let (Some(hour), Some(minute), Some(second)) = (digits(hour, 2), digits(minute, 2), digits(second, 2))
    else {
        return false;
    };
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => {
            let end = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
            if end == 0 {
                return false;
            }
            &fraction[end..]
        }
        None => rest,
    };
    let Some(offset) = offset_minutes(rest) else { return false };
    // A leap second happens at the end of the day in UTC only.
    let utc = (i64::from(hour * 60 + minute) - offset).rem_euclid(24 * 60);
    hour < 24 && minute < 60 && (second < 60 || (second == 60 && utc == 24 * 60 - 1))
}

fn offset_minutes(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let (hour, minute) = text[1..].split_once(':')?;
    let (hour, minute) = (digits(hour, 2)?, digits(minute, 2)?);
    (hour < 24 && minute < 60).then(|| sign * i64::from(hour * 60 + minute))
}

pub(super) fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    let (date, time) = match rest.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (rest, None),
    };
    let weeks = date.strip_suffix('W').is_some_and(is_number) && time.is_none();
    let dated = in_order(date, "YMD");
    let timed = time.map(|time| in_order(time, "HMS"));
    weeks
        || match (dated, timed) {
            (Some(units), None) => units > 0,
            (Some(_), Some(Some(units))) => units > 0,
            _ => false,
        }
}

/// How many numbers with a unit there are; the units must follow each other without a gap.
fn in_order(text: &str, units: &str) -> Option<usize> {
    let mut found = Vec::new();
    let mut number = String::new();
    for character in text.chars() {
        if character.is_ascii_digit() {
            number.push(character);
            continue;
        }
        if number.is_empty() {
            return None;
        }
        number.clear();
        found.push(units.find(character)?);
    }
    let consecutive = found.windows(2).all(|pair| pair[1] == pair[0] + 1);
    (number.is_empty() && consecutive).then_some(found.len())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn digits(text: &str, count: usize) -> Option<u32> {
    (text.len() == count && is_number(text)).then(|| text.parse().ok()).flatten()
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
