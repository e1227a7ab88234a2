//! Servers that end because of a call.

use super::death;
use super::scene::{Scene, Tool, World, count_words, failed, said};
use crate::answer::Answer;
use serde_json::json;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// Texts are longer than anyone tried who wrote a server with this limit.
const LONG: usize = 64 << 10;
/// Longer than whoever is in a hurry waits for an answer.
const A_WHILE: Duration = Duration::from_millis(1_200);
/// The last of the lines that a trace may name.
const LINES: usize = 90;

pub fn scene(flaw: &str) -> Option<Scene> {
    Some(match flaw {
        "crash-on-empty-text" => empty_text(),
        "crash-on-one-choice" => one_choice(),
        "crash-on-lowest-number" => lowest_number(),
        "crash-on-nested-maximum" => nested_maximum(),
        "crash-within-open-bounds" => within_open_bounds(),
        "crash-with-either-key" => either_key(),
        "crash-on-nul" => nul(),
        "crash-on-emoji" => emoji(),
        "crash-on-long-text" => long_text(),
        "crash-on-command" => command(),
        "crash-after-answer" => after_answer(),
        "crash-on-third-call" => third_call(),
        "crash-with-exit-zero" => exit_zero(),
        "crash-after-a-while" => a_while(),
        "crash-by-abort" => abort(),
        "crash-with-python-trace" => python_trace(),
        "crash-with-node-trace" => node_trace(),
        "crash-with-go-trace" => go_trace(),
        "crash-with-two-causes" => two_causes(),
        "crash-shared-by-three-tools" => three_tools(),
        "crash-on-every-call" => every_call(),
        "shutdown-tool" => shutdown(),
        "ends-what-it-is-told" => ends_processes(),
        _ => return None,
    })
}

/// What it says it does, so it is no crash.
/// Zero means all of its own group, as it does for `kill`.
fn ends_processes() -> Scene {
    let arguments = json!({"value": {"type": "integer", "minimum": 0, "maximum": 100}});
    let about = "Terminates the process with this number.";
    let tool = Tool::new("control", about, arguments, &["value"], |_| failed("there is no such process"));
    Scene::around(tool.except(
        |call| call.integer("value") == 0,
        |_| {
            let own = std::process::id().to_string();
            let _ended = std::process::Command::new("kill").args(["-TERM", &own]).status();
            Answer::Never
        },
    ))
}

fn shutdown() -> Scene {
    let about = "Shuts down the server.";
    let tool = Tool::new("control_mode", about, json!({}), &[], |_| said("not while others are connected"));
    Scene::around(tool.except(|_| true, |_| death::exit(0, "stopped as asked")))
}

fn empty_text() -> Scene {
    let arguments = json!({"title": {"type": "string"}});
    let tool = Tool::new("title_note", "Gives a note a title.", arguments, &["title"], |call| {
        said(&format!("titled in {} letters", call.text("title").chars().count()))
    });
    Scene::around(tool.except(
        |call| call.text("title").is_empty(),
        |_| death::panicked("title", "index out of bounds: the len is 0 but the index is 0"),
    ))
}

fn one_choice() -> Scene {
    let arguments = json!({
        "unit": {"type": "string", "enum": ["metre", "foot", "mile", "yard"]},
        "value": {"type": "number", "minimum": 0, "maximum": 1000},
    });
    let tool =
        Tool::new("convert_unit", "Converts a length to metres.", arguments, &["unit", "value"], |call| {
            let factor = match call.text("unit") {
                "foot" => 0.3048,
                "mile" => 1609.344,
                "yard" => 0.9144,
                _ => 1.0,
            };
            said(&format!("{} metres", factor * call.arguments["value"].as_f64().unwrap_or_default()))
        });
    Scene::around(tool.except(
        |call| call.text("unit") == "yard",
        |_| death::panicked("unit", "internal error: entered unreachable code"),
    ))
}

fn lowest_number() -> Scene {
    let arguments = json!({"step": {"type": "integer", "minimum": -100, "maximum": 100}});
    let tool = Tool::new("shift_cursor", "Shifts the cursor by some lines.", arguments, &["step"], |call| {
        said(&format!("at line {}", 500 + call.integer("step")))
    });
    Scene::around(tool.except(
        |call| call.integer("step") == -100,
        |_| death::panicked("cursor", "attempt to subtract with overflow"),
    ))
}

