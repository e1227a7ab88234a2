//! Lists the simpler sequences next to a sequence of draws, by number: without a run of draws, with a run of zeros,
//! with one draw made smaller.

/// Longest runs first.
const RUNS: [usize; 6] = [64, 16, 8, 4, 2, 1];

/// The numbered edit; nothing beyond the last one.
pub(super) fn edit(draws: &[u64], mut number: usize) -> Option<Vec<u64>> {
    for delete in [true, false] {
        for run in RUNS {
            let places = draws.len().div_ceil(run);
            if number < places {
                return Some(without_run(draws, number * run, run, delete));
            }
            number -= places;
        }
    }
    let (place, way) = (number / 2, number % 2);
    let draw = *draws.get(place)?;
    let mut edited = draws.to_vec();
    edited[place] = if way == 0 { draw / 2 } else { draw.saturating_sub(1) };
    Some(edited)
}

fn without_run(draws: &[u64], start: usize, run: usize, delete: bool) -> Vec<u64> {
    let end = (start + run).min(draws.len());
    let mut edited = draws.to_vec();
    if delete {
        edited.drain(start..end);
    } else {
        edited[start..end].fill(0);
    }
    edited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edits_of_a_sequence_come_to_an_end() {
        let draws = [5, 0, 7];
        let edits: Vec<Vec<u64>> = (0..).map_while(|number| edit(&draws, number)).collect();
        assert!(edits.contains(&vec![]));
        assert!(edits.contains(&vec![5, 0]));
        assert!(edits.contains(&vec![0, 0, 0]));
        assert!(edits.contains(&vec![5, 0, 3]));
        assert!(edits.contains(&vec![4, 0, 7]));
        assert!(edits.len() < 40);
    }
}
