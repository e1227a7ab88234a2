//! Answers questions: those for a table with what is in it, those about the database itself with what it has, and all others
//! with one row of values that their names suggest.

use super::MAX_ANSWER;
use super::sql::{Dialect, Token};
use super::store::{Column, Refusal, Store, Table, Type, Value, syntax};

/// The table that is always there.
pub(super) const SAMPLE: &str = "items";
/// Columns of one table or question.
pub(super) const MAX_COLUMNS: usize = 200;
/// Conditions of one question, and values that one change sets.
const MAX_EQUALITIES: usize = 64;
/// Pieces of which a value is put together.
const MAX_TERM: usize = 64;
/// What names of a database's own tables begin with.
const OWN: [&str; 6] = ["information_schema", "pg_", "performance_schema", "mysql", "sys", "sqlite_"];
const VERSION: &str = "PostgreSQL 15.4 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit";

/// The answer to one question.
pub(super) fn answer(
    store: &Store,
    statement: &[Token],
    given: &[Value],
    dialect: Dialect,
) -> Result<Table, Refusal> {
    let verb = statement.first().and_then(Token::name).unwrap_or_default().to_lowercase();
    match verb.as_str() {
        "show" => return show(store, statement, dialect),
        "desc" | "describe" => return described(store, statement),
        "explain" => {
            return Ok(single("QUERY PLAN", Value::text("Result  (cost=0.00..0.01 rows=1 width=4)")));
        }
        "values" => {
            let rows = rows_of_values(&statement[1..], given);
            let columns = rows.first().into_iter().flatten().enumerate();
            let columns =
                columns.map(|(place, value)| column(&format!("column{}", place + 1), value)).collect();
            return Ok(Table { columns, rows });
        }
        _ => {}
    }
    // A question within brackets, or behind the names that it gives to others.
    let Some(begin) = outermost(statement, "select") else {
        return match statement.iter().position(|token| token.is("select")) {
            Some(inner) => answer(store, until_closed(&statement[inner..]), given, dialect),
            None => Err(syntax(statement, 1)),
        };
    };
    let question = &statement[begin..];
    if question.len() < 2 {
        return Err(syntax(question, 1));
    }
    let source = source(store, question)?;
    let end = ["from", "where", "limit", "order", "group", "union"];
    let end = end.iter().filter_map(|word| outermost(question, word)).min().unwrap_or(question.len());
    let wanted: Vec<&[Token]> = entries(&question[1..end]).into_iter().take(MAX_COLUMNS).collect();
    let conditions = conditions(question, given);
    let fitting = source.rows.iter().filter(|row| fits(&source.columns, row, &conditions));
    let mut rows: Vec<&Vec<Value>> = fitting.collect();
    rows.truncate(limit(question, given));
    Ok(picked(&source, &rows, &wanted, given))
}

/// What is asked, of each row; of all of them where they are counted.
fn picked(source: &Table, rows: &[&Vec<Value>], wanted: &[&[Token]], given: &[Value]) -> Table {
    let mut table = Table { columns: Vec::new(), rows: vec![Vec::new(); rows.len()] };
    let counts =
        wanted.iter().any(|entry| entry.first().is_some_and(|token| token.is("count")) && entry.len() > 2);
    if counts {
        table.rows = vec![Vec::new()];
    }
    let mut left = MAX_ANSWER;
    for entry in wanted {
        let before = table.columns.len();
        if before >= MAX_COLUMNS || left == 0 {
            break;
        }
        if entry.last().is_some_and(|token| token.is_sign('*')) && entry.len() <= 3 {
            table.columns.extend(source.columns.iter().cloned());
            for (number, row) in table.rows.iter_mut().enumerate() {
                match rows.get(number) {
                    Some(from) => row.extend(from.iter().cloned()),
                    None => row.resize(row.len() + source.columns.len(), Value::Null),
                }
            }
            left = left.saturating_sub(weight_from(&table, before));
            continue;
        }
        let name = label(entry);
        let inner = entry.iter().rposition(|token| token.is("as")).map_or(*entry, |at| &entry[..at]);
        let from = inner.last().and_then(Token::name).and_then(|name| source.column(name));
        let from = from.filter(|_| inner.len() <= 5 && !inner.iter().any(|token| token.is_sign('(')));
        let value = || literal(inner, given).unwrap_or_else(|| suggested(&name, inner));
        let is_count = counts && inner.first().is_some_and(|token| token.is("count"));
        let is = match from {
            Some(place) => source.columns[place].is,
            None if is_count => Type::Number,
            None => type_of(&value()),
        };
        table.columns.push(Column::new(&name, is));
        for (number, row) in table.rows.iter_mut().enumerate() {
            let cell = match from {
                _ if is_count => Value::Number(rows.len() as i64),
                Some(place) => rows.get(number).map_or(Value::Null, |row| row[place].clone()),
                None => value(),
            };
            row.push(cell);
        }
        left = left.saturating_sub(weight_from(&table, before));
    }
    table
}