fn nested_maximum() -> Scene {
    let filter = json!({
        "type": "object",
        "properties": {
            "field": {"type": "string", "enum": ["title", "body"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 500},
        },
        "required": ["field", "limit"],
        "additionalProperties": false,
    });
    let arguments = json!({
        "query": {"type": "string", "maxLength": 200},
        "filters": {"type": "array", "items": filter, "minItems": 1, "maxItems": 3},
    });
    let tool = Tool::new("search_notes", "Searches the notes.", arguments, &["query", "filters"], |_| {
        said("nothing matches")
    });
    Scene::around(tool.except(
        |call| call.arguments["filters"][0]["limit"].as_f64() == Some(500.0),
        |_| death::panicked("search", "range end index 501 out of range for slice of length 500"),
    ))
}

/// Only 5, 10 and so on up to 95 are valid, so the bounds themselves are refused.
fn within_open_bounds() -> Scene {
    let width = json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 100, "multipleOf": 5});
    let tool =
        Tool::new("measure", "Measures a width.", json!({"width": width}), &["width"], |_| said("wide"));
    Scene::around(tool.except(
        |call| call.integer("width") == 95,
        |_| death::panicked("measure", "index out of bounds: the len is 19 but the index is 19"),
    ))
}

/// Either key will do, but none will not.
fn either_key() -> Scene {
    let arguments = json!({
        "name": {"type": "string", "minLength": 1, "maxLength": 40},
        "index": {"type": "integer", "minimum": 0, "maximum": 9},
    });
    let mut tool =
        Tool::new("describe_item", "Describes an item.", arguments, &[], |_| said("small and red"));
    tool.declared["inputSchema"]["anyOf"] = json!([{"required": ["name"]}, {"required": ["index"]}]);
    Scene::around(tool.except(
        |call| call.arguments.get("name").is_none() && call.integer("index") == 9,
        |_| death::panicked("item", "called `Option::unwrap()` on a `None` value"),
    ))
}

fn nul() -> Scene {
    let arguments = json!({"label": {"type": "string"}});
    let tool =
        Tool::new("label_page", "Puts a label on the page.", arguments, &["label"], |_| said("labelled"));
    Scene::around(tool.except(
        |call| call.text("label").contains('\0'),
        |_| death::panicked("label", "called `Result::unwrap()` on an `Err` value: NulError"),
    ))
}

fn emoji() -> Scene {
    let arguments = json!({"name": {"type": "string"}});
    let tool = Tool::new("greet_name", "Greets someone.", arguments, &["name"], |_| said("good day"));
    Scene::around(tool.except(
        |call| call.text("name").chars().any(|letter| letter as u32 > 0xffff),
        |_| death::panicked("greet", "byte index 1 is not a char boundary"),
    ))
}

fn long_text() -> Scene {
    let arguments = json!({"text": {"type": "string"}});
    let tool = Tool::new("scan_text", "Scans a text.", arguments, &["text"], |_| said("nothing unusual"));
    Scene::around(tool.except(
        |call| call.text("text").len() > LONG,
        |_| death::panicked("scan", "source slice length does not match destination slice length"),
    ))
}

fn command() -> Scene {
    let arguments = json!({
        "cmd": {"type": "string", "enum": ["up", "down", "status", "die"]},
        "verbose": {"type": "boolean"},
        "depth": {"type": "integer", "minimum": 0, "maximum": 9},
        "label": {"type": "string", "maxLength": 40},
    });
    let tool = Tool::new("control", "Controls the engine.", arguments, &[], |_| said("all is quiet"));
    Scene::around(tool.except(|call| call.text("cmd") == "die", |_| death::exit(9, "as you wish")))
}

fn after_answer() -> Scene {
    /// Long after the answer has gone out, soon enough that nothing else came between.
    const LATER: Duration = Duration::from_millis(50);
    let arguments = json!({"page": {"type": "string", "enum": ["first", "middle", "last"]}});
    let tool = Tool::new("open_page", "Opens a page.", arguments, &["page"], |_| said("opened"));
    Scene::around(tool.except(
        |call| call.text("page") == "last",
        |_| {
            thread::spawn(|| {
                thread::sleep(LATER);
                death::panicked("page", "the page was closed behind our back")
            });
            said("opened")
        },
    ))
}

fn third_call() -> Scene {
    let arguments = json!({"colour": {"type": "string", "enum": ["red", "green", "blue"]}});
    let tool = Tool::new("pick_colour", "Picks a colour.", arguments, &["colour"], |_| said("picked"));
    let dies = |world: &World| {
        if world.calls.load(Ordering::SeqCst) >= 3 {
            death::panicked("pool", "the pool of two connections is exhausted")
        }
    };
    Scene { before_each: Some(dies), ..Scene::around(tool) }
}

