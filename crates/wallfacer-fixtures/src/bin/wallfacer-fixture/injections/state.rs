//! What a call changes, though it says that it only reads.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use serde_json::json;

use super::root;
use crate::answer::Answer;
use crate::scenes::{Call, Scene, Tool, failed, said};
use crate::tools;

/// Tables that the server holds, and the one number in each.
static TABLES: Mutex<BTreeMap<String, i32>> = Mutex::new(BTreeMap::new());

pub fn scene(name: &str) -> Option<Scene> {
    let arguments = json!({"sql": {"type": "string"}});
    let tool = match name {
        "statement-that-writes" => {
            let about = "Answers a question about the pages.";
            let mut tool = Tool::new("query_pages", about, arguments, &["sql"], |_| said("no pages"));
            tool.declared = tools::with(tool.declared, json!({"annotations": {"readOnlyHint": true}}));
            tool.except(|call| call.text("sql").contains("CREATE TABLE"), write)
        }
        "statement-kept-in-memory" => {
            let about = "Answers a read-only question about the pages.";
            Tool::new("ask_pages", about, arguments, &["sql"], |call| match create(call.text("sql")) {
                Some(_) => failed("only questions are answered"),
                None => select(call),
            })
            .except(|call| create(call.text("sql")).is_some(), keep)
        }
        "statement-behind-commit" | "statement-though-told-to-read" => {
            let about = match name {
                "statement-behind-commit" => "Runs a SELECT query on the pages.",
                _ => "Runs statements on the pages.",
            };
            Tool::new("ask_table", about, arguments, &["sql"], |call| {
                match call.text("sql").matches(';').count() {
                    0 if call.text("sql").starts_with("SELECT") => select(call),
                    _ => failed("one question at a time"),
                }
            })
            .except(|call| call.text("sql").contains(';'), run_all)
        }
        "statement-into-a-file" => {
            let about = "Runs a read-only query on the pages.";
            Tool::new("ask_table", about, arguments, &["sql"], |call| match call.text("sql") {
                sql if sql.starts_with("SELECT") => select(call),
                _ => failed("attempt to write a readonly database"),
            })
            .except(|call| copied(call.text("sql")).is_some(), copy)
        }
        "statement-begins-as-a-question" => {
            let about = "Runs a SELECT query on the pages.";
            Tool::new("ask_table", about, arguments, &["sql"], |call| match call.text("sql") {
                sql if sql.starts_with("SELECT") && kept(sql).is_none() => select(call),
                _ => failed("only questions are answered"),
            })
            .except(
                |call| kept(call.text("sql")).is_some(),
                |call| match kept(call.text("sql")) {
                    Some((table, number)) => put(table, number),
                    None => failed("this is no statement"),
                },
            )
        }
        _ => return None,
    };
    Some(Scene::around(tool))
}

fn write(call: &Call) -> Answer {
    let file = OpenOptions::new().append(true).open(root().join("pages.db"));
    let written = file.and_then(|mut file| file.write_all(call.text("sql").as_bytes()));
    written.map_or_else(|error| failed(&error.to_string()), |()| said("done"))
}

/// The file that a statement copies the database to.
fn copied(sql: &str) -> Option<&str> {
    sql.strip_prefix("VACUUM INTO '")?.strip_suffix('\'')
}

fn copy(call: &Call) -> Answer {
    let written = std::fs::write(copied(call.text("sql")).unwrap_or_default(), "no pages");
    written.map_or_else(|error| failed(&error.to_string()), |()| said("done"))
}

fn keep(call: &Call) -> Answer {
    match create(call.text("sql")) {
        Some((table, number)) => put(table, number),
        None => failed("this is no statement"),
    }
}

fn put(table: String, number: i32) -> Answer {
    TABLES.lock().unwrap_or_else(PoisonError::into_inner).insert(table, number);
    said("done")
}

/// Each statement in turn; none may write until one of them ends the transaction.
fn run_all(call: &Call) -> Answer {
    let mut may_write = false;
    for statement in call.text("sql").split(';').map(str::trim) {
        match (create(statement), statement) {
            (Some((table, number)), _) if may_write => {
                TABLES.lock().unwrap_or_else(PoisonError::into_inner).insert(table, number);
            }
            (Some(_), _) => return failed("cannot write in a read-only transaction"),
            (None, "COMMIT") => may_write = true,
            (None, _) => {}
        }
    }
    said("done")
}

fn select(call: &Call) -> Answer {
    let table = call.text("sql").strip_prefix("SELECT n FROM ").unwrap_or_default();
    match TABLES.lock().unwrap_or_else(PoisonError::into_inner).get(table) {
        Some(number) => said(&number.to_string()),
        None => failed(&format!("there is no table {table}")),
    }
}

/// A table to be made of the product of two numbers, which must fit into 32 bits as in most databases.
fn create(sql: &str) -> Option<(String, i32)> {
    let (table, product) = sql.strip_prefix("CREATE TABLE ")?.split_once(" AS SELECT ")?;
    Some((table.to_owned(), multiplied(product.strip_suffix(" AS n")?)?))
}

/// The same as a question that keeps its answer.
fn kept(sql: &str) -> Option<(String, i32)> {
    let (product, table) = sql.strip_prefix("SELECT ")?.split_once(" AS n INTO ")?;
    Some((table.to_owned(), multiplied(product)?))
}

fn multiplied(product: &str) -> Option<i32> {
    let (left, right) = product.split_once(" * ")?;
    left.parse::<i32>().ok()?.checked_mul(right.parse().ok()?)
}