/// The bytes of a table's columns from this one on.
fn weight_from(table: &Table, column: usize) -> usize {
    table.rows.iter().flat_map(|row| &row[column..]).map(Value::weight).sum()
}

/// The table that is asked.
fn source(store: &Store, question: &[Token]) -> Result<Table, Refusal> {
    let nothing = Table { columns: Vec::new(), rows: vec![Vec::new()] };
    let Some(from) = outermost(question, "from") else { return Ok(nothing) };
    let Some((name, _)) = table_after(&question[from..], &["from", "only", "lateral"]) else {
        return Ok(nothing);
    };
    let whole = written_name(&question[from + 1..]);
    match whole.as_str() {
        "information_schema.tables" => return Ok(tables(store)),
        "information_schema.columns" => return Ok(columns(store)),
        _ => {}
    }
    if let Some(table) = store.tables.get(&name) {
        return Ok(table.clone());
    }
    let is_own = OWN.iter().any(|own| whole.starts_with(own) || name.starts_with(own));
    // Names that the question itself gives, and functions that give rows.
    let is_given = question.iter().any(|token| token.is("with"))
        || question.get(from + 2).is_some_and(|token| token.is_sign('('));
    if is_own || is_given { Ok(nothing) } else { Err(Refusal::NoTable(name)) }
}

fn tables(store: &Store) -> Table {
    let names = ["table_catalog", "table_schema", "table_name", "table_type"];
    let row = |name: &String| ["main", "public", name, "BASE TABLE"].map(Value::text).to_vec();
    Table { columns: texts(&names), rows: store.tables.keys().map(row).collect() }
}

fn columns(store: &Store) -> Table {
    let names = ["table_schema", "table_name", "column_name", "data_type", "is_nullable", "column_default"];
    let mut rows = Vec::new();
    for (name, table) in &store.tables {
        for column in &table.columns {
            let mut row = ["public", name, &column.name, told(column.is), "YES"].map(Value::text).to_vec();
            row.push(Value::Null);
            rows.push(row);
        }
    }
    Table { columns: texts(&names), rows }
}

/// `SHOW TABLES`, `SHOW COLUMNS FROM …`, and settings.
fn show(store: &Store, statement: &[Token], dialect: Dialect) -> Result<Table, Refusal> {
    let has = |word: &str| statement.iter().any(|token| token.is(word));
    if has("tables") {
        let rows = store.tables.keys().map(|name| vec![Value::text(name)]).collect();
        return Ok(Table { columns: texts(&["Tables_in_main"]), rows });
    }
    if has("columns") || has("fields") {
        return described(store, statement);
    }
    if has("databases") || has("schemas") {
        return Ok(single("Database", Value::text("main")));
    }
    let name = statement.get(1).and_then(Token::name).unwrap_or("setting").to_lowercase();
    if dialect == Dialect::Mysql {
        return Ok(Table { columns: texts(&["Variable_name", "Value"]), rows: Vec::new() });
    }
    let value = match name.as_str() {
        "server_version" => "15.4",
        "transaction" => "read committed",
        "server_encoding" | "client_encoding" => "UTF8",
        _ => "on",
    };
    Ok(single(&name, Value::text(value)))
}

