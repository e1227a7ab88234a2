//! Servers of which there are two versions: the one that is played without `--fixed` is the later one.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use super::scene::{Call, Scene, Tool, failed, said, structured};
use serde_json::{Value, json};

pub fn scene(change: &str) -> Option<Scene> {
    let plain = || gauge(|call| structured(call, level(call)));
    let declared = json!({"centimetres": {"type": "integer"}, "gauge": {"type": "string"}});
    let promised = || plain().returns(declared.clone());
    let tool = match change {
        "another-type" => plain().except(always, |call| {
            let mut level = level(call);
            level["centimetres"] = json!(level["centimetres"].to_string());
            structured(call, level)
        }),
        "lost-key" => gauge(|call| said(&level(call).to_string())).except(always, |call| {
            let gauge = level(call)["gauge"].clone();
            said(&json!({"gauge": gauge}).to_string())
        }),
        "lost-structured-content" => plain().except(always, |call| said(&level(call).to_string())),
        "broken-promise" => promised().except(always, |call| said(&level(call).to_string())),
        "another-declaration" => {
            let later = json!({"centimetres": {"type": "string"}, "gauge": {"type": "string"}});
            let later = plain().returns(later).declared;
            promised().declares_later(later).except(always, |call| {
                let mut level = level(call);
                level["centimetres"] = json!(level["centimetres"].to_string());
                structured(call, level)
            })
        }
        "lost-declaration" => promised().declares_later(plain().declared),
        "another-value" => plain().except(always, |call| {
            let mut level = level(call);
            level["centimetres"] = json!(call.integer("day") * 3 + 1);
            structured(call, level)
        }),
        "refuses-more" => {
            plain().except(|call| call.integer("day") == 31, |_| failed("there is no such day"))
        }
        "another-wording" => {
            let mut later = promised().declared;
            later["outputSchema"]["title"] = json!("Level");
            later["outputSchema"]["required"] = json!(["gauge", "centimetres"]);
            later["outputSchema"]["properties"]["gauge"]["description"] = json!("Where it stands.");
            promised().declares_later(later)
        }
        "another-key" => plain().except(always, |call| {
            let mut level = level(call);
            level["unit"] = json!("cm");
            structured(call, level)
        }),
        "clock" => gauge(|call| {
            let mut level = level(call);
            level["asked_at"] = json!(now());
            level["ticket"] = json!(random());
            structured(call, level)
        }),
        "counter" => gauge(|call| {
            let mut level = level(call);
            level["calls"] = json!(call.world.calls.load(Ordering::SeqCst));
            structured(call, level)
        }),
        _ => return None,
    };
    Some(Scene::around(tool))
}

fn gauge(answer: fn(&Call) -> crate::answer::Answer) -> Tool {
    let day = json!({"day": {"type": "integer", "minimum": 1, "maximum": 31}});
    Tool::new("water_level", "Tells how high the water stood on a day.", day, &["day"], answer)
}

fn level(call: &Call) -> Value {
    json!({"gauge": "north", "centimetres": call.integer("day") * 3})
}

fn always(_: &Call) -> bool {
    true
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs()
}

/// The standard library seeds each state at random.
fn random() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000
}
