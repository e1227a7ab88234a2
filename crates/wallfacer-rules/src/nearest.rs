//! Finds the known word that was probably meant by a misspelt one.

/// Longer words are compared by their beginning only, which keeps the table small.
const COMPARED_CHARS: usize = 64;

/// The closest of the known words, if one is close enough to be worth saying.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = plain(typed);
    let tolerated = (typed.len() / 3).max(1);
    known
        .into_iter()
        .map(|word| (distance(&typed, &plain(word)), word))
        .filter(|(distance, _)| *distance <= tolerated)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// `Name-Matches` and `name_matches` are the same word with different habits.
fn plain(word: &str) -> Vec<char> {
    word.chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .take(COMPARED_CHARS)
        .flat_map(char::to_lowercase)
        .collect()
}

/// How many letters must be put in, left out, changed or swapped with their neighbour.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let changed = last[column] + usize::from(letter != other);
            let mut least = changed.min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *letter == to[column - 1] && from[row - 1] == *other {
                least = least.min(before_last[column - 1] + 1);
            }
            current.push(least);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 4] = ["assert", "name", "name_matches", "path"];

    #[test]
    fn a_slip_of_the_fingers_finds_the_word() {
        for (typed, meant) in
            [("asert", "assert"), ("naem", "name"), ("nameMatches", "name_matches"), ("pth", "path")]
        {
            assert_eq!(nearest(typed, WORDS), Some(meant), "{typed}");
        }
    }

    #[test]
    fn a_word_unlike_any_other_finds_nothing() {
        for typed in ["", "severity", "x", "retries"] {
            assert_eq!(nearest(typed, WORDS), None, "{typed}");
        }
    }
}