fn described(store: &Store, statement: &[Token]) -> Result<Table, Refusal> {
    let named = table_after(statement, &["from", "in", "describe", "desc", "table"]);
    let Some((name, _)) = named else { return Err(syntax(statement, 1)) };
    let Some(table) = store.tables.get(&name) else { return Err(Refusal::NoTable(name)) };
    let row = |column: &Column| {
        ["", "YES", "", "", ""].iter().enumerate().fold(
            vec![Value::text(&column.name)],
            |mut row, (place, text)| {
                row.push(Value::text(if place == 0 { told(column.is) } else { text }));
                row
            },
        )
    };
    let names = ["Field", "Type", "Null", "Key", "Default", "Extra"];
    Ok(Table { columns: texts(&names), rows: table.columns.iter().map(row).collect() })
}

/// The first table behind one of these words, without its schema, and where it ends.
pub(super) fn table_after(tokens: &[Token], words: &[&str]) -> Option<(String, usize)> {
    let is_word = |token: &Token| words.iter().any(|word| token.is(word));
    let first = tokens.iter().position(is_word)?;
    // Of several words in a row the last counts: `table if not exists`, `from only`.
    let fillers = |token: &Token| is_word(token) || ["if", "not"].iter().any(|word| token.is(word));
    let mut at = first + tokens[first..].iter().take_while(|token| fillers(token)).count();
    let mut name = tokens.get(at)?.name()?;
    while tokens.get(at + 1).is_some_and(|token| token.is_sign('.')) {
        name = tokens.get(at + 2)?.name()?;
        at += 2;
    }
    Some((name.to_owned(), at + 1))
}

/// A name with its schema, as it is written.
fn written_name(tokens: &[Token]) -> String {
    let belongs = |token: &&Token| token.name().is_some() || token.is_sign('.');
    let parts = tokens.iter().take_while(belongs).take(3);
    parts.map(|token| token.name().unwrap_or(".")).collect::<String>().to_lowercase()
}

/// Where a word stands that is in no brackets.
fn outermost(tokens: &[Token], word: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            token if depth == 0 && token.is(word) => return Some(at),
            _ => {}
        }
    }
    None
}

/// Up to the bracket that closes what was open before.
fn until_closed(tokens: &[Token]) -> &[Token] {
    let mut depth = 0_i64;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') if depth == 0 => return &tokens[..at],
            Token::Sign(')') => depth -= 1,
            _ => {}
        }
    }
    tokens
}

/// What stands between commas, in the outermost brackets where all of it stands in some.
pub(super) fn entries(tokens: &[Token]) -> Vec<&[Token]> {
    let inner = match tokens {
        [Token::Sign('('), rest @ ..] => until_closed(rest),
        all => all,
    };
    let mut depth = 0_i64;
    let is_end = |token: &Token| {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth -= 1,
            _ => {}
        }
        depth == 0 && token.is_sign(',')
    };
    inner.split(is_end).filter(|entry| !entry.is_empty()).collect()
}

/// The rows of `VALUES (…), (…)`.
pub(super) fn rows_of_values(tokens: &[Token], given: &[Value]) -> Vec<Vec<Value>> {
    let mut rows: Vec<Vec<Value>> = Vec::new();
    let mut rest = tokens;
    let mut left = MAX_ANSWER;
    while let ([Token::Sign('('), inner @ ..], 1..) = (rest, left) {
        let row = until_closed(inner);
        let value = |entry: &[Token]| literal(entry, given).unwrap_or(Value::Null);
        let values: Vec<Value> = entries(row).into_iter().take(MAX_COLUMNS).map(value).collect();
        left = left.saturating_sub(values.iter().map(Value::weight).sum());
        rows.push(values);
        let after = &inner[row.len()..];
        rest = match after {
            [Token::Sign(')'), Token::Sign(','), rest @ ..] => rest,
            _ => &[],
        };
    }
    rows
}