/// As a program does that writes down all it knows before it ends.
fn a_while() -> Scene {
    let arguments = json!({"count": {"type": "integer", "minimum": 0, "maximum": 20}});
    let tool = Tool::new("count_clock", "Counts what the clock strikes.", arguments, &["count"], |call| {
        said(&format!("{} times", call.integer("count")))
    });
    Scene::around(tool.except(
        |call| call.integer("count") == 0,
        |_| {
            thread::sleep(A_WHILE);
            death::panicked("clock", "attempt to divide by zero")
        },
    ))
}

fn exit_zero() -> Scene {
    let arguments = json!({"count": {"type": "integer", "minimum": 0, "maximum": 60}});
    let tool = Tool::new("tick", "Lets the clock tick.", arguments, &["count"], |_| said("tick"));
    Scene::around(tool.except(|call| call.integer("count") == 0, |_| death::exit(0, "no more work to do")))
}

fn abort() -> Scene {
    let arguments = json!({"shape": {"type": "string", "enum": ["circle", "square", "line"]}});
    let tool = Tool::new("draw_shape", "Draws a shape.", arguments, &["shape"], |_| said("drawn"));
    Scene::around(tool.except(|call| call.text("shape") == "line", |_| death::abort()))
}

/// A line that depends on the payload, as when many lines lead to the same fault.
fn line(payload: usize) -> usize {
    1 + payload % LINES
}

fn python_trace() -> Scene {
    let arguments = json!({"text": {"type": "string"}});
    let tool = Tool::new("parse_recipe", "Parses a recipe.", arguments, &["text"], |_| said("a recipe"));
    Scene::around(tool.except(
        |call| call.text("text").len() > 20,
        |call| {
            let at = line(call.text("text").len());
            death::python("parse_recipe", "split_steps", at, "IndexError: list index out of range")
        },
    ))
}

fn node_trace() -> Scene {
    let arguments = json!({"text": {"type": "string"}});
    let tool = Tool::new("render_page", "Renders a page.", arguments, &["text"], |_| said("rendered"));
    Scene::around(tool.except(
        |call| call.text("text").len() > 20,
        |call| {
            let words = "TypeError: Cannot read properties of undefined (reading 'length')";
            death::node("renderLine", line(call.text("text").len()), words)
        },
    ))
}

fn go_trace() -> Scene {
    let arguments = json!({"index": {"type": "integer", "minimum": 0, "maximum": 1000}});
    let tool = Tool::new("look_up", "Looks up an entry.", arguments, &["index"], |_| said("an entry"));
    Scene::around(tool.except(
        |call| call.integer("index") > 500,
        |call| {
            let index = call.integer("index").unsigned_abs() as usize;
            let words = format!("runtime error: index out of range [{index}] with length 500");
            death::go("lookUp", line(index), &words)
        },
    ))
}

fn two_causes() -> Scene {
    let arguments = json!({
        "label": {"type": "string", "maxLength": 40},
        "count": {"type": "integer", "minimum": 1, "maximum": 32},
    });
    let tool = Tool::new("draw_lines", "Draws lines.", arguments, &["label", "count"], |_| said("drawn"));
    let tool = tool.except(
        |call| call.text("label").is_empty(),
        |_| death::python("draw_lines", "first_letter", 40, "IndexError: string index out of range"),
    );
    Scene::around(tool.except(
        |call| call.integer("count") == 32,
        |_| death::python("draw_lines", "spacing", 71, "ZeroDivisionError: division by zero"),
    ))
}

fn three_tools() -> Scene {
    let renderer = |name: &str| {
        let arguments = json!({"title": {"type": "string"}});
        let tool = Tool::new(name, "Renders a paper.", arguments, &["title"], |_| said("rendered"));
        tool.except(
            |call| call.text("title").is_empty(),
            |_| death::python("render", "capitalised", 17, "IndexError: string index out of range"),
        )
    };
    Scene::of(vec![
        count_words(),
        renderer("render_invoice"),
        renderer("render_receipt"),
        renderer("render_letter"),
    ])
}

fn every_call() -> Scene {
    let arguments = json!({"detail": {"type": "boolean"}});
    let tool = Tool::new("status", "Tells how the server is.", arguments, &[], |_| said("all is well"));
    Scene::around(tool.except(|_| true, |_| death::panicked("status", "not yet implemented")))
}
