//! Servers that calls break for each other: in flight together, or one for all that come after it.

use super::death;
use super::scene::{Call, Scene, Tool, count_words, failed, said};
use crate::answer::Answer;
use crate::message::Failure;
use crate::session::lock;
use serde_json::json;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

const INTERNAL_ERROR: i64 = -32603;
/// Long enough that calls in flight meet.
const WORK: Duration = Duration::from_millis(20);
/// As many calls at once as the server does not bear.
const TOO_MANY: usize = 3;

pub fn scene(flaw: &str) -> Option<Scene> {
    Some(match flaw {
        "store-torn-in-company" => store_torn(),
        "spoiled-by-one-value" => spoiled(),
        "note-taken-away" => taken_away(),
        "crash-in-company" => crash(),
        "slow-in-company" => slow(),
        _ => return None,
    })
}

fn list_notes() -> Tool {
    Tool::new("list_notes", "Lists the notes.", json!({}), &[], |_| said("milk, bread"))
}

fn is_broken(call: &Call) -> bool {
    call.world.broken.load(Ordering::SeqCst)
}

/// Two that write at once leave a file that nobody can read.
fn store_torn() -> Scene {
    let unreadable = |_: &Call| failed("Unexpected non-whitespace character after JSON at position 86");
    let arguments = json!({"text": {"type": "string", "maxLength": 200}});
    let write = |call: &Call| {
        let alone = || call.world.running.load(Ordering::SeqCst) == 1;
        let before = alone();
        thread::sleep(WORK);
        if !before || !alone() {
            call.world.broken.store(true, Ordering::SeqCst);
        }
        said("written")
    };
    let writes = Tool::new("title_note", "Writes a note.", arguments, &["text"], |_| said("written"));
    let writes = writes.waits().except(is_broken, unreadable).except(|_| true, write);
    Scene::of(vec![count_words(), writes, list_notes().except(is_broken, unreadable)])
}

/// One value is taken without complaint, and nothing can be listed any more.
fn spoiled() -> Scene {
    let arguments = json!({"mode": {"type": "string", "enum": ["plain", "wide", "dark"]}});
    let choose =
        Tool::new("choose_mode", "Chooses how notes look.", arguments, &["mode"], |_| said("chosen"));
    let choose = choose.except(
        |call| call.text("mode") == "dark",
        |call| {
            call.world.broken.store(true, Ordering::SeqCst);
            said("chosen")
        },
    );
    let lists = list_notes().except(is_broken, |_| {
        Answer::Refusal(Failure::new(INTERNAL_ERROR, "Cannot read properties of undefined (reading 'map')"))
    });
    Scene::of(vec![count_words(), choose, lists])
}

/// What was taken away is not there any more, as it should be.
fn taken_away() -> Scene {
    let arguments = || json!({"id": {"type": "string", "enum": ["N-1", "N-2"]}});
    let shifts =
        Tool::new("shift_note", "Moves a note to another book.", arguments(), &["id"], |_| said("done"));
    let shifts = shifts.except(
        |_| true,
        |call| {
            call.world.broken.store(true, Ordering::SeqCst);
            said("done")
        },
    );
    let reads = Tool::new("read_note", "Reads a note.", arguments(), &["id"], |_| said("milk"));
    let reads = reads
        .except(is_broken, |call| failed(&format!("Error: note {} not found in this book", call.text("id"))));
    Scene::of(vec![count_words(), shifts, reads])
}

fn page(name: &str) -> Tool {
    let arguments = json!({"page": {"type": "integer", "minimum": 1, "maximum": 40}});
    Tool::new(name, "Renders a page.", arguments, &["page"], |_| said("an empty page")).waits()
}

fn crash() -> Scene {
    Scene::around(page("render_page").except(
        |_| true,
        |call| {
            thread::sleep(WORK);
            if call.world.running.load(Ordering::SeqCst) >= TOO_MANY {
                death::exit(1, "fatal: the page is already locked");
            }
            said("an empty page")
        },
    ))
}

/// One after another, however many ask.
fn slow() -> Scene {
    static TURN: Mutex<()> = Mutex::new(());
    Scene::around(page("scan_page").except(
        |_| true,
        |_| {
            let _turn = lock(&TURN);
            thread::sleep(WORK);
            said("an empty page")
        },
    ))
}
