//! Speaks with clients of PostgreSQL, version 3 of its protocol: plain queries, and prepared statements with their values.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::sql::{Dialect, Token, statements};
use super::store::{Refusal, Reply, Session, Table, Type, Value};
use super::{Databases, MAX_ANSWER, MAX_MESSAGE, keep, weight_of};
use crate::sink::wire::Wire;

pub(in crate::sink) const PORT: u16 = 5432;

/// The greeting of a client: its user and its settings.
const MAX_STARTUP: usize = 10_000;
const VERSION_3: u32 = 0x0003_0000;
const SECURE: u32 = 80_877_103;
const ENCRYPT: u32 = 80_877_104;

/// How a client begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sink) enum Opening {
    /// With who it is.
    Start,
    /// It asks for TLS.
    Secure,
    /// It asks for an encryption that we do not have.
    Encrypt,
}

/// Whether these first bytes are those of such a client.
pub(in crate::sink) fn opening(first: &[u8]) -> Option<Opening> {
    let length = u32::from_be_bytes(first.get(..4)?.try_into().ok()?) as usize;
    match u32::from_be_bytes(first.get(4..8)?.try_into().ok()?) {
        VERSION_3 if (8..=MAX_STARTUP).contains(&length) => Some(Opening::Start),
        SECURE if length == 8 => Some(Opening::Secure),
        ENCRYPT if length == 8 => Some(Opening::Encrypt),
        _ => None,
    }
}

/// Answers one client until it leaves.
pub(in crate::sink) async fn converse(wire: &mut Wire, databases: &Databases) {
    let Some(head) = wire.take_exactly(4).await else { return };
    let length = u32::from_be_bytes(head.try_into().unwrap_or_default()) as usize;
    if length > MAX_STARTUP || wire.take_exactly(length.saturating_sub(4)).await.is_none() {
        return;
    }
    if !wire.say(&greeting()).await {
        return;
    }
    let mut client = Client::new();
    loop {
        let Some(head) = wire.take_exactly(5).await else { return };
        let length = u32::from_be_bytes(head[1..].try_into().unwrap_or_default()) as usize;
        if !(4..=MAX_MESSAGE).contains(&length) {
            return;
        }
        let Some(body) = wire.take_exactly(length - 4).await else { return };
        if head[0] == b'X' {
            return;
        }
        if let Some(asked) = client.asks(head[0], &body) {
            wire.recorder.asked(&asked);
        }
        let answer = client.answer(databases, head[0], &body);
        if !wire.say(&answer).await {
            return;
        }
    }
}

struct Client {
    session: Session,
    prepared: BTreeMap<String, Arc<[Token]>>,
    portals: BTreeMap<String, Portal>,
    /// Whether all is passed over until the client has noticed an error.
    skips: bool,
}

struct Portal {
    statement: Arc<[Token]>,
    given: Vec<Value>,
    /// Whether each column is wanted in binary: one for all, or one each.
    formats: Vec<bool>,
}

impl Portal {
    fn weight(&self) -> usize {
        weight_of(&self.statement) + self.given.iter().map(Value::weight).sum::<usize>() + self.formats.len()
    }
}

impl Client {
    fn new() -> Client {
        let session = Session::new(Dialect::Postgres);
        Client { session, prepared: BTreeMap::new(), portals: BTreeMap::new(), skips: false }
    }

    /// The statement in a message that brings one.
    fn asks(&self, kind: u8, body: &[u8]) -> Option<String> {
        match kind {
            b'Q' => Some(text(&mut &*body)),
            b'P' => {
                let rest = &mut &*body;
                text(rest);
                Some(text(rest))
            }
            _ => None,
        }
    }

    fn answer(&mut self, databases: &Databases, kind: u8, body: &[u8]) -> Vec<u8> {
        if self.skips && kind != b'S' {
            return Vec::new();
        }
        let answered = match kind {
            b'Q' => {
                let mut answer = self
                    .query(databases, &text(&mut &*body))
                    .unwrap_or_else(|(sent, refusal)| [sent, refused(&refusal)].concat());
                answer.extend(self.ready());
                Ok(answer)
            }
            b'P' => self.prepare(body),
            b'B' => self.bind(body),
            b'D' => self.describe(databases, body),
            b'E' => self.execute(databases, body),
            b'C' => Ok(message(b'3', &[])),
            b'S' => {
                self.skips = false;
                Ok(self.ready())
            }
            b'F' => Err(Refusal::Syntax("function".to_owned())),
            _ => Ok(Vec::new()),
        };
        answered.unwrap_or_else(|refusal| {
            self.skips = true;
            refused(&refusal)
        })
    }

