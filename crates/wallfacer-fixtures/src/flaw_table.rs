//! The one table of flaws. A flaw that is not here cannot be started.

use crate::flaw::{Expect, Flaw};

pub fn flaws() -> &'static [Flaw] {
    FLAWS
}

static FLAWS: &[Flaw] = &[
    // The process ends because of a call.
    flaw("crash-on-empty-text", "Ends on an empty text.", &[crash("title_note")]),
    flaw("crash-on-one-choice", "Ends on one member of an enum.", &[crash("convert_unit")]),
    flaw("crash-on-lowest-number", "Ends on the lowest number it allows.", &[crash("shift_cursor")]),
    flaw(
        "crash-on-nested-maximum",
        "Ends when `filters[0].limit` is at its maximum.",
        &[crash("search_notes")],
    ),
    flaw(
        "crash-within-open-bounds",
        "Ends on the highest number between bounds that are excluded.",
        &[crash("measure")],
    ),
    flaw(
        "crash-with-either-key",
        "Needs one of two keys, and ends when it has only the second at its maximum.",
        &[crash("describe_item")],
    ),
    flaw("crash-on-nul", "Ends on a text that holds a NUL.", &[crash("label_page")]),
    flaw("crash-on-emoji", "Ends on a text that holds an emoji.", &[crash("greet_name")]),
    flaw("crash-on-long-text", "Ends on a text of more than 64 KiB.", &[crash("scan_text")]),
    flaw(
        "crash-on-command",
        "Ends when `cmd` is \"die\", whatever other optional keys there are: the smallest cause is {\"cmd\":\"die\"}.",
        &[crash("control")],
    ),
    flaw("crash-after-answer", "Answers one value correctly, and ends 50 ms later.", &[crash("open_page")]),
    flaw(
        "crash-on-third-call",
        "Ends on the third call of its life, whatever it is: a fault of no tool.",
        &[server("crash", CRITICAL)],
    ),
    flaw("crash-with-exit-zero", "Ends on one value with exit code 0.", &[crash("tick")]),
    flaw(
        "crash-after-a-while",
        "Ends on one value, but takes longer to end than the time limit for an answer: no hang.",
        &[crash("count_clock")],
    ),
    flaw("crash-by-abort", "Aborts on one value.", &[crash("draw_shape")]),
    flaw(
        "crash-with-python-trace",
        "Ends with a Python traceback, whose line numbers differ from text to text.",
        &[crash("parse_recipe")],
    ),
    flaw(
        "crash-with-node-trace",
        "Ends with a Node stack trace, whose line numbers differ from text to text.",
        &[crash("render_page")],
    ),
    flaw(
        "crash-with-go-trace",
        "Ends with a Go panic, whose line numbers differ from number to number.",
        &[crash("look_up")],
    ),
    flaw(
        "crash-with-two-causes",
        "Ends in one function on the highest number, in another on an empty text: two findings of one tool.",
        &[crash("draw_lines"), crash("draw_lines")],
    ),
    flaw(
        "crash-shared-by-three-tools",
        "Three tools end in the same function: one cause that shows in many tools is one finding of the server.",
        &[server("crash", CRITICAL)],
    ),
    flaw("crash-on-every-call", "Ends on every valid call of one tool.", &[crash("status")]),
    flaw(
        "ends-what-it-is-told",
        "Has a tool that ends processes, and ends the server where it is told of that: no crash.",
        &[],
    ),
    flaw("shutdown-tool", "Has a tool that says that it ends the server, and does: no crash.", &[]),
    // Nothing comes.
    flaw(
        "hang-on-one-value",
        "Never answers one value, and goes on answering others.",
        &[hang("pick_colour")],
    ),
    flaw("hang-of-whole-server", "Answers nothing any more after one value.", &[hang("pick_colour")]),
    flaw(
        "waits-to-be-told",
        "Has a tool that answers once a clock strikes, as it says, and none does; others go on: no hang.",
        &[],
    ),
    flaw(
        "hang-while-waiting",
        "Has a tool that says the same, and answers nobody else while it waits.",
        &[hang("read_clock")],
    ),
    flaw("sleeps-as-asked", "Sleeps as many seconds as it is asked to, up to 400: no hang.", &[]),
    flaw(
        "slow-with-length",
        "Takes 3 s for a text of 1 MiB, and less for less: slow, worth a note, but no hang.",
        &[],
    ),
    // What calls do to each other.
    flaw(
        "hang-in-company",
        "Never answers while another call is in flight; alone it always does: worth a note.",
        &[],
    ),
    together("crash-in-company", "Ends when three of its calls are in flight.", &[crash("render_page")]),
    flaw("slow-in-company", "Does one call after another, however many are in flight: no hang.", &[]),
    together(
        "store-torn-in-company",
        "Two calls that write at once leave a store that nobody can read any more.",
        &[Expect { kind: "race", tool: Some("title_note"), severity: HIGH }],
    ),
    flaw(
        "spoiled-by-one-value",
        "Takes one value without complaint, and another tool fails from then on.",
        &[Expect { kind: "internal_error", tool: Some("choose_mode"), severity: HIGH }],
    ),
    flaw("note-taken-away", "Moves a note away, which is then not found: as it should be.", &[]),
    // Bytes that are no answer.
    flaw(
        "noise-on-one-value",
        "Prints debugging text to standard output on one value.",
        &[garbled("choose_mode")],
    ),
    flaw("wrong-id-on-one-value", "Replies to one value under another id.", &[garbled("choose_mode")]),
    flaw(
        "result-and-error-on-one-value",
        "Replies to one value with result and error together.",
        &[garbled("choose_mode")],
    ),
    flaw(
        "unescaped-quote",
        "Does not escape the quotes of a text that it gives back.",
        &[garbled("reverse_text")],
    ),
    // Errors of its own.
    flaw("internal-error-on-one-value", "Answers one value with -32603.", &[internal("price_of")]),
    flaw(
        "python-trace-in-result",
        "Answers an empty text with a Python traceback.",
        &[internal("parse_recipe")],
    ),
    flaw(
        "node-trace-in-error",
        "Answers zero with an error that holds a Node stack trace.",
        &[internal("seat_guests")],
    ),
    flaw(
        "refuses-by-wrong-code",
        "Refuses with -32603, in three tools: a validator's list, a database's syntax error, a sentence. One finding of the server.",
        &[server("internal_error", LOW)],
    ),
    flaw(
        "checks-no-arguments",
        "Holds no arguments against its schemas, and fails over them in many ways, in two tools. One finding of the server.",
        &[server("internal_error", MEDIUM)],
    ),
    // What is not there where it runs.
    flaw("program-missing", "Starts a program that is not there, and says so with -32603 and a trace.", &[]),
    flaw("key-missing", "Has no key for its service, and says so with a trace.", &[]),
    flaw("page-for-data", "Gets a page where it expects data, and says so with -32603.", &[]),
    // Clean refusals.
    flaw("refuses-by-code", "Refuses all that is invalid with -32602.", &[]),
    flaw("refuses-in-a-sentence", "Refuses some values with `isError` and a plain sentence.", &[]),
    flaw(
        "network-unreachable",
        "Has no network, and says so on every valid call: one tool could not be tested.",
        &[],
    ),
    flaw("rate-limited", "Refuses every call after the fifth for its rate.", &[]),
    flaw("not-found", "Knows two pages, and says of all others that they are not found.", &[]),
    // Results that are not as declared.
    flaw(
        "output-of-wrong-type",
        "Gives a text where a number is declared, on one value.",
        &[output("forecast")],
    ),
    flaw("output-missing", "Gives no structured content on one value.", &[output("forecast")]),
    flaw(
        "output-refused-by-itself",
        "Says on one valid value that its own output is invalid.",
        &[output("forecast")],
    ),
    flaw(
        "output-refused-by-its-library",
        "Has a library that finds its own output invalid on one valid value, and calls that a validation error.",
        &[output("forecast")],
    ),
    flaw(
        "output-with-extra-property",
        "Gives a property that its schema forbids, on one value.",
        &[output("forecast")],
    ),
    flaw(
        "output-broken-once-stored",
        "Gives a property that its schema forbids, once another tool has stored something.",
        &[output("forecast")],
    ),
    // Arguments that it should have refused.
    flaw("ignores-maximum", "Takes numbers above the maximum.", &[accepts("choose_volume")]),
    flaw("ignores-enum", "Takes texts that are not in the enum.", &[accepts("sort_item")]),
    flaw("ignores-required", "Does without the argument that it requires.", &[accepts("sort_item")]),
    flaw(
        "ignores-additional-properties",
        "Takes arguments that it does not know.",
        &[accepts("choose_volume")],
    ),
    flaw("coerces-numbers", "Takes \"5\" for 5: worth a note.", &[]),
    flaw("null-for-left-out", "Takes null for an argument that may be left out: as good as that.", &[]),
    // Resources, prompts, completion.
    flaw(
        "crash-on-unknown-uri",
        "Ends when a resource is read that it does not have.",
        &[server("crash", CRITICAL)],
    ),
    flaw(
        "internal-error-without-prompt-argument",
        "Answers -32603 when a prompt lacks its argument.",
        &[internal("summary")],
    ),
    flaw(
        "tool-and-prompt-of-one-name",
        "Answers -32603 when the prompt lacks its argument, and to one value of the tool of the same name.",
        &[internal("summary"), internal("summary")],
    ),
    flaw("hang-on-completion", "Never completes an empty value.", &[hang("summary")]),
    // Secrets. The environment variable WALLFACER_FIXTURE_TOKEN holds one.
    flaw("secret-in-result", "Shows the token in a result.", &[leak("describe_account")]),
    flaw("secret-in-error", "Shows the token in the message of an error.", &[leak("describe_account")]),
    flaw(
        "secret-in-log",
        "Shows the token in a log notification, in the legacy era.",
        &[leak("describe_account")],
    ),
    flaw(
        "environment-by-design",
        "Prints the environment, as its name and description say: worth a note.",
        &[],
    ),
    // What is never given back.
    flaw("memory-growth", "Keeps 64 KiB of each call.", &[growth("thumbnail")]),
    flaw("file-growth", "Opens a file on each call and never closes it.", &[growth("thumbnail")]),
    flaw("child-growth", "Leaves a child process on each call.", &[growth("thumbnail")]),
    flaw("bounded-cache", "Keeps 64 KiB of each of the last 64 calls.", &[]),
    flaw("lazy-collector", "Leaves 24 KiB of each call lying, until these are 40 MiB.", &[]),
    // Frames that are no calls.
    on_pipes("dies-on-malformed-json", "Ends on a line that is no JSON.", &[server("crash", CRITICAL)]),
    on_pipes("dies-on-batch", "Ends on a batch.", &[server("crash", CRITICAL)]),
    flaw("dies-on-unknown-method", "Ends on a method that it does not know.", &[server("crash", CRITICAL)]),
    flaw("dies-on-params-array", "Ends when `params` is an array.", &[server("crash", CRITICAL)]),
    on_pipes("answers-notification", "Answers a notification.", &[server("protocol_error", HIGH)]),
    on_pipes(
        "mute-after-half-line",
        "Answers nothing any more after half a message.",
        &[server("hang", HIGH)],
    ),
    on_pipes(
        "loop-ends-on-bad-frame",
        "Ends on a line that is no JSON; after one of another version it answers nothing, and ends so with its input.",
        &[server("crash", CRITICAL)],
    ),
    on_pipes(
        "mute-and-always-ends-badly",
        "Answers nothing any more after half a message, and ends by an exception whenever its input does.",
        &[server("hang", HIGH)],
    ),
    on_pipes("ignores-garbage", "Says nothing to lines that are no messages, and goes on.", &[]),
    // A flaw behind values that have to be learned first.
    flaw(
        "learns-named-values",
        "Takes only the values that its refusal names, and ends when one comes with the highest number.",
        &[crash("paint_theme")],
    ),
    flaw(
        "learns-dates",
        "Takes only ISO dates, and ends when one comes with the lowest number.",
        &[crash("plan_visit")],
    ),
    flaw(
        "learns-ids",
        "Takes only ids that another tool lists, and ends when one comes with the highest number.",
        &[crash("read_note")],
    ),
    flaw(
        "learns-timezones",
        "Takes only known timezones, and ends when one comes with the last hour.",
        &[crash("clock")],
    ),
    flaw(
        "opens-by-degrees",
        "Says how many of six numbers are right, and ends when all are: only who follows the answers gets there.",
        &[crash("open_disk")],
    ),
    flaw(
        "waits-for-another-call",
        "Refuses until another call was made, which its refusal names, and ends on the highest number behind it.",
        &[crash("scan_page")],
    ),
    // What must not be called where nothing holds it back.
    flaw(
        "destructive-names",
        "Three tools that sound destructive write the file that WALLFACER_FIXTURE_MARKER names.",
        &[],
    ),
];

