//! Tables, and the transactions in which one connection reads and changes them.

use std::collections::BTreeMap;

use super::select;
use super::sql::{Dialect, Token};

/// Tables that are kept, and rows of each: the oldest rows go.
const MAX_TABLES: usize = 200;
const MAX_ROWS: usize = 500;
/// Letters of one value that are kept, and of one name.
const MAX_VALUE: usize = 4_096;
const MAX_NAME: usize = 128;
/// Bytes of all tables.
const MAX_KEPT: usize = 4 << 20;

/// Verbs that change something.
const CHANGES: [&str; 17] = [
    "alter", "call", "comment", "copy", "create", "delete", "do", "drop", "grant", "insert", "merge",
    "refresh", "rename", "replace", "revoke", "truncate", "update",
];
/// Verbs that only ask.
const ASKS: [&str; 9] = ["desc", "describe", "explain", "fetch", "select", "show", "table", "values", "with"];
/// Verbs about the connection itself: there is nothing to answer.
const SETTINGS: [&str; 17] = [
    "analyze",
    "checkpoint",
    "close",
    "deallocate",
    "declare",
    "discard",
    "flush",
    "kill",
    "listen",
    "lock",
    "notify",
    "optimize",
    "release",
    "reset",
    "savepoint",
    "use",
    "vacuum",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Number(i64),
    Flag(bool),
    Text(String),
}

impl Value {
    pub(super) fn text(text: &str) -> Value {
        Value::Text(text.chars().take(MAX_VALUE).collect())
    }

    pub(super) fn weight(&self) -> usize {
        let text = if let Value::Text(text) = self { text.len() } else { 0 };
        size_of::<Value>() + text
    }

    /// As it is written in answers; none for nothing.
    pub(super) fn written(&self, dialect: Dialect) -> Option<String> {
        match (self, dialect) {
            (Value::Null, _) => None,
            (Value::Number(number), _) => Some(number.to_string()),
            (Value::Flag(flag), Dialect::Postgres) => Some(if *flag { "t" } else { "f" }.to_owned()),
            (Value::Flag(flag), Dialect::Mysql) => Some(u8::from(*flag).to_string()),
            (Value::Text(text), _) => Some(text.clone()),
        }
    }

    /// Whether two values are one, however they are written.
    pub(super) fn equals(&self, other: &Value) -> bool {
        let written = |value: &Value| value.written(Dialect::Postgres);
        *self != Value::Null && written(self) == written(other)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Number,
    Flag,
    Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) is: Type,
}

impl Column {
    pub(super) fn new(name: &str, is: Type) -> Column {
        Column { name: name.chars().take(MAX_NAME).collect(), is }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Value>>,
}

impl Table {
    fn weight(&self) -> usize {
        self.rows.iter().flatten().map(Value::weight).sum()
    }

    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }
}

/// What a statement is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// What was done, in capitals.
    pub(super) verb: String,
    /// Rows that were changed, where it is no question.
    pub(super) changed: usize,
    pub(super) table: Option<Table>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Nobody understands this, from this word on.
    Syntax(String),
    NoTable(String),
    TableIsThere(String),
    /// The transaction only reads, and this verb changes something.
    ReadsOnly(String),
    /// The transaction has failed before.
    Failed,
    /// How a transaction reads is decided before it has asked anything.
    TooLate,
}

/// What the database holds.
#[derive(Debug, Clone)]
pub(super) struct Store {
    pub(super) tables: BTreeMap<String, Table>,
}

impl Default for Store {
    /// One small table: tools that list tables have something to show, and tools that read one something to read.
    fn default() -> Store {
        let column = |(name, is): (&str, Type)| Column { name: name.to_owned(), is };
        let columns = [("id", Type::Number), ("name", Type::Text), ("status", Type::Text)];
        let row = |id: i64, name: &str| vec![Value::Number(id), Value::text(name), Value::text("active")];
        let table =
            Table { columns: columns.map(column).to_vec(), rows: vec![row(1, "first"), row(2, "second")] };
        Store { tables: BTreeMap::from([(select::SAMPLE.to_owned(), table)]) }
    }
}

/// One connection to the database.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) dialect: Dialect,
    /// Whether transactions only read unless they say otherwise.
    reads_only: bool,
    transaction: Option<Transaction>,
}

#[derive(Debug)]
struct Transaction {
    reads_only: bool,
    failed: bool,
    /// Whether anything was asked in it.
    has_asked: bool,
    /// What was there before its first change.
    before: Option<Store>,
}