/// What rows must be equal to: `name = value` behind `where`. What is harder to read holds for all.
pub(super) fn conditions(tokens: &[Token], given: &[Value]) -> Vec<(String, Value)> {
    let begin = tokens.iter().position(|token| token.is("where")).map_or(tokens.len(), |at| at + 1);
    if tokens[begin..].iter().any(|token| token.is("or")) {
        return Vec::new();
    }
    equalities(&tokens[begin..], given)
}

/// What an update sets.
pub(super) fn assignments(tokens: &[Token], given: &[Value]) -> Vec<(String, Value)> {
    let begin = tokens.iter().position(|token| token.is("set")).map_or(tokens.len(), |at| at + 1);
    let end = tokens.iter().position(|token| token.is("where")).unwrap_or(tokens.len()).max(begin);
    equalities(&tokens[begin..end], given)
}

fn equalities(tokens: &[Token], given: &[Value]) -> Vec<(String, Value)> {
    let pair = |window: &[Token]| {
        let [name, Token::Sign('='), value] = window else { return None };
        Some((name.name()?.to_owned(), literal(std::slice::from_ref(value), given)?))
    };
    tokens.windows(3).filter_map(pair).take(MAX_EQUALITIES).collect()
}

pub(super) fn fits(columns: &[Column], row: &[Value], wanted: &[(String, Value)]) -> bool {
    wanted.iter().all(|(name, value)| {
        let place = columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
        place.is_none_or(|place| row.get(place).is_some_and(|cell| cell.equals(value)))
    })
}

fn limit(tokens: &[Token], given: &[Value]) -> usize {
    let at = outermost(tokens, "limit");
    let value =
        at.and_then(|at| tokens.get(at + 1)).and_then(|token| literal(std::slice::from_ref(token), given));
    match value {
        Some(Value::Number(number)) => usize::try_from(number).unwrap_or(usize::MAX),
        _ => usize::MAX,
    }
}

/// A value that stands there, or comes of numbers that do.
fn literal(tokens: &[Token], given: &[Value]) -> Option<Value> {
    if tokens.len() > MAX_TERM {
        return None;
    }
    match tokens {
        // What it is to be taken for is not asked.
        [value, Token::Sign(':'), Token::Sign(':'), ..] => literal(std::slice::from_ref(value), given),
        [Token::Text(text)] => Some(Value::text(text)),
        [Token::Number(number)] => Some(number.parse().map_or_else(|_| Value::text(number), Value::Number)),
        [Token::Parameter(number)] => Some(given.get(*number).cloned().unwrap_or(Value::Null)),
        [word] if word.is("null") || word.is("default") => Some(Value::Null),
        [word] if word.is("true") => Some(Value::Flag(true)),
        [word] if word.is("false") => Some(Value::Flag(false)),
        [Token::Sign('-'), Token::Number(number)] => {
            number.parse::<i64>().ok().map(|number| Value::Number(-number))
        }
        [left, Token::Sign(sign @ ('*' | '+' | '-')), rest @ ..] => {
            let (left, right) = (literal(std::slice::from_ref(left), given)?, literal(rest, given)?);
            let (Value::Number(left), Value::Number(right)) = (left, right) else { return None };
            let result = match sign {
                '*' => left.checked_mul(right),
                '+' => left.checked_add(right),
                _ => left.checked_sub(right),
            };
            result.map(Value::Number)
        }
        _ => None,
    }
}

/// What the client calls a column.
fn label(entry: &[Token]) -> String {
    let named = entry.iter().rposition(|token| token.is("as")).and_then(|at| entry.get(at + 1)?.name());
    let last = || entry.last().and_then(Token::name);
    // `count(*)` is called `count`.
    let first = || entry.first().and_then(Token::name);
    let name = named.or_else(last).or_else(first).unwrap_or("?column?");
    name.to_owned()
}