const CRITICAL: &str = "critical";
const HIGH: &str = "high";
const MEDIUM: &str = "medium";
const LOW: &str = "low";

const fn crash(tool: &'static str) -> Expect {
    Expect { kind: "crash", tool: Some(tool), severity: CRITICAL }
}

const fn hang(tool: &'static str) -> Expect {
    Expect { kind: "hang", tool: Some(tool), severity: HIGH }
}

const fn garbled(tool: &'static str) -> Expect {
    Expect { kind: "protocol_error", tool: Some(tool), severity: HIGH }
}

const fn internal(tool: &'static str) -> Expect {
    Expect { kind: "internal_error", tool: Some(tool), severity: MEDIUM }
}

const fn output(tool: &'static str) -> Expect {
    Expect { kind: "schema_violation", tool: Some(tool), severity: MEDIUM }
}

const fn accepts(tool: &'static str) -> Expect {
    Expect { kind: "accepted_invalid", tool: Some(tool), severity: LOW }
}

const fn leak(tool: &'static str) -> Expect {
    Expect { kind: "secret_leak", tool: Some(tool), severity: HIGH }
}

const fn growth(tool: &'static str) -> Expect {
    Expect { kind: "resource_growth", tool: Some(tool), severity: MEDIUM }
}

const fn server(kind: &'static str, severity: &'static str) -> Expect {
    Expect { kind, tool: None, severity }
}

const fn flaw(name: &'static str, about: &'static str, expected: &'static [Expect]) -> Flaw {
    Flaw { name, about, expected, http: true, together: false }
}

/// Seen only where several calls are in flight.
const fn together(name: &'static str, about: &'static str, expected: &'static [Expect]) -> Flaw {
    Flaw { name, about, expected, http: true, together: true }
}

/// Seen on standard input alone.
const fn on_pipes(name: &'static str, about: &'static str, expected: &'static [Expect]) -> Flaw {
    Flaw { name, about, expected, http: false, together: false }
}

#[cfg(test)]
mod tests {
    use super::flaws;
    use std::collections::BTreeSet;

    #[test]
    fn every_flaw_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = flaws().iter().map(|flaw| flaw.name).collect();
        assert_eq!(names.len(), flaws().len());
    }
}
