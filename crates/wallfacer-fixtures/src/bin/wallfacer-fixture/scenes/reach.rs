//! A correct server whose tools each take only what one must find out: from a refusal, a description, another tool's answer,
//! a file that is there, or a call that comes first.

use super::scene::{Call, Scene, Tool, failed, said, structured};
use crate::answer::Answer;
use crate::session::lock;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::SystemTime;

/// What was made in this process, by its id.
static PARCELS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static STAMPS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

pub fn scene(flaw: &str) -> Option<Scene> {
    let tools = vec![
        listed_choices(),
        told_kind(),
        told_limits(),
        told_pattern(),
        arguments_in_groups(),
        one_of_two(),
        lists_with_items(),
        described_in_the_text(),
        shown_as_json(),
        ends_in_csv(),
        makes_parcels(),
        inspects_parcels(),
        makes_stamps(),
        shows_stamps(),
        lists_shelves(),
        opens_shelves(),
        lists_kilns(),
        heats_kilns(),
        numbered_by_the_world(),
        as_many_as_needed(),
        one_cell(),
        on_one_host(),
        either_and_not_both(),
        all_in_one_object(),
        declares_nothing(),
        names_members_in_lines(),
        address_in_the_text(),
    ];
    match flaw {
        "reach" => Some(Scene::of(tools)),
        "reach-programs" => Some(Scene::of(vec![tunes_lutes(), rings_bells(), blows_horns()])),
        _ => None,
    }
}

/// Asks a shell for a program that no machine has.
fn tunes_lutes() -> Tool {
    Tool::new("tune_lute", "Tunes a lute.", json!({}), &[], |_| run("lutectl tune"))
}

/// Asks for one where it should lie.
fn rings_bells() -> Tool {
    Tool::new("ring_bell", "Rings a bell.", json!({}), &[], |_| run("/usr/bin/bellctl ring"))
}

/// Says in words that it failed, and calls it a success.
fn blows_horns() -> Tool {
    Tool::new("blow_horn", "Blows a horn.", json!({}), &[], |_| match run("hornctl blow") {
        Answer::Result(result) if result["isError"] == true => {
            let why = result["content"][0]["text"].as_str().unwrap_or_default();
            said(&format!("\u{274c} Failed to blow the horn\n\nError: {why}"))
        }
        done => done,
    })
}

fn run(line: &str) -> Answer {
    match Command::new("sh").args(["-c", line]).stdin(Stdio::null()).output() {
        Ok(done) if done.status.success() => said("done"),
        Ok(done) => failed(&format!("Command failed: {line}\n{}", String::from_utf8_lossy(&done.stderr))),
        Err(error) => failed(&error.to_string()),
    }
}

fn text() -> Value {
    json!({"type": "string"})
}

fn numbered_by_the_world() -> Tool {
    let work = json!({"work_id": {"type": "string", "description": "The DOI of the work"}});
    Tool::new("cite_work", "Cites a work.", work, &["work_id"], |call| match call.text("work_id") {
        work if work.starts_with("10.") && work.contains('/') => said("cited"),
        _ => failed("there is no such work"),
    })
}

fn as_many_as_needed() -> Tool {
    let colors = json!({"colors": {"type": "array", "items": {"type": "string"}}});
    Tool::new("mix_paint", "Mixes paint.", colors, &["colors"], |call| {
        match call.arguments["colors"].as_array().map_or(0, Vec::len) {
            3 => said("mixed"),
            _ => failed("a paint needs exactly 3 colors"),
        }
    })
}

fn one_cell() -> Tool {
    let cell = json!({"at": {"type": "string", "description": "Top-left cell."}});
    Tool::new("mark_square", "Marks a square.", cell, &["at"], |call| match call.text("at").as_bytes() {
        [letter, digit] if letter.is_ascii_uppercase() && digit.is_ascii_digit() => said("marked"),
        _ => failed("not a square"),
    })
}

fn on_one_host() -> Tool {
    Tool::new("read_manual", "Reads a manual.", json!({"url": text()}), &["url"], |call| {
        match call.text("url") {
            url if url.starts_with("https://manuals.beetles.example/") && url.ends_with(".html") => {
                said("read")
            }
            url => failed(&format!("url '{url}' must be on manuals.beetles.example and end with .html")),
        }
    })
}

fn either_and_not_both() -> Tool {
    let arguments = json!({"shore": text(), "depth": {"type": "integer"}});
    Tool::new("cast_net", "Casts a net.", arguments, &[], |call| {
        match (call.arguments.get("shore").is_some(), call.arguments.get("depth").is_some()) {
            (true, false) | (false, true) => said("cast"),
            _ => failed("Pass either shore or depth, not both and not neither."),
        }
    })
}

