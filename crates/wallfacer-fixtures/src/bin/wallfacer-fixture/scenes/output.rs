//! Servers whose structured content is not what they declared, on one value.

use super::scene::{Call, Scene, Tool, count_words, failed, said, structured};
use crate::answer::Answer;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

pub fn scene(flaw: &str) -> Option<Scene> {
    if flaw == "output-broken-once-stored" {
        return Some(once_stored());
    }
    let then: fn(&Call) -> Answer = match flaw {
        "output-of-wrong-type" => |call| structured(call, json!({"degrees": "mild", "rain": false})),
        "output-missing" => |_| said("mild, no rain"),
        "output-refused-by-itself" => |_| failed("Output validation error: 'rain' is a required property"),
        "output-refused-by-its-library" => |_| {
            failed(
                "Error executing tool forecast: 1 validation error for forecastOutput\nrain\n  Field required",
            )
        },
        "output-with-extra-property" => |call| structured(call, windy()),
        _ => return None,
    };
    Some(Scene::around(forecast().except(|call| call.integer("days") == 7, then)))
}

fn forecast() -> Tool {
    let arguments = json!({"days": {"type": "integer", "minimum": 0, "maximum": 7}});
    let about = "Tells the weather in some days.";
    let tool = Tool::new("forecast", about, arguments, &["days"], |call| structured(call, weather()));
    tool.returns(json!({"degrees": {"type": "number"}, "rain": {"type": "boolean"}}))
}

/// Keeps to its schema as long as nothing is stored.
fn once_stored() -> Scene {
    let name = json!({"name": {"type": "string"}});
    let open = Tool::new("open_note", "Opens a note.", name, &["name"], |call| {
        call.world.broken.store(true, Ordering::SeqCst);
        said("opened")
    });
    let is_stored: fn(&Call) -> bool = |call| call.world.broken.load(Ordering::SeqCst);
    Scene::of(vec![forecast().except(is_stored, |call| structured(call, windy())), count_words(), open])
}

/// With what the schema does not have.
fn windy() -> Value {
    let mut weather = weather();
    weather["wind"] = json!(3);
    weather
}

fn weather() -> Value {
    json!({"degrees": 12.5, "rain": false})
}