impl Session {
    pub(super) fn new(dialect: Dialect) -> Session {
        Session { dialect, reads_only: false, transaction: None }
    }

    /// Whether a transaction is open, and whether it has failed.
    pub(super) fn transaction(&self) -> Option<bool> {
        self.transaction.as_ref().map(|transaction| transaction.failed)
    }

    /// Carries out one statement.
    pub(super) fn run(
        &mut self,
        store: &mut Store,
        statement: &[Token],
        given: &[Value],
    ) -> Result<Reply, Refusal> {
        let outcome = self.carry_out(store, statement, given);
        if outcome.is_err() && self.dialect == Dialect::Postgres {
            self.transaction.iter_mut().for_each(|transaction| transaction.failed = true);
        }
        outcome
    }

    fn carry_out(
        &mut self,
        store: &mut Store,
        statement: &[Token],
        given: &[Value],
    ) -> Result<Reply, Refusal> {
        let verb = statement.first().and_then(Token::name).unwrap_or_default().to_lowercase();
        let has = |words: &[&str]| {
            statement
                .windows(words.len())
                .any(|window| window.iter().zip(words).all(|(token, word)| token.is(word)))
        };
        match verb.as_str() {
            "commit" | "end" => return Ok(self.end(store, false)),
            "rollback" | "abort" if !has(&["to"]) => return Ok(self.end(store, true)),
            _ if self.transaction() == Some(true) => return Err(Refusal::Failed),
            "begin" | "start" => {
                let reads_only = has(&["read", "only"]) || self.reads_only && !has(&["read", "write"]);
                let open = Transaction { reads_only, failed: false, has_asked: false, before: None };
                self.transaction.get_or_insert(open);
                return Ok(done("BEGIN", 0));
            }
            "set" => return self.set(statement, &has),
            "rollback" => return Ok(done("ROLLBACK", 0)),
            _ if SETTINGS.contains(&verb.as_str()) => return Ok(done(&verb.to_uppercase(), 0)),
            _ => {}
        }
        let changes = CHANGES.contains(&verb.as_str()) || is_hidden_change(&verb, statement);
        if !changes && !ASKS.contains(&verb.as_str()) && !statement[0].is_sign('(') {
            return Err(syntax(statement, 0));
        }
        let reads_only =
            self.transaction.as_ref().map_or(self.reads_only, |transaction| transaction.reads_only);
        self.transaction.iter_mut().for_each(|transaction| transaction.has_asked = true);
        if !changes {
            let table = select::answer(store, statement, given, self.dialect)?;
            return Ok(Reply { verb: "SELECT".to_owned(), changed: table.rows.len(), table: Some(table) });
        }
        if reads_only {
            return Err(Refusal::ReadsOnly(self::verb(statement)));
        }
        if let Some(transaction) = &mut self.transaction {
            transaction.before.get_or_insert_with(|| store.clone());
        }
        let changed = store.change(&verb, statement, given, self.dialect);
        store.make_room();
        changed
    }

    fn end(&mut self, store: &mut Store, gives_up: bool) -> Reply {
        let Some(transaction) = self.transaction.take() else {
            return done(if gives_up { "ROLLBACK" } else { "COMMIT" }, 0);
        };
        let gives_up = gives_up || transaction.failed;
        if let Some(before) = transaction.before.filter(|_| gives_up) {
            *store = before;
        }
        done(if gives_up { "ROLLBACK" } else { "COMMIT" }, 0)
    }

    /// Settings that say whether something may be changed; all others are as the client likes.
    fn set(&mut self, statement: &[Token], has: &dyn Fn(&[&str]) -> bool) -> Result<Reply, Refusal> {
        let names = |word: &str| statement.iter().any(|token| token.is(word));
        let is_off = statement.last().is_some_and(|token| {
            ["off", "false", "no"]
                .iter()
                .any(|word| token.is(word) || *token == Token::Text((*word).to_owned()))
                || *token == Token::Number("0".to_owned())
        });
        let reads_only = match (has(&["read", "only"]), has(&["read", "write"])) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ if ["default_transaction_read_only", "transaction_read_only"].into_iter().any(names) => {
                Some(!is_off)
            }
            _ => None,
        };
        let Some(reads_only) = reads_only else { return Ok(done("SET", 0)) };
        let lasting = names("session") || names("global") || names("default_transaction_read_only");
        match &mut self.transaction {
            Some(transaction) if !lasting => {
                if transaction.reads_only && !reads_only && transaction.has_asked {
                    return Err(Refusal::TooLate);
                }
                transaction.reads_only = reads_only;
            }
            _ => self.reads_only = reads_only,
        }
        Ok(done("SET", 0))
    }
}

