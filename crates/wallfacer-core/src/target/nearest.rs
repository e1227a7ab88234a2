//! A misspelt word in, the known word that was probably meant out.

/// Longer words are compared by their beginning only, which keeps the table small.
const COMPARED_CHARS: usize = 64;

/// The closest of the known words, if one is close enough to be worth saying.
pub(super) fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = plain(typed);
    let tolerated = (typed.len() / 3).max(1);
    known
        .into_iter()
        .map(|word| (distance(&typed, &plain(word)), word))
        .filter(|(distance, _)| *distance <= tolerated)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// `Timeout-MS` and `timeout_ms` are the same word with different habits.
fn plain(word: &str) -> Vec<char> {
    word.chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .take(COMPARED_CHARS)
        .flat_map(char::to_lowercase)
        .collect()
}

/// How many letters must be put in, left out, changed or swapped with their neighbour.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut rows = vec![vec![0; to.len() + 1]; from.len() + 1];
    for (index, row) in rows.iter_mut().enumerate() {
        row[0] = index;
    }
    rows[0] = (0..=to.len()).collect();
    for row in 1..=from.len() {
        for column in 1..=to.len() {
            let changed = usize::from(from[row - 1] != to[column - 1]);
            let mut least = (rows[row - 1][column] + 1)
                .min(rows[row][column - 1] + 1)
                .min(rows[row - 1][column - 1] + changed);
            let swapped =
                row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1];
            if swapped {
                least = least.min(rows[row - 2][column - 2] + 1);
            }
            rows[row][column] = least;
        }
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 4] = ["command", "args", "timeout_ms", "url"];

    #[test]
    fn a_slip_of_the_fingers_finds_the_word() {
        for (typed, meant) in [
            ("comand", "command"),
            ("agrs", "args"),
            ("Timeout-MS", "timeout_ms"),
            ("timeoutms", "timeout_ms"),
        ] {
            assert_eq!(nearest(typed, WORDS), Some(meant), "{typed}");
        }
    }

    #[test]
    fn a_word_unlike_any_other_finds_nothing() {
        for typed in ["", "retries", "proxy", "x"] {
            assert_eq!(nearest(typed, WORDS), None, "{typed}");
        }
    }
}
