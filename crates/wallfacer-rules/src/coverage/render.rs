//! Writes a [`Coverage`] as a table for people or JSON for programs.

use super::{Cell, Coverage};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Names are cut to this in the table, so that a server cannot make it arbitrarily wide.
const MAX_NAME_CHARS: usize = 40;

pub fn human(coverage: &Coverage) -> String {
    let names: Vec<String> = coverage.tools.iter().map(|tool| shown(tool)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (index, pack) in coverage.packs.iter().enumerate() {
        text.push_str(&format!("{:width$}  {}╭ {}\n", "", "│ ".repeat(index), pack.pack));
    }
    for (row, name) in names.iter().enumerate() {
        let marks = coverage.packs.iter().filter_map(|pack| pack.cells.get(row)).map(mark);
        text.push_str(format!("{name:width$}  {}", marks.collect::<Vec<_>>().join(" ")).trim_end());
        text.push('\n');
    }
    text.push_str("\n● tried   ○ held back   · no rule about it\n");
    for (pack, reasons) in reasons(coverage) {
        for (why, tools) in reasons {
            text.push_str(&format!("{pack}: {} ({})\n", wallfacer_text::shown(why), counted(tools)));
        }
    }
    let open = coverage.uncovered();
    if !open.is_empty() {
        let open: Vec<_> = open.into_iter().map(shown).collect();
        text.push_str(&format!("\nNo pack reaches: {}\n", open.join(", ")));
    }
    text
}

pub fn json(coverage: &Coverage) -> String {
    let cell = |(tool, cell): (&String, &Cell)| match cell {
        Cell::Covered(rules) => json!({ "tool": tool, "state": "covered", "rules": rules }),
        Cell::Blocked(why) => json!({ "tool": tool, "state": "blocked", "why": why }),
        Cell::Empty(why) => json!({ "tool": tool, "state": "empty", "why": why }),
    };
    let packs: Vec<Value> = coverage
        .packs
        .iter()
        .map(|pack| {
            let cells: Vec<_> = coverage.tools.iter().zip(&pack.cells).map(cell).collect();
            json!({ "pack": pack.pack, "missing_tools": pack.missing, "tools": cells })
        })
        .collect();
    wallfacer_text::json(&format!(
        "{:#}\n",
        json!({ "packs": packs, "uncovered_tools": coverage.uncovered() })
    ))
}

fn mark(cell: &Cell) -> &'static str {
    match cell {
        Cell::Covered(_) => "●",
        Cell::Blocked(_) => "○",
        Cell::Empty(_) => "·",
    }
}

/// What is in the way, by pack, with how many tools it is in the way of.
fn reasons(coverage: &Coverage) -> BTreeMap<&str, BTreeMap<&str, usize>> {
    let mut found: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for pack in &coverage.packs {
        for cell in &pack.cells {
            if let Cell::Blocked(why) | Cell::Empty(why) = cell {
                *found.entry(&pack.pack).or_default().entry(why).or_default() += 1;
            }
        }
    }
    found
}

fn counted(tools: usize) -> String {
    if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") }
}

fn shown(name: &str) -> String {
    wallfacer_text::shortened(name, MAX_NAME_CHARS)
}