impl Store {
    fn change(
        &mut self,
        verb: &str,
        statement: &[Token],
        given: &[Value],
        dialect: Dialect,
    ) -> Result<Reply, Refusal> {
        let target = |after: &[&str]| select::table_after(statement, after);
        match verb {
            "create" if statement.iter().take(4).any(|token| token.is("table")) => {
                let (name, at) = target(&["table", "exists"]).ok_or_else(|| syntax(statement, 1))?;
                if self.tables.contains_key(&name) {
                    let may_be_there = statement.iter().take(6).any(|token| token.is("exists"));
                    return if may_be_there {
                        Ok(done("CREATE TABLE", 0))
                    } else {
                        Err(Refusal::TableIsThere(name))
                    };
                }
                let table = match statement[at..].iter().position(|token| token.is("select")) {
                    Some(question) => select::answer(self, &statement[at + question..], given, dialect)?,
                    None => Table { columns: declared(&statement[at..]), rows: Vec::new() },
                };
                Ok(self.keep(name, table, "CREATE TABLE"))
            }
            "select" => {
                let (name, at) = target(&["into"]).ok_or_else(|| syntax(statement, 1))?;
                if self.tables.contains_key(&name) {
                    return Err(Refusal::TableIsThere(name));
                }
                let begin = statement.iter().position(|token| token.is("into")).unwrap_or(at);
                let question = [&statement[..begin], &statement[at..]].concat();
                let table = select::answer(self, &question, given, dialect)?;
                Ok(self.keep(name, table, "SELECT"))
            }
            "insert" | "replace" => self.insert(statement, given),
            "drop" => {
                let (name, _) = target(&["table", "exists"]).unwrap_or_default();
                let may_lack = statement.iter().take(4).any(|token| token.is("exists"));
                let is_table = statement.get(1).is_some_and(|token| token.is("table"));
                match self.tables.remove(&name) {
                    None if is_table && !may_lack => Err(Refusal::NoTable(name)),
                    _ => Ok(done(&self::verb(statement), 0)),
                }
            }
            "delete" | "update" | "truncate" => {
                let (name, at) = target(&["from", "update", "table", "truncate", "only"])
                    .ok_or_else(|| syntax(statement, 1))?;
                let Some(table) = self.tables.get_mut(&name) else { return Err(Refusal::NoTable(name)) };
                let wanted = select::conditions(&statement[at..], given);
                let matches = |row: &Vec<Value>, table: &[Column]| select::fits(table, row, &wanted);
                let columns = table.columns.clone();
                let fitting = table.rows.iter().filter(|row| matches(row, &columns)).count();
                match verb {
                    "update" => {
                        let set = select::assignments(&statement[at..], given);
                        let weight: usize = set.iter().map(|(_, value)| value.weight()).sum();
                        // Beyond what there is room for, rows stay as they are.
                        let most = MAX_KEPT / weight.max(1);
                        for row in table.rows.iter_mut().filter(|row| matches(row, &columns)).take(most) {
                            for (name, value) in &set {
                                let place =
                                    columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
                                if let Some(cell) = place.and_then(|place| row.get_mut(place)) {
                                    cell.clone_from(value);
                                }
                            }
                        }
                    }
                    _ => table.rows.retain(|row| !matches(row, &columns)),
                }
                Ok(done(&verb.to_uppercase(), fitting))
            }
            _ => Ok(done(&self::verb(statement), 0)),
        }
    }

    fn keep(&mut self, name: String, table: Table, verb: &str) -> Reply {
        let rows = table.rows.len();
        if self.tables.len() < MAX_TABLES {
            self.tables.insert(name.chars().take(MAX_NAME).collect(), table);
        }
        done(verb, rows)
    }

    /// The older half of the largest table goes until there is room.
    fn make_room(&mut self) {
        while self.tables.values().map(Table::weight).sum::<usize>() > MAX_KEPT {
            let largest = self.tables.values_mut().max_by_key(|table| table.weight());
            let Some(Table { rows, .. }) = largest else { return };
            rows.drain(..rows.len().div_ceil(2));
        }
    }