/// What a column of this name may hold.
fn suggested(name: &str, entry: &[Token]) -> Value {
    let name = name.to_lowercase();
    let function = entry.iter().rev().find_map(Token::name).unwrap_or_default().to_lowercase();
    let ends = |endings: &[&str]| {
        endings.iter().any(|ending| name == *ending || name.ends_with(&format!("_{ending}")))
    };
    match function.as_str() {
        "version" => return Value::text(VERSION),
        "current_database" | "database" => return Value::text("main"),
        "current_schema" => return Value::text("public"),
        "current_user" | "session_user" | "user" => return Value::text("app"),
        _ => {}
    }
    if ends(&[
        "count", "id", "oid", "pid", "size", "bytes", "rows", "number", "total", "position", "pages",
        "length",
    ]) {
        Value::Number(1)
    } else if name.starts_with("is_") || name.starts_with("has_") || name == "exists" || ends(&["enabled"]) {
        Value::Flag(true)
    } else if ends(&["at", "date", "time", "timestamp", "now"]) {
        Value::text("2026-01-01 00:00:00")
    } else if ends(&["schema", "schemaname", "nspname"]) {
        Value::text("public")
    } else if ends(&["column", "column_name", "attname"]) {
        Value::text("id")
    } else if name.contains("type") {
        Value::text("text")
    } else if ends(&["version"]) {
        Value::text("15.4")
    } else {
        Value::text(SAMPLE)
    }
}

fn texts(names: &[&str]) -> Vec<Column> {
    names.iter().map(|name| Column { name: (*name).to_owned(), is: Type::Text }).collect()
}

fn single(name: &str, value: Value) -> Table {
    Table { columns: vec![column(name, &value)], rows: vec![vec![value]] }
}

fn column(name: &str, value: &Value) -> Column {
    Column::new(name, type_of(value))
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Number(_) => Type::Number,
        Value::Flag(_) => Type::Flag,
        Value::Null | Value::Text(_) => Type::Text,
    }
}

fn told(is: Type) -> &'static str {
    match is {
        Type::Number => "integer",
        Type::Flag => "boolean",
        Type::Text => "text",
    }
}

#[cfg(test)]
mod tests {
    use super::super::sql::statements;
    use super::*;

    fn shown(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let statement = statements(text, Dialect::Postgres).unwrap().remove(0);
        let table = answer(&Store::default(), &statement, &[], Dialect::Postgres).unwrap();
        let names = table.columns.into_iter().map(|column| column.name).collect();
        let written = |value: &Value| value.written(Dialect::Postgres).unwrap_or_default();
        (names, table.rows.iter().map(|row| row.iter().map(written).collect()).collect())
    }

    fn row(text: &str) -> Vec<String> {
        shown(text).1.remove(0)
    }

    #[test]
    fn values_are_what_stands_there() {
        assert_eq!(
            shown("SELECT 1 AS one, 'x' || 'y' AS two"),
            (vec!["one".to_owned(), "two".to_owned()], vec![vec!["1".to_owned(), SAMPLE.to_owned()]])
        );
        assert_eq!(row("SELECT 31607 * 4211 AS n"), ["133097077"]);
        assert_eq!(row("SELECT version()"), [VERSION]);
        assert_eq!(row("SELECT count(*) FROM items"), ["2"]);
        assert_eq!(row("(SELECT 7)"), ["7"]);
    }

    #[test]
    fn the_database_tells_of_itself() {
        let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'";
        assert_eq!(row(tables), [SAMPLE]);
        let columns =
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'items'";
        assert_eq!(shown(columns).1[0], ["id", "integer"]);
        assert_eq!(shown(columns).1.len(), 3);
        assert_eq!(
            row("SELECT c.relname, c.oid FROM pg_catalog.pg_class c JOIN pg_namespace n ON true"),
            [SAMPLE, "1"]
        );
        assert_eq!(row("SHOW TABLES"), [SAMPLE]);
        assert_eq!(row("DESCRIBE items")[..2], ["id", "integer"]);
    }

    #[test]
    fn rows_are_chosen_and_cut() {
        assert_eq!(row("SELECT i.name FROM public.items i WHERE i.id = 2 ORDER BY name"), ["second"]);
        assert_eq!(shown("SELECT * FROM items LIMIT 1").1.len(), 1);
        assert_eq!(shown("SELECT * FROM items WHERE id = 3").1.len(), 0);
    }
}