/// Whose arguments are all members of one, and who takes only one of two.
fn all_in_one_object() -> Tool {
    let held = json!({"type": "object", "properties": {"shore": text(), "buoy": text()}});
    Tool::new("drop_anchor", "Drops an anchor.", json!({"params": held}), &["params"], |call| {
        let given = &call.arguments["params"];
        match (given.get("shore").is_some(), given.get("buoy").is_some()) {
            (true, false) | (false, true) => said("dropped"),
            (true, true) => failed("That is one place too many."),
            _ => failed("Missing inputs. Please provide 1) shore or 2) buoy."),
        }
    })
}

fn address_in_the_text() -> Tool {
    let about = "Reads a leaflet.\n\n## Examples\n- https://leaflets.beetles.example/wings.html\n";
    Tool::new("read_leaflet", about, json!({"url": text()}), &["url"], |call| match call.text("url") {
        url if url.starts_with("https://leaflets.beetles.example/") => said("read"),
        _ => failed("the address is not one of those that are supported"),
    })
}

/// Its schema names no argument; its refusals do.
fn declares_nothing() -> Tool {
    let tool = Tool::new("hang_lamps", "Hangs lamps.", json!({}), &[], |call| {
        let is_list = call.arguments["hooks"].as_array().is_some_and(|hooks| !hooks.is_empty());
        let faults = json!([{ "expected": "array", "code": "invalid_type", "path": ["hooks"],
            "message": "Invalid input: expected array, received undefined" }]);
        match is_list {
            true => said("hung"),
            false => failed(&format!("Invalid arguments: {faults}")),
        }
    });
    tool.undeclared()
}

/// Its schema names no member of its argument; its refusals do, one to a line.
fn names_members_in_lines() -> Tool {
    let freight = json!({"freight": {"type": "object"}});
    Tool::new("load_barge", "Loads a barge.", freight, &["freight"], |call| {
        let freight = &call.arguments["freight"];
        let faults: Vec<String> = ["crates", "lashing"]
            .into_iter()
            .filter_map(|name| {
                match (name, freight.get(name)) {
                    ("crates", Some(crates)) if crates.is_array() => None,
                    ("lashing", Some(lashing)) if lashing.is_object() => None,
                    ("crates", Some(_)) => Some("must be an array"),
                    ("lashing", Some(_)) => Some("must be an object"),
                    _ => Some("is required"),
                }
                .map(|fault| format!("  • freight.{name}: freight.{name} {fault}"))
            })
            .collect();
        match faults.is_empty() {
            true => said("loaded"),
            false => failed(&format!("load_barge: Validation failed:\n{}", faults.join("\n"))),
        }
    })
}

/// An id that no other process gives.
fn new_id(letter: char) -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{letter}-{:x}", since.as_nanos())
}

fn listed_choices() -> Tool {
    Tool::new("measure_wall", "Measures a wall.", json!({"scale": text()}), &["scale"], |call| {
        let faults = json!([{ "received": call.text("scale"), "code": "invalid_enum_value",
            "options": ["span", "cubit"], "path": ["scale"], "message": "Invalid enum value" }]);
        match call.text("scale") {
            "span" | "cubit" => said("seven"),
            _ => failed(&serde_json::to_string_pretty(&faults).unwrap_or_default()),
        }
    })
}

fn told_kind() -> Tool {
    Tool::new(
        "price_of_tea",
        "Tells what tea costs.",
        json!({"money": text()}),
        &["money"],
        |call| match call.text("money") {
            "USD" | "EUR" | "JPY" => said("three"),
            other => failed(&format!("'{other}' is not a valid ISO 4217 currency code")),
        },
    )
}

fn told_limits() -> Tool {
    let whole = json!({"weight": {"type": "integer"}});
    Tool::new("weigh_bread", "Weighs bread.", whole, &["weight"], |call| match call.integer("weight") {
        4100..=4200 => said("done"),
        _ => failed("weight must be between 4100 and 4200"),
    })
}

fn told_pattern() -> Tool {
    Tool::new("find_seat", "Finds a seat.", json!({"seat": text()}), &["seat"], |call| {
        let seat: Vec<char> = call.text("seat").chars().collect();
        match seat[..] {
            ['R', row, '-', place] if row.is_ascii_digit() && place.is_ascii_uppercase() => said("free"),
            _ => failed("seat must match pattern ^R[0-9]-[A-Z]$"),
        }
    })
}

fn arguments_in_groups() -> Tool {
    let arguments = json!({
        "move": {"type": "string", "enum": ["lift", "turn"]},
        "angle": {"type": "integer", "description": "How far, for turn"},
    });
    Tool::new("handle_crane", "Handles a crane.", arguments, &["move"], |call| {
        match (call.text("move"), call.arguments.get("angle")) {
            ("turn", Some(_)) => said("turned"),
            ("turn", None) => failed("angle is required for turn"),
            _ => failed("the hook is stuck"),
        }
    })
}

fn one_of_two() -> Tool {
    let arguments = json!({"street": text(), "harbour": text()});
    Tool::new("way_to", "Tells the way.", arguments, &[], |call| {
        match call.text("street").is_empty() && call.text("harbour").is_empty() {
            true => failed("Either `street` or `harbour` must be provided"),
            false => said("straight on"),
        }
    })
}

