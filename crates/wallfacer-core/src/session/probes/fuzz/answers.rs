//! Remembers how the valid calls of each tool were answered, and names the tools of which hardly more than the input checks
//! was tested.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::super::Notebook;
use crate::catalogue::Tool;
use crate::plan::Teaching;
use crate::summary::NotTested;

/// Fewer valid calls than this say nothing of how many succeed.
const FEW_CALLS: u64 = 10;
/// Where less than this part of the valid calls succeeds, hardly more than the input checks was tested.
const LOW_SUCCESS: f64 = 0.1;
/// How many refusals of one tool are told apart, and how many words and characters of one are shown.
const MAX_REFUSALS: usize = 32;
const MAX_WORDS_SHOWN: usize = 40;
const MAX_CHARS_SHOWN: usize = 160;

/// How the valid calls of each tool were answered.
#[derive(Debug, Default)]
pub struct ValidAnswers {
    /// What each tool needed that the sandbox does not have, in words, and how often.
    lacking: BTreeMap<String, (String, u64)>,
    /// The words with which its calls were refused, and how often.
    refusals: BTreeMap<String, BTreeMap<String, u64>>,
    /// Tools of which at least one call did what it was asked to.
    reached: BTreeSet<String>,
}

impl ValidAnswers {
    pub fn note(&mut self, tool: &str, completed: bool, teaching: &Teaching, lacking: Option<String>) {
        if let Some(why) = lacking {
            self.lacking.entry(tool.to_owned()).or_insert((why, 0)).1 += 1;
        }
        match teaching {
            Teaching::Refusal(text) => {
                let refusals = self.refusals.entry(tool.to_owned()).or_default();
                let text = in_a_line(text);
                if !text.is_empty() && (refusals.len() < MAX_REFUSALS || refusals.contains_key(&text)) {
                    *refusals.entry(text).or_default() += 1;
                }
            }
            _ if completed => drop(self.reached.insert(tool.to_owned())),
            _ => {}
        }
    }

    /// Reports each tool of which hardly more than the input checks was tested.
    pub fn report_low_success(&self, tools: &[Tool], notebook: &mut Notebook) {
        for tool in tools {
            let counts = notebook.tools.get(&tool.name).cloned().unwrap_or_default();
            let (valid, good) = (counts.valid_calls, counts.valid_completed);
            // What the sandbox lacked only now and then is not what keeps the tool from working.
            let lacked = self.lacking.get(&tool.name).filter(|(_, times)| times * 2 > valid);
            let low = valid >= FEW_CALLS && (good as f64) < LOW_SUCCESS * valid as f64;
            let why = match good {
                0 if valid > 0 && tool.is_a_task() => {
                    notebook.not_tested.insert(NotTested::only_as_task(&tool.name));
                    continue;
                }
                0 if lacked.is_some() => {
                    lacked.into_iter().for_each(|(why, _)| notebook.leave_out(&tool.name, why));
                    continue;
                }
                0 if valid > 0 => {
                    format!("none of its valid calls succeeded{}", self.most_common_refusal(&tool.name))
                }
                _ if !self.reached.contains(&tool.name) && self.refusals.contains_key(&tool.name) => {
                    let said = self.most_common_refusal(&tool.name);
                    notebook.none_worked(&tool.name);
                    format!("all answers to its valid calls tell of a failure, though not as an error{said}")
                }
                _ if low => format!("only {good} of its {valid} valid calls succeeded"),
                _ => continue,
            };
            let why = format!("{why}, so little is known of what it does when it works");
            notebook.leave_out(&tool.name, &why);
        }
    }

    /// What a tool was refused with most often, in the server's own words.
    fn most_common_refusal(&self, tool: &str) -> String {
        let refusals = self.refusals.get(tool).into_iter().flatten();
        let most = refusals.max_by_key(|(text, count)| (**count, Reverse(text.len())));
        most.map(|(text, _)| format!(" (the server says: \"{text}\")")).unwrap_or_default()
    }
}

/// The beginning of a text, in one line.
fn in_a_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(MAX_WORDS_SHOWN).collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_CHARS_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