    /// All statements of one text, up to the first that is refused.
    fn query(&mut self, databases: &Databases, text: &str) -> Result<Vec<u8>, (Vec<u8>, Refusal)> {
        let all = statements(text, Dialect::Postgres).ok_or((Vec::new(), Refusal::Syntax("'".to_owned())))?;
        if all.is_empty() {
            return Ok(message(b'I', &[]));
        }
        let mut answer = Vec::new();
        for statement in all {
            if answer.len() > MAX_ANSWER {
                break;
            }
            match self.session.run(&mut databases.store(), &statement, &[]) {
                Ok(reply) => {
                    answer.extend(reply.table.iter().flat_map(|table| described(table, &[])));
                    answer.extend(carried_out(&reply, &[]));
                }
                Err(refusal) => return Err((answer, refusal)),
            }
        }
        Ok(answer)
    }

    fn prepare(&mut self, mut body: &[u8]) -> Result<Vec<u8>, Refusal> {
        let (name, asked) = (text(&mut body), text(&mut body));
        let mut all = statements(&asked, Dialect::Postgres).ok_or(Refusal::Syntax("'".to_owned()))?;
        if all.len() > 1 {
            return Err(Refusal::Syntax(";".to_owned()));
        }
        let statement: Arc<[Token]> = all.pop().unwrap_or_default().into();
        keep(&mut self.prepared, name, statement, |kept| weight_of(kept));
        Ok(message(b'1', &[]))
    }

    fn bind(&mut self, mut body: &[u8]) -> Result<Vec<u8>, Refusal> {
        let (portal, name) = (text(&mut body), text(&mut body));
        let binary = formats(&mut body);
        let count = usize::from(number(&mut body));
        let mut given = Vec::new();
        for place in 0..count {
            let Some(length) = body.split_off(..4) else { break };
            let length = i32::from_be_bytes(length.try_into().unwrap_or_default());
            let Ok(length) = usize::try_from(length) else {
                given.push(Value::Null);
                continue;
            };
            let Some(bytes) = body.split_off(..length) else { break };
            let in_binary = binary.get(place).or(binary.first()).copied().unwrap_or_default();
            given.push(value(bytes, in_binary));
        }
        let statement = self.prepared.get(&name).cloned().unwrap_or_default();
        let bound = Portal { statement, given, formats: formats(&mut body) };
        keep(&mut self.portals, portal, bound, Portal::weight);
        Ok(message(b'2', &[]))
    }

    fn describe(&mut self, databases: &Databases, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        let (kind, rest) = body.split_first().unwrap_or((&b'S', &[]));
        let name = text(&mut &*rest);
        let (statement, given, formats) = match kind {
            b'P' => {
                let portal = self.portals.get(&name);
                portal.map(|portal| (portal.statement.clone(), portal.given.clone(), portal.formats.clone()))
            }
            _ => self.prepared.get(&name).map(|statement| (statement.clone(), Vec::new(), Vec::new())),
        }
        .unwrap_or_default();
        let mut answer = Vec::new();
        if *kind == b'S' {
            answer.extend(parameters(&statement));
        }
        // Only what is asked is tried beforehand: it changes nothing.
        let table = super::select::answer(&databases.store(), &statement, &given, Dialect::Postgres);
        answer.extend(match table {
            Ok(table) => described(&table, &formats),
            Err(_) => message(b'n', &[]),
        });
        Ok(answer)
    }

    fn execute(&mut self, databases: &Databases, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        let Some(portal) = self.portals.get(&text(&mut &*body)) else { return Ok(message(b'I', &[])) };
        if portal.statement.is_empty() {
            return Ok(message(b'I', &[]));
        }
        let reply = self.session.run(&mut databases.store(), &portal.statement, &portal.given)?;
        Ok(carried_out(&reply, &portal.formats))
    }

    fn ready(&self) -> Vec<u8> {
        let state = match self.session.transaction() {
            None => b'I',
            Some(false) => b'T',
            Some(true) => b'E',
        };
        message(b'Z', &[state])
    }
}

