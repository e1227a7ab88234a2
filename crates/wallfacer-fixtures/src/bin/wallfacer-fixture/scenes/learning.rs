//! Servers that take only what one must learn from them, with a flaw behind it.

use super::death;
use super::scene::{Call, Scene, Tool, count_words, failed, said, structured};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};

const THEMES: [&str; 2] = ["alpha", "beta"];
const NOTES: [&str; 3] = ["nt_8f3k2q", "nt_c07xw1", "nt_z5m9ab"];
const ZONES: [&str; 8] = [
    "UTC",
    "Europe/London",
    "Europe/Paris",
    "Europe/Berlin",
    "America/New_York",
    "America/Los_Angeles",
    "Asia/Tokyo",
    "Australia/Sydney",
];

pub fn scene(flaw: &str) -> Option<Scene> {
    Some(match flaw {
        "learns-named-values" => named_values(),
        "learns-dates" => dates(),
        "learns-ids" => ids(),
        "learns-timezones" => timezones(),
        "opens-by-degrees" => degrees(),
        "waits-for-another-call" => behind_another(),
        _ => return None,
    })
}

fn has_theme(call: &Call) -> bool {
    THEMES.contains(&call.text("theme"))
}

fn named_values() -> Scene {
    let arguments = json!({
        "theme": {"type": "string"},
        "layers": {"type": "integer", "minimum": 1, "maximum": 16},
    });
    let tool = Tool::new("paint_theme", "Paints a theme.", arguments, &["theme", "layers"], |call| {
        if has_theme(call) { said("painted") } else { failed("the theme must be one of: alpha, beta") }
    });
    Scene::around(tool.except(
        |call| has_theme(call) && call.integer("layers") == 16,
        |_| death::panicked("paint", "attempt to shift left with overflow"),
    ))
}

fn has_day(call: &Call) -> bool {
    is_date(call.text("day"))
}

/// Like 2026-07-28. Every month may have 31 days, which refuses fewer dates than a calendar would.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, length: usize| {
        let plain = part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| plain)
    };
    match parts[..] {
        [year, month, day] => {
            number(year, 4).is_some()
                && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
                && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
        }
        _ => false,
    }
}

fn dates() -> Scene {
    let arguments = json!({
        "day": {"type": "string"},
        "nights": {"type": "integer", "minimum": 0, "maximum": 30},
    });
    let tool = Tool::new("plan_visit", "Plans a visit.", arguments, &["day", "nights"], |call| {
        if has_day(call) { said("planned") } else { failed("not a valid ISO date (YYYY-MM-DD)") }
    });
    Scene::around(tool.except(
        |call| has_day(call) && call.integer("nights") == 0,
        |_| death::panicked("visit", "attempt to divide by zero"),
    ))
}

fn has_note(call: &Call) -> bool {
    NOTES.contains(&call.text("id"))
}

fn ids() -> Scene {
    let notes = Tool::new("list_notes", "Lists the notes.", json!({}), &[], |call| {
        let notes = NOTES.map(|id| json!({"id": id, "letters": id.len() * 100}));
        structured(call, json!({"notes": notes}))
    });
    let arguments = json!({
        "id": {"type": "string"},
        "length": {"type": "integer", "minimum": 1, "maximum": 4096},
    });
    let tool =
        Tool::new("read_note", "Reads the beginning of a note.", arguments, &["id", "length"], |call| {
            if has_note(call) { said("Dear diary") } else { failed("there is no such note") }
        });
    let tool = tool.except(
        |call| has_note(call) && call.integer("length") == 4096,
        |_| death::panicked("note", "range end index 4096 out of range for slice of length 900"),
    );
    Scene::of(vec![notes, tool, count_words()])
}

fn has_zone(call: &Call) -> bool {
    ZONES.contains(&call.text("zone"))
}

fn timezones() -> Scene {
    let arguments = json!({
        "zone": {"type": "string"},
        "hour": {"type": "integer", "minimum": 0, "maximum": 23},
    });
    let about = "Tells what an hour of UTC is elsewhere.";
    let tool = Tool::new("clock", about, arguments, &["zone", "hour"], |call| {
        if has_zone(call) { said("about noon") } else { failed("unknown timezone") }
    });
    Scene::around(tool.except(
        |call| has_zone(call) && call.integer("hour") == 23,
        |_| death::panicked("clock", "index out of bounds: the len is 24 but the index is 24"),
    ))
}

/// Each somewhere between the bounds, where no list of limits leads.
const SETTINGS: [(&str, i64); 6] =
    [("level", 4), ("depth", 2), ("width", 5), ("size", 3), ("length", 4), ("limit", 2)];

fn right_settings(call: &Call) -> usize {
    SETTINGS.iter().filter(|(name, right)| call.integer(name) == *right).count()
}

fn degrees() -> Scene {
    let setting = json!({"type": "integer", "minimum": 1, "maximum": 6});
    let arguments = SETTINGS.map(|(name, _)| (name.to_owned(), setting.clone()));
    let arguments = serde_json::Value::Object(arguments.into_iter().collect());
    let names = SETTINGS.map(|(name, _)| name);
    let about = "Opens the disk once all six settings are right.";
    let tool = Tool::new("open_disk", about, arguments, &names, |call| {
        said(
            [
                "none is right",
                "one is right",
                "two are right",
                "three are right",
                "four are right",
                "five are right",
                "all are right",
            ][right_settings(call)],
        )
    });
    Scene::around(tool.except(
        |call| right_settings(call) == SETTINGS.len(),
        |_| death::panicked("disk", "called `Option::unwrap()` on a `None` value"),
    ))
}

/// Whether a note was opened.
static OPEN: AtomicBool = AtomicBool::new(false);

fn behind_another() -> Scene {
    let name = json!({"name": {"type": "string"}});
    let open = Tool::new("open_note", "Opens a note.", name, &["name"], |_| {
        OPEN.store(true, Ordering::SeqCst);
        said("opened")
    });
    let page = json!({"page": {"type": "integer", "minimum": 1, "maximum": 12}});
    let scan = Tool::new("scan_page", "Scans a page of it.", page, &["page"], |call| {
        if OPEN.load(Ordering::SeqCst) {
            said("scanned")
        } else {
            failed(&format!("no note is open: call {} first", call.shown("open_note")))
        }
    });
    let scan = scan.except(
        |call| OPEN.load(Ordering::SeqCst) && call.integer("page") == 12,
        |_| death::panicked("note", "index out of bounds: the len is 12 but the index is 12"),
    );
    Scene::of(vec![scan, count_words(), open])
}