    fn insert(&mut self, statement: &[Token], given: &[Value]) -> Result<Reply, Refusal> {
        let (name, at) = select::table_after(statement, &["into"]).ok_or_else(|| syntax(statement, 1))?;
        let Some(table) = self.tables.get_mut(&name) else { return Err(Refusal::NoTable(name)) };
        let values = statement[at..].iter().position(|token| token.is("values") || token.is("value"));
        let Some(values) = values.map(|values| at + values) else { return Ok(done("INSERT", 0)) };
        let named: Vec<&str> = statement[at..values].iter().filter_map(Token::name).collect();
        // Where the value of each column stands.
        let place_of = |(place, column): (usize, &Column)| match named.is_empty() {
            true => Some(place),
            false => named.iter().position(|name| name.eq_ignore_ascii_case(&column.name)),
        };
        let places: Vec<Option<usize>> = table.columns.iter().enumerate().map(place_of).collect();
        let rows = select::rows_of_values(&statement[values + 1..], given);
        let added = rows.len();
        for row in &rows[added.saturating_sub(MAX_ROWS)..] {
            let cell = |(column, place): (&Column, &Option<usize>)| {
                match place.and_then(|place| row.get(place)) {
                    Some(value) => value.clone(),
                    // What a database counts by itself.
                    None if column.is == Type::Number => Value::Number(table.rows.len() as i64 + 1),
                    None => Value::Null,
                }
            };
            let row = table.columns.iter().zip(&places).map(cell).collect();
            table.rows.push(row);
        }
        let surplus = table.rows.len().saturating_sub(MAX_ROWS);
        table.rows.drain(..surplus);
        let returned = statement.iter().any(|token| token.is("returning"));
        let last = table.rows.len().saturating_sub(added);
        let table = Table { columns: table.columns.clone(), rows: table.rows[last..].to_vec() };
        Ok(Reply { verb: "INSERT".to_owned(), changed: added, table: returned.then_some(table) })
    }
}

/// A question that changes something all the same: `WITH … DELETE`, `SELECT … INTO`.
fn is_hidden_change(verb: &str, statement: &[Token]) -> bool {
    let names = |words: &[&str]| statement.iter().any(|token| words.iter().any(|word| token.is(word)));
    match verb {
        "with" => names(&["insert", "update", "delete", "merge"]),
        "select" => names(&["into"]),
        _ => false,
    }
}

/// The columns between the brackets of a new table.
fn declared(tokens: &[Token]) -> Vec<Column> {
    let mut columns = Vec::new();
    for entry in select::entries(tokens).into_iter().take(select::MAX_COLUMNS) {
        let [first, rest @ ..] = entry else { continue };
        let Some(name) = first.name() else { continue };
        if ["primary", "foreign", "unique", "constraint", "check", "key", "index"]
            .iter()
            .any(|word| first.is(word))
        {
            continue;
        }
        let is = match rest.first().and_then(Token::name).unwrap_or_default().to_lowercase() {
            word if word.contains("int") || word.contains("serial") => Type::Number,
            word if word.starts_with("bool") => Type::Flag,
            _ => Type::Text,
        };
        columns.push(Column::new(name, is));
    }
    columns
}

/// What a statement does, as the answer says it: its verb, and of what sort the thing is.
fn verb(statement: &[Token]) -> String {
    let of_things = ["create", "drop", "alter"];
    let first = statement.first().and_then(Token::name).unwrap_or_default();
    let second = statement
        .get(1)
        .and_then(Token::name)
        .filter(|_| of_things.iter().any(|word| first.eq_ignore_ascii_case(word)));
    let words: Vec<String> = [Some(first), second].into_iter().flatten().map(str::to_uppercase).collect();
    words.join(" ")
}

fn done(verb: &str, changed: usize) -> Reply {
    Reply { verb: verb.to_owned(), changed, table: None }
}

/// Nobody understands the statement from there on.
pub(super) fn syntax(statement: &[Token], at: usize) -> Refusal {
    let near = match statement.get(at).or(statement.last()) {
        Some(Token::Word(word) | Token::Name(word) | Token::Text(word) | Token::Number(word)) => word.clone(),
        Some(Token::Sign(sign)) => sign.to_string(),
        Some(Token::Parameter(number)) => format!("${}", number + 1),
        None => "end of input".to_owned(),
    };
    Refusal::Syntax(near.chars().take(60).collect())
}

#[cfg(test)]
mod tests {
    use super::super::sql::statements;
    use super::*;