/// Everybody is let in.
fn greeting() -> Vec<u8> {
    let mut answer = message(b'R', &0_u32.to_be_bytes());
    let settings = [
        ("server_version", "15.4"),
        ("server_encoding", "UTF8"),
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO, MDY"),
        ("TimeZone", "UTC"),
        ("integer_datetimes", "on"),
        ("standard_conforming_strings", "on"),
        ("is_superuser", "off"),
    ];
    for (name, value) in settings {
        answer.extend(message(b'S', format!("{name}\0{value}\0").as_bytes()));
    }
    answer.extend(message(b'K', &[0, 0, 0, 1, 0, 0, 0, 1]));
    answer.extend(message(b'Z', b"I"));
    answer
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    [&[kind][..], &length.to_be_bytes(), body].concat()
}

/// Columns with their types.
fn described(table: &Table, formats: &[bool]) -> Vec<u8> {
    let mut body = (table.columns.len() as u16).to_be_bytes().to_vec();
    for (place, column) in table.columns.iter().enumerate() {
        let (kind, size): (u32, i16) = match column.is {
            Type::Number => (20, 8),
            Type::Flag => (16, 1),
            Type::Text => (25, -1),
        };
        let binary = formats.get(place).or(formats.first()).copied().unwrap_or_default();
        body.extend(column.name.replace('\0', "").as_bytes());
        body.push(0);
        body.extend([0; 6]);
        body.extend(kind.to_be_bytes());
        body.extend(size.to_be_bytes());
        body.extend((-1_i32).to_be_bytes());
        body.extend(u16::from(binary).to_be_bytes());
    }
    message(b'T', &body)
}

/// Rows, and what was done.
fn carried_out(reply: &Reply, formats: &[bool]) -> Vec<u8> {
    let mut answer = Vec::new();
    for row in reply.table.iter().flat_map(|table| &table.rows) {
        let mut body = (row.len() as u16).to_be_bytes().to_vec();
        for (place, value) in row.iter().enumerate() {
            let binary = formats.get(place).or(formats.first()).copied().unwrap_or_default();
            match sent(value, binary) {
                Some(bytes) => {
                    body.extend((bytes.len() as u32).to_be_bytes());
                    body.extend(bytes);
                }
                None => body.extend((-1_i32).to_be_bytes()),
            }
        }
        answer.extend(message(b'D', &body));
    }
    let told = match reply.verb.as_str() {
        "INSERT" => format!("INSERT 0 {}\0", reply.changed),
        verb @ ("SELECT" | "UPDATE" | "DELETE") => format!("{verb} {}\0", reply.changed),
        verb => format!("{verb}\0"),
    };
    answer.extend(message(b'C', told.as_bytes()));
    answer
}

fn sent(value: &Value, binary: bool) -> Option<Vec<u8>> {
    match value {
        Value::Number(number) if binary => Some(number.to_be_bytes().to_vec()),
        Value::Flag(flag) if binary => Some(vec![u8::from(*flag)]),
        value => value.written(Dialect::Postgres).map(String::into_bytes),
    }
}

fn value(bytes: &[u8], binary: bool) -> Value {
    match (binary, bytes) {
        (true, &[flag @ (0 | 1)]) => Value::Flag(flag == 1),
        (true, &[a, b]) => Value::Number(i16::from_be_bytes([a, b]).into()),
        (true, &[a, b, c, d]) => Value::Number(i32::from_be_bytes([a, b, c, d]).into()),
        (true, &[a, b, c, d, e, f, g, h]) => Value::Number(i64::from_be_bytes([a, b, c, d, e, f, g, h])),
        _ => {
            let text = String::from_utf8_lossy(bytes);
            text.parse().map_or_else(|_| Value::text(&text), Value::Number)
        }
    }
}

/// The types of the values that a statement waits for: numbers where rows are counted, texts elsewhere.
fn parameters(statement: &[Token]) -> Vec<u8> {
    let mut types: BTreeMap<usize, u32> = BTreeMap::new();
    for (at, token) in statement.iter().enumerate() {
        let Token::Parameter(number) = token else { continue };
        let before = at.checked_sub(1).map(|before| &statement[before]);
        let counts = before.is_some_and(|token| token.is("limit") || token.is("offset"));
        types.insert(*number, if counts { 20 } else { 25 });
    }
    let count = types.last_key_value().map_or(0, |(last, _)| last + 1).min(usize::from(u16::MAX));
    let mut body = (count as u16).to_be_bytes().to_vec();
    for place in 0..count {
        body.extend(types.get(&place).copied().unwrap_or(25).to_be_bytes());
    }
    message(b't', &body)
}

