//! `fuzz --dry-run`: what would be called, and what not and why.

use std::fmt::Write;

use wallfacer_core::findings::Redaction;
use wallfacer_core::report::{Format, written};
use wallfacer_core::session::Foreseen;
use wallfacer_text::shown;

use super::output::RunOutput;
use crate::exit::{Exit, Failure};

/// Hands over what a run would do.
pub fn deliver(foreseen: &Foreseen, output: &RunOutput, redaction: &Redaction) -> Result<Exit, Failure> {
    let text = match output.format.0 {
        Format::Json => written(&serde_json::json!({ "dry_run": foreseen })),
        _ => human(foreseen),
    };
    output.deliver(&redaction.of(&text))
}

fn human(foreseen: &Foreseen) -> String {
    let Foreseen { tools, cases_per_tool, offers, frames, stored, not_tested } = foreseen;
    let mut text = String::from("Nothing was called. A run would try\n");
    let mut line = |count: usize, what: String| {
        if count > 0 {
            let _always_fits = writeln!(text, "  {what}");
        }
    };
    line(*stored, counted(*stored, "failure", "s of earlier runs", " of an earlier run"));
    line(*frames, counted(*frames, "malformed frame", "s", ""));
    line(
        *offers,
        counted(*offers, "request", "s for resources, prompts and completion", " for what is no tool"),
    );
    line(
        tools.len(),
        format!("{}, with up to {cases_per_tool} cases each", counted(tools.len(), "tool", "s", "")),
    );
    for tool in tools {
        line(1, format!("  {}", shown(tool)));
    }
    if !not_tested.is_empty() {
        text.push_str("\nIt would not try\n");
    }
    for left in not_tested {
        let _always_fits = writeln!(text, "  {}: {}", shown(&left.what), shown(&left.why));
    }
    text
}

/// A number of things, with what follows where they are several and where there is one.
fn counted(count: usize, thing: &str, several: &str, one: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { one } else { several })
}