fn lists_with_items() -> Tool {
    let item =
        json!({"type": "object", "properties": {"from": text(), "to": text()}, "required": ["from", "to"]});
    let arguments = json!({"bridges": {"type": "array", "items": item}});
    Tool::new("draw_map", "Draws a map.", arguments, &["bridges"], |call| {
        match call.arguments["bridges"].as_array().is_some_and(|bridges| !bridges.is_empty()) {
            true => said("drawn"),
            false => failed("there is nothing to draw"),
        }
    })
}

fn described_in_the_text() -> Tool {
    let about = "Looks up a ticket.\n\nArgs:\n    slip: The number on it, such as T-12\n";
    Tool::new("look_up_ticket", about, json!({"slip": text()}), &["slip"], |call| match call.text("slip") {
        "T-12" => said("row four"),
        _ => said("Error: no such ticket"),
    })
}

fn shown_as_json() -> Tool {
    let about = "Rings a bell. Example: {\"tower\": \"north\", \"times\": 3}";
    let arguments = json!({"tower": text(), "times": {"type": "integer"}});
    Tool::new("ring_bell", about, arguments, &["tower"], |call| match call.text("tower") {
        "north" => said("dong"),
        _ => failed("there is no such tower"),
    })
}

fn ends_in_csv() -> Tool {
    Tool::new("count_rows", "Counts rows.", json!({"path": text()}), &["path"], |call| {
        let path = call.text("path");
        if !path.ends_with(".csv") {
            return failed("path must end in .csv");
        }
        match std::fs::read_to_string(path) {
            Ok(rows) => said(&format!("{} rows", rows.lines().count())),
            Err(error) => failed(&format!("{path}: {error}")),
        }
    })
}

fn makes_parcels() -> Tool {
    Tool::new("create_parcel", "Makes a parcel.", json!({"label": text()}), &["label"], |_| {
        let id = new_id('p');
        lock(&PARCELS).insert(id.clone());
        said(&format!("Parcel created with ID: {id}"))
    })
}

fn known(call: &Call, name: &str, made: &Mutex<BTreeSet<String>>) -> Result<(), Answer> {
    let id = call.text(name);
    // A refusal in words that counts as a success, as many servers give it.
    if lock(made).contains(id) { Ok(()) } else { Err(said(&format!("Error: {id} not found"))) }
}

fn inspects_parcels() -> Tool {
    Tool::new("inspect_parcel", "Looks at a parcel.", json!({"parcel_id": text()}), &["parcel_id"], |call| {
        known(call, "parcel_id", &PARCELS).map_or_else(|refusal| refusal, |()| said("a small one"))
    })
}

fn makes_stamps() -> Tool {
    let arguments = json!({"parcel_id": text(), "value": {"type": "integer", "minimum": 1}});
    Tool::new("add_stamp", "Puts a stamp on a parcel.", arguments, &["parcel_id", "value"], |call| {
        if let Err(refusal) = known(call, "parcel_id", &PARCELS) {
            return refusal;
        }
        let id = new_id('s');
        lock(&STAMPS).insert(id.clone());
        structured(call, json!({"stampId": id}))
    })
}

fn shows_stamps() -> Tool {
    Tool::new("show_stamp", "Shows a stamp.", json!({"stampId": text()}), &["stampId"], |call| {
        known(call, "stampId", &STAMPS).map_or_else(|refusal| refusal, |()| said("a blue one"))
    })
}

fn lists_shelves() -> Tool {
    Tool::new("list_shelves", "Lists the shelves.", json!({}), &[], |_| {
        said("| shelf | books |\n|---|---|\n| upper-oak | 12 |\n| lower-ash | 7 |\n")
    })
}

fn opens_shelves() -> Tool {
    Tool::new("look_at_shelf", "Looks at one.", json!({"shelf": text()}), &["shelf"], |call| {
        match call.text("shelf") {
            "upper-oak" | "lower-ash" => said("dusty"),
            _ => failed("no such one"),
        }
    })
}

/// Gives ids of kilns beside other ids, and says so only by where they stand.
fn lists_kilns() -> Tool {
    Tool::new("list_kilns", "Lists what there is to bake and to fire in.", json!({}), &[], |_| {
        let ovens = json!([{ "id": "oven-31", "name": "left" }]);
        let kilns = json!([{ "id": "kiln-5554", "name": "Big kiln", "state": "cold" }]);
        said(&json!({ "ovens": ovens, "kilns": kilns }).to_string())
    })
}

/// Refuses in words, and calls it a success.
fn heats_kilns() -> Tool {
    Tool::new("heat", "Heats one up.", json!({ "kiln": text() }), &["kiln"], |call| match call.text("kiln") {
        "kiln-5554" => said("It gets warm."),
        other => said(&format!("Kiln \"{other}\" not found. Use list_kilns to see which there are.")),
    })
}