fn refused(refusal: &Refusal) -> Vec<u8> {
    let (code, told) = match refusal {
        Refusal::Syntax(near) => ("42601", format!("syntax error at or near \"{near}\"")),
        Refusal::NoTable(name) => ("42P01", format!("relation \"{name}\" does not exist")),
        Refusal::TableIsThere(name) => ("42P07", format!("relation \"{name}\" already exists")),
        Refusal::ReadsOnly(verb) => ("25006", format!("cannot execute {verb} in a read-only transaction")),
        Refusal::Failed => (
            "25P02",
            "current transaction is aborted, commands ignored until end of transaction block".to_owned(),
        ),
        Refusal::TooLate => ("25001", "transaction read-write mode must be set before any query".to_owned()),
    };
    let told = told.replace('\0', "");
    message(b'E', format!("SERROR\0VERROR\0C{code}\0M{told}\0\0").as_bytes())
}

/// Takes a text up to its zero.
fn text(rest: &mut &[u8]) -> String {
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    let text = String::from_utf8_lossy(&rest[..end]).into_owned();
    *rest = rest.get(end + 1..).unwrap_or_default();
    text
}

/// Takes a number of two bytes.
fn number(rest: &mut &[u8]) -> u16 {
    rest.split_off(..2).map_or(0, |bytes| u16::from_be_bytes(bytes.try_into().unwrap_or_default()))
}

fn formats(rest: &mut &[u8]) -> Vec<bool> {
    (0..number(rest)).map_while(|_| (!rest.is_empty()).then(|| number(rest) == 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(client: &mut Client, databases: &Databases, text: &str) -> String {
        let answer = client.answer(databases, b'Q', format!("{text}\0").as_bytes());
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[test]
    fn a_client_is_known_by_its_first_bytes() {
        assert_eq!(opening(&[0, 0, 0, 8, 4, 210, 22, 47]), Some(Opening::Secure));
        assert_eq!(opening(&[0, 0, 0, 20, 0, 3, 0, 0, b'u']), Some(Opening::Start));
        assert_eq!(opening(b"GET / HTTP/1.1"), None);
    }

    #[test]
    fn statements_in_one_query_are_all_carried_out_and_prepared_ones_are_single() {
        let databases = Databases::default();
        let mut client = Client::new();
        asked(&mut client, &databases, "BEGIN READ ONLY");
        assert!(asked(&mut client, &databases, "CREATE TABLE a AS SELECT 1 AS n").contains("25006"));
        asked(&mut client, &databases, "ROLLBACK");
        asked(&mut client, &databases, "BEGIN READ ONLY");
        assert!(
            asked(&mut client, &databases, "COMMIT; CREATE TABLE a AS SELECT 7 AS n;")
                .contains("CREATE TABLE")
        );
        let refused = client.answer(&databases, b'P', b"\0SELECT 1; SELECT 2\0\0\0");
        assert!(String::from_utf8_lossy(&refused).contains("42601"));
        assert!(
            client.answer(&databases, b'B', b"").is_empty(),
            "all is passed over until the client has noticed"
        );
        assert_eq!(client.answer(&databases, b'S', b""), message(b'Z', b"I"));
    }

    #[test]
    fn values_come_with_prepared_statements() {
        let databases = Databases::default();
        let mut client = Client::new();
        let prepared = client.answer(&databases, b'P', b"\0SELECT name FROM items WHERE id = $1\0\0\0");
        assert_eq!(prepared, message(b'1', &[]));
        let bound = [&b"\0\0"[..], &[0, 0, 0, 1, 0, 0, 0, 1], b"2", &[0, 0]].concat();
        assert_eq!(client.answer(&databases, b'B', &bound), message(b'2', &[]));
        let answer = client.answer(&databases, b'E', b"\0\0\0\0\0");
        assert!(String::from_utf8_lossy(&answer).contains("second"));
    }

    #[test]
    fn any_bytes_are_answered_without_harm() {
        let databases = Databases::default();
        for kind in b'A'..=b'z' {
            for length in 0..40_usize {
                let body: Vec<u8> = (0..length).map(|place| (place * 37 + usize::from(kind)) as u8).collect();
                Client::new().answer(&databases, kind, &body);
                Client::new().answer(&databases, kind, &vec![0xff; length]);
            }
        }
    }
}