    struct Client {
        store: Store,
        session: Session,
    }

    fn client(dialect: Dialect) -> Client {
        Client { store: Store::default(), session: Session::new(dialect) }
    }

    impl Client {
        fn run(&mut self, text: &str) -> Result<Reply, Refusal> {
            let mut last = Ok(done("", 0));
            for statement in statements(text, self.session.dialect).unwrap() {
                last = Ok(self.session.run(&mut self.store, &statement, &[])?);
            }
            last
        }

        fn shows(&mut self, text: &str) -> Vec<Vec<String>> {
            let table = self.run(text).unwrap().table.unwrap();
            let written = |value: &Value| value.written(Dialect::Postgres).unwrap_or_default();
            table.rows.iter().map(|row| row.iter().map(written).collect()).collect()
        }
    }

    #[test]
    fn what_is_made_is_there_and_can_be_asked_for() {
        let mut client = client(Dialect::Postgres);
        client.run("CREATE TABLE made AS SELECT 6 * 7 AS n").unwrap();
        assert_eq!(client.shows("SELECT n FROM made"), [["42"]]);
        client.run("SELECT 3 * 5 AS n INTO kept").unwrap();
        assert_eq!(client.shows("SELECT n FROM kept"), [["15"]]);
        client.run("CREATE TABLE notes (id serial primary key, body text not null)").unwrap();
        client.run("INSERT INTO notes (body) VALUES ('one'), ('it''s two')").unwrap();
        assert_eq!(client.shows("SELECT body FROM notes WHERE id = 2"), [["it's two"]]);
        client.run("UPDATE notes SET body = 'three' WHERE id = 1").unwrap();
        client.run("DELETE FROM notes WHERE id = 2").unwrap();
        assert_eq!(client.shows("SELECT * FROM notes"), [["1", "three"]]);
    }

    #[test]
    fn a_transaction_that_only_reads_refuses_changes_until_it_is_ended() {
        let mut client = client(Dialect::Postgres);
        client.run("BEGIN TRANSACTION READ ONLY").unwrap();
        let refused = client.run("CREATE TABLE made AS SELECT 1 AS n");
        assert_eq!(refused, Err(Refusal::ReadsOnly("CREATE TABLE".to_owned())));
        assert_eq!(client.run("SELECT 1"), Err(Refusal::Failed));
        client.run("ROLLBACK").unwrap();
        client.run("BEGIN TRANSACTION READ ONLY").unwrap();
        client.run("COMMIT; CREATE TABLE made AS SELECT 2 AS n").unwrap();
        client.run("ROLLBACK").unwrap();
        assert_eq!(client.shows("SELECT n FROM made"), [["2"]]);
    }

    #[test]
    fn what_a_transaction_changed_is_gone_when_it_is_given_up() {
        let mut client = client(Dialect::Postgres);
        client.run("BEGIN; CREATE TABLE made AS SELECT 1 AS n; ROLLBACK").unwrap();
        assert_eq!(client.run("SELECT n FROM made"), Err(Refusal::NoTable("made".to_owned())));
    }

    #[test]
    fn a_transaction_may_be_made_to_write_before_it_has_asked_anything() {
        let mut early = client(Dialect::Postgres);
        early
            .run("BEGIN READ ONLY; SET TRANSACTION READ WRITE; CREATE TABLE made AS SELECT 1 AS n; COMMIT")
            .unwrap();
        let mut late = client(Dialect::Postgres);
        let refused = late.run("BEGIN READ ONLY; SELECT 1; SET TRANSACTION READ WRITE");
        assert_eq!(refused, Err(Refusal::TooLate));
    }

    #[test]
    fn questions_that_change_something_are_changes() {
        let mut client = client(Dialect::Mysql);
        client.run("SET SESSION TRANSACTION READ ONLY").unwrap();
        for text in
            ["WITH x AS (SELECT 1) DELETE FROM items", "SELECT * INTO other FROM items", "DELETE FROM items"]
        {
            assert!(matches!(client.run(text), Err(Refusal::ReadsOnly(_))), "{text}");
        }
    }

    #[test]
    fn what_is_no_statement_is_refused() {
        let mut client = client(Dialect::Postgres);
        assert_eq!(client.run("hello world"), Err(Refusal::Syntax("hello".to_owned())));
        assert_eq!(client.run("SELECT * FROM nowhere"), Err(Refusal::NoTable("nowhere".to_owned())));
    }
}
