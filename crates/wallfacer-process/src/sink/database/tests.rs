//! What a hostile client may take of the databases: neither the stack of their thread nor the memory.

use std::thread;

use super::redis::Keys;
use super::sql::{Dialect, statements};
use super::store::{Session, Store};

/// Less than the thread has on which clients are answered.
const STACK: usize = 256 << 10;
/// The most that may be kept or answered, with what it costs to keep it.
const MOST: usize = 16 << 20;

/// Has all statements of a text carried out; gives what they leave and what the last answers, in bytes.
fn carried_out(texts: impl IntoIterator<Item = String>) -> (usize, usize) {
    let (mut store, mut session) = (Store::default(), Session::new(Dialect::Postgres));
    let mut answered = 0;
    for text in texts {
        for statement in statements(&text, Dialect::Postgres).unwrap_or_default() {
            let table = session.run(&mut store, &statement, &[]).ok().and_then(|reply| reply.table);
            answered = table.map_or(0, |table| weight(&table));
        }
    }
    (store.tables.values().map(weight).sum(), answered)
}

fn weight(table: &super::store::Table) -> usize {
    let columns: usize = table.columns.iter().map(|column| column.name.len() + 32).sum();
    columns + table.rows.iter().flatten().map(super::store::Value::weight).sum::<usize>()
}

#[test]
fn no_statement_takes_the_stack() {
    let on_a_small_stack = || {
        let repeated = |text: &str| text.repeat(9_000);
        for text in [
            format!("SELECT {}1", repeated("1+")),
            format!("SELECT * FROM items WHERE id = {}1", repeated("1-")),
            format!("VALUES ({}1)", repeated("2*")),
            format!("SELECT {}", repeated("(")),
            format!("{}SELECT 1", repeated("(")),
            format!("{}1", repeated("(SELECT ")),
            format!("WITH a AS {}1", repeated("(SELECT ")),
            format!("INSERT INTO items VALUES {}", repeated("(")),
            format!("SELECT {}", repeated("a.")),
        ] {
            carried_out([text]);
        }
    };
    thread::Builder::new().stack_size(STACK).spawn(on_a_small_stack).unwrap().join().unwrap();
}

#[test]
fn whatever_is_kept_and_asked_takes_little() {
    let long = "x".repeat(4_000);
    let names: Vec<String> = (0..5_000).map(|number| format!("c{number}")).collect();
    let wide = format!("CREATE TABLE wide ({})", names.join(" text, "));
    let set = names.iter().take(200).map(|name| format!("{name} = '{long}'")).collect::<Vec<_>>().join(", ");
    let copies = (0..300).map(|number| format!("CREATE TABLE copy{number} AS SELECT * FROM wide"));
    let filled: Vec<String> = [wide, format!("INSERT INTO wide VALUES {}(1)", "(1), ".repeat(4_000))]
        .into_iter()
        .chain([
            format!("UPDATE wide SET {set}"),
            format!("CREATE TABLE \"{}\" (a int)", "n".repeat(900_000)),
        ])
        .chain(copies)
        .collect();
    let everything = format!("SELECT {}* FROM wide", "*, ".repeat(300));
    let (kept, _) = carried_out(filled.clone());
    assert!(kept <= MOST, "{kept}");
    let (_, answered) = carried_out(filled.into_iter().chain([everything]));
    assert!(answered <= MOST, "{answered}");
}

#[test]
fn a_table_that_was_made_of_nothing_can_be_asked_for() {
    let made =
        "CREATE TABLE made AS SELECT count(*), * FROM items WHERE id = 99; SELECT name, status FROM made";
    assert!(carried_out([made.to_owned()]).1 > 0);
}

#[test]
fn whatever_is_kept_under_keys_takes_little_and_no_number_is_too_low() {
    let mut keys = Keys::default();
    let long = "x".repeat(60_000);
    for number in 0..3_000 {
        for command in [format!("HSET h f{number}"), format!("RPUSH l{number}"), format!("SADD s {number}")] {
            let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            words.push(format!("{number}{long}"));
            keys.run(&words, super::redis::Version::Two);
        }
    }
    assert!(keys.kept() <= MOST, "{}", keys.kept());
    let words = ["decr", "n", "-9223372036854775808"].map(str::to_owned);
    assert_eq!(keys.run(&words, super::redis::Version::Two), b":9223372036854775807\r\n");
}
