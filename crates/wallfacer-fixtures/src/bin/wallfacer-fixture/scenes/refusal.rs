//! Servers that refuse cleanly, which is good behaviour. Their twins answer where these refuse.

use super::scene::{Entry, Scene, Tool, failed, refused, said, structured};
use serde_json::json;
use std::sync::atomic::Ordering;

/// Calls that are answered before the rate is too high.
const FREE_CALLS: u64 = 5;

pub fn scene(flaw: &str) -> Option<Scene> {
    Some(match flaw {
        "refuses-by-code" => by_code(),
        "refuses-in-a-sentence" => in_a_sentence(),
        "network-unreachable" => network_unreachable(),
        "rate-limited" => rate_limited(),
        "not-found" => not_found(),
        _ => return None,
    })
}

fn by_code() -> Scene {
    let arguments = json!({
        "guests": {"type": "integer", "minimum": 1, "maximum": 12},
        "name": {"type": "string", "minLength": 1, "maxLength": 60},
    });
    let tool = Tool::new("seat_guests", "Finds a table.", arguments, &["guests"], |_| said("table five"));
    Scene::around(
        tool.entry(Entry::ByCode).except(
            |call| call.integer("guests") % 2 == 1,
            |_| refused("tables have an even number of seats"),
        ),
    )
}

/// It declares an output, which an error need not have.
fn in_a_sentence() -> Scene {
    let arguments = json!({"item": {"type": "string", "enum": ["tea", "coffee", "milk"]}});
    let tool = Tool::new("price_of", "Tells what something costs.", arguments, &["item"], |call| {
        structured(call, json!({"coins": 2}))
    });
    Scene::around(tool.returns(json!({"coins": {"type": "integer"}})).except(
        |call| call.text("item") != "tea",
        |_| failed("We are sold out today, please ask again tomorrow."),
    ))
}

fn network_unreachable() -> Scene {
    let arguments = json!({"currency": {"type": "string", "enum": ["EUR", "USD", "JPY"]}});
    let about = "Looks up a rate of exchange on the web.";
    let tool = Tool::new("rate_of", about, arguments, &["currency"], |_| said("about one"));
    Scene::around(tool.except(
        |_| true,
        |_| failed("request to https://rates.example/v1 failed: connect ENETUNREACH, network is unreachable"),
    ))
}

fn rate_limited() -> Scene {
    let arguments = json!({"city": {"type": "string", "minLength": 1, "maxLength": 60}});
    let tool =
        Tool::new("forecast", "Tells the weather of tomorrow.", arguments, &["city"], |_| said("rain"));
    Scene::around(tool.except(
        |call| call.world.calls.load(Ordering::SeqCst) > FREE_CALLS,
        |_| failed("429 Too Many Requests: rate limit exceeded, try again in 60 seconds"),
    ))
}

fn not_found() -> Scene {
    let arguments = json!({"page": {"type": "string"}});
    let tool = Tool::new("open_page", "Opens a page.", arguments, &["page"], |_| said("an empty page"));
    Scene::around(tool.except(
        |call| !["home", "about"].contains(&call.text("page")),
        |_| failed("page not found; there are home and about"),
    ))
}
