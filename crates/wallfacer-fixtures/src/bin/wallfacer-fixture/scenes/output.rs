//! Servers whose structured content is not what they declared, on one value.

use super::scene::{Call, Scene, Tool, failed, said, structured};
use crate::answer::Answer;
use serde_json::{Value, json};

pub fn scene(flaw: &str) -> Option<Scene> {
    let then: fn(&Call) -> Answer = match flaw {
        "output-of-wrong-type" => |call| structured(call, json!({"degrees": "mild", "rain": false})),
        "output-missing" => |_| said("mild, no rain"),
        "output-refused-by-itself" => |_| failed("Output validation error: 'rain' is a required property"),
        "output-with-extra-property" => |call| {
            let mut weather = weather();
            weather["wind"] = json!(3);
            structured(call, weather)
        },
        _ => return None,
    };
    let arguments = json!({"days": {"type": "integer", "minimum": 0, "maximum": 7}});
    let about = "Tells the weather in some days.";
    let tool = Tool::new("forecast", about, arguments, &["days"], |call| structured(call, weather()));
    let tool = tool.returns(json!({"degrees": {"type": "number"}, "rain": {"type": "boolean"}}));
    Some(Scene::around(tool.except(|call| call.integer("days") == 7, then)))
}

fn weather() -> Value {
    json!({"degrees": 12.5, "rain": false})
}
