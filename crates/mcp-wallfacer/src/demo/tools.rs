//! The six tools, each with its bug.

use super::arguments::{Arguments, integer, only, text};
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;

const BOOKS: [&str; 5] = ["Emma", "Ulysses", "The Waves", "Middlemarch", "The Trial"];
const LARGE: i64 = 1_000_000;
const MOST_NOTES: usize = 100;

/// What a call leads to.
#[derive(Debug)]
pub enum Outcome {
    Result(Value),
    /// Bytes on standard output that are no reply.
    Printed(String),
}

/// Who wrote down what, oldest first.
#[derive(Debug, Default)]
pub struct Notes(Vec<(String, String)>);

/// None: there is no such tool.
pub fn call(name: &str, arguments: &Arguments, notes: &mut Notes) -> Option<Outcome> {
    let done = match name {
        "divide" => divide(arguments),
        "search" => search(arguments),
        "weather" => weather(arguments),
        "discount" => discount(arguments),
        "export" => export(arguments),
        "notes" => take_notes(arguments, notes),
        _ => return None,
    };
    Some(done.unwrap_or_else(|refused| {
        Outcome::Result(json!({"content": [{"type": "text", "text": refused}], "isError": true}))
    }))
}

/// Crash: nobody thought of zero.
fn divide(arguments: &Arguments) -> Result<Outcome, String> {
    only(arguments, &["a", "b"])?;
    let a = integer(arguments, "a", -LARGE..=LARGE)?;
    let b = integer(arguments, "b", -LARGE..=LARGE)?;
    let quotient = a / b;
    Ok(said(&(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }).to_string()))
}

/// Hang: pages of no size never come to an end.
fn search(arguments: &Arguments) -> Result<Outcome, String> {
    only(arguments, &["query", "page_size"])?;
    let query = text(arguments, "query", 100)?.to_lowercase();
    let size = integer(arguments, "page_size", 0..=50)? as usize;
    let (mut found, mut offset) = (Vec::new(), 0);
    while offset < BOOKS.len() {
        let page = BOOKS.iter().skip(offset).take(size);
        found.extend(page.filter(|title| title.to_lowercase().contains(&query)).copied());
        offset += size;
        thread::sleep(Duration::from_millis(1));
    }
    Ok(said(if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") }.as_str()))
}

/// Schema violation: the temperature is promised as a number.
fn weather(arguments: &Arguments) -> Result<Outcome, String> {
    only(arguments, &["city"])?;
    let city = text(arguments, "city", 100)?;
    Ok(structured(json!({"city": city, "temperature": "21.5"})))
}

/// Property failure: the discount is taken twice, so that more than half makes the price negative.
fn discount(arguments: &Arguments) -> Result<Outcome, String> {
    only(arguments, &["price", "percent"])?;
    let price = integer(arguments, "price", 0..=LARGE)?;
    let percent = integer(arguments, "percent", 0..=100)?;
    Ok(structured(json!({"total": price as f64 - 2.0 * price as f64 * percent as f64 / 100.0})))
}

/// Protocol error: what was meant for a file goes to standard output, in place of the reply.
fn export(arguments: &Arguments) -> Result<Outcome, String> {
    only(arguments, &["format"])?;
    match arguments.get("format").and_then(Value::as_str) {
        Some("json") => Ok(said(&json!(BOOKS).to_string())),
        Some("csv") => {
            let rows = BOOKS.iter().enumerate().map(|(at, title)| format!("{},{title}\n", at + 1));
            Ok(Outcome::Printed(std::iter::once("number,title\n".to_owned()).chain(rows).collect()))
        }
        _ => Err("`format` must be json or csv".to_owned()),
    }
}

/// State leak: notes are kept for a session, and given to all.
fn take_notes(arguments: &Arguments, Notes(notes): &mut Notes) -> Result<Outcome, String> {
    only(arguments, &["session", "add"])?;
    let session = text(arguments, "session", 40)?;
    if arguments.contains_key("add") {
        notes.push((session.to_owned(), text(arguments, "add", 200)?.to_owned()));
        notes.drain(..notes.len().saturating_sub(MOST_NOTES));
    }
    let texts: Vec<&str> = notes.iter().map(|(_, note)| note.as_str()).collect();
    Ok(structured(json!({"notes": texts})))
}

fn said(words: &str) -> Outcome {
    Outcome::Result(json!({"content": [{"type": "text", "text": words}]}))
}

fn structured(value: Value) -> Outcome {
    Outcome::Result(json!({
        "content": [{"type": "text", "text": value.to_string()}],
        "structuredContent": value,
    }))
}

/// What is said of the tools. Nothing here tells of the bugs.
pub fn list() -> Value {
    let bounded = |least: i64, most: i64| json!({"type": "integer", "minimum": least, "maximum": most});
    let string = |longest: usize| json!({"type": "string", "minLength": 1, "maxLength": longest});
    let number = json!({"type": "number"});
    json!([
        {
            "name": "divide",
            "description": "Divides one integer by another, rounding down.",
            "inputSchema": schema(&["a", "b"], json!({"a": bounded(-LARGE, LARGE), "b": bounded(-LARGE, LARGE)})),
        },
        {
            "name": "search",
            "description": "Finds the books whose title holds the query.",
            "inputSchema": schema(&["query", "page_size"], json!({"query": string(100), "page_size": bounded(0, 50)})),
        },
        {
            "name": "weather",
            "description": "Tells the temperature in a city, in degrees Celsius.",
            "inputSchema": schema(&["city"], json!({"city": string(100)})),
            "outputSchema": schema(&["city", "temperature"], json!({"city": {"type": "string"}, "temperature": number})),
        },
        {
            "name": "discount",
            "description": "Takes a discount off a price.",
            "inputSchema": schema(&["price", "percent"], json!({"price": bounded(0, LARGE), "percent": bounded(0, 100)})),
            "outputSchema": schema(&["total"], json!({"total": number})),
        },
        {
            "name": "export",
            "description": "Exports the list of books.",
            "inputSchema": schema(&["format"], json!({"format": {"type": "string", "enum": ["json", "csv"]}})),
        },
        {
            "name": "notes",
            "description": "Gives the notes of a session, after adding one if there is one to add. \
                Notes are private to their session.",
            "inputSchema": schema(&["session"], json!({"session": string(40), "add": string(200)})),
            "outputSchema": schema(&["notes"], json!({"notes": {"type": "array", "items": {"type": "string"}}})),
        },
    ])
}

fn schema(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
