//! Speaks with clients of MySQL: plain queries, and prepared statements with their values.

use std::collections::BTreeMap;

use super::sql::{Dialect, Token, statements};
use super::store::{Refusal, Reply, Session, Table, Type, Value};
use super::{Databases, MAX_ANSWER, MAX_MESSAGE, keep, weight_of};
use crate::sink::wire::Wire;

/// Its clients wait to be greeted, so only the port tells that one of them has come.
pub(in crate::sink) const PORT: u16 = 3306;

/// Long passwords, of protocol 4.1, with plugins, several statements at a time, transactions.
const CAPABILITIES: u32 = 0x000b_a20f | SEVERAL_STATEMENTS;
const SEVERAL_STATEMENTS: u32 = 0x0001_0000;
const MORE_RESULTS: u16 = 0x0008;
const AUTOCOMMIT: u16 = 0x0002;
const IN_TRANSACTION: u16 = 0x0001;
const UTF8: u16 = 45;

/// Greets one client and answers it until it leaves.
pub(in crate::sink) async fn converse(wire: &mut Wire, databases: &Databases) {
    if !wire.say(&packet(0, &greeting())).await {
        return;
    }
    let Some((number, who)) = read(wire).await else { return };
    let capabilities = who.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let mut client = Client::new(capabilities);
    if !wire.say(&packet(number.wrapping_add(1), &client.fine(0, false))).await {
        return;
    }
    loop {
        let Some((_, body)) = read(wire).await else { return };
        let Some((command, rest)) = body.split_first() else { return };
        let answer = match command {
            // It leaves; or it wants another name for itself, which it may have.
            0x01 => return,
            0x03 => {
                let text = String::from_utf8_lossy(rest).into_owned();
                wire.recorder.asked(&text);
                client.query(databases, &text)
            }
            0x16 => {
                let text = String::from_utf8_lossy(rest).into_owned();
                wire.recorder.asked(&text);
                client.prepare(databases, &text)
            }
            0x17 => client.execute(databases, rest),
            // To forget a statement, or to add to its values, is not answered.
            0x18 | 0x19 => continue,
            0x1b => vec![client.end(false)],
            _ => vec![client.fine(0, false)],
        };
        // They are counted from one, and from zero again behind the last number.
        let numbers = (1_u8..=u8::MAX).chain((0..=u8::MAX).cycle());
        let packets = answer.iter().zip(numbers).map(|(body, number)| packet(number, body));
        let bytes: Vec<u8> = packets.flatten().collect();
        if !wire.say(&bytes).await {
            return;
        }
    }
}

async fn read(wire: &mut Wire) -> Option<(u8, Vec<u8>)> {
    let head = wire.take_exactly(4).await?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
    if length > MAX_MESSAGE {
        return None;
    }
    Some((head[3], wire.take_exactly(length).await?))
}

struct Client {
    session: Session,
    several: bool,
    prepared: BTreeMap<u32, (Vec<Token>, usize)>,
    next: u32,
}

impl Client {
    fn new(capabilities: u32) -> Client {
        let several = capabilities & SEVERAL_STATEMENTS != 0;
        Client { session: Session::new(Dialect::Mysql), several, prepared: BTreeMap::new(), next: 1 }
    }

    /// All statements of one text, up to the first that is refused. Most clients may only ask one at a time.
    fn query(&mut self, databases: &Databases, text: &str) -> Vec<Vec<u8>> {
        let all = match statements(text, Dialect::Mysql) {
            Some(all) if !all.is_empty() && (self.several || all.len() == 1) => all,
            Some(all) => return vec![refused(&Refusal::Syntax(second_word(&all)))],
            None => return vec![refused(&Refusal::Syntax("'".to_owned()))],
        };
        let mut answer = Vec::new();
        let last = all.len() - 1;
        for (place, statement) in all.into_iter().enumerate() {
            if answer.iter().map(Vec::len).sum::<usize>() > MAX_ANSWER {
                break;
            }
            match self.session.run(&mut databases.store(), &statement, &[]) {
                Ok(reply) => answer.extend(self.carried_out(&reply, false, place < last)),
                Err(refusal) => {
                    answer.push(refused(&refusal));
                    break;
                }
            }
        }
        answer
    }

    fn prepare(&mut self, databases: &Databases, text: &str) -> Vec<Vec<u8>> {
        let statement = match statements(text, Dialect::Mysql).as_deref() {
            Some([statement]) => statement.clone(),
            _ => return vec![refused(&Refusal::Syntax(";".to_owned()))],
        };
        let waits = statement.iter().filter(|token| matches!(token, Token::Parameter(_))).count();
        // Only what is asked is tried beforehand: it changes nothing.
        let table = super::select::answer(&databases.store(), &statement, &[], Dialect::Mysql).ok();
        let columns = table.map(|table| table.columns).unwrap_or_default();
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        keep(&mut self.prepared, number, (statement, waits), |(kept, _)| weight_of(kept));
        let mut head = vec![0];
        head.extend(number.to_le_bytes());
        head.extend((columns.len() as u16).to_le_bytes());
        head.extend((waits as u16).to_le_bytes());
        head.extend([0, 0, 0]);
        let mut answer = vec![head];
        if waits > 0 {
            answer.extend((0..waits).map(|_| column("?", Type::Text)));
            answer.push(self.end(false));
        }
        if !columns.is_empty() {
            answer.extend(columns.iter().map(|each| column(&each.name, each.is)));
            answer.push(self.end(false));
        }
        answer
    }

    fn execute(&mut self, databases: &Databases, body: &[u8]) -> Vec<Vec<u8>> {
        let number = body.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let Some((statement, waits)) = self.prepared.get(&number) else {
            return vec![refused(&Refusal::Syntax("EXECUTE".to_owned()))];
        };
        let given = values(body.get(9..).unwrap_or_default(), *waits);
        match self.session.run(&mut databases.store(), statement, &given) {
            Ok(reply) => self.carried_out(&reply, true, false),
            Err(refusal) => vec![refused(&refusal)],
        }
    }

    fn carried_out(&self, reply: &Reply, binary: bool, more: bool) -> Vec<Vec<u8>> {
        let Some(Table { columns, rows }) = &reply.table else { return vec![self.fine(reply.changed, more)] };
        let mut answer = vec![counted(columns.len())];
        answer.extend(columns.iter().map(|each| column(&each.name, each.is)));
        answer.push(self.end(more));
        answer.extend(
            rows.iter().map(|row| if binary { binary_row(row, columns.len()) } else { row_of_texts(row) }),
        );
        answer.push(self.end(more));
        answer
    }

    fn state(&self, more: bool) -> u16 {
        let in_transaction = if self.session.transaction().is_some() { IN_TRANSACTION } else { AUTOCOMMIT };
        in_transaction | if more { MORE_RESULTS } else { 0 }
    }

    fn fine(&self, changed: usize, more: bool) -> Vec<u8> {
        let mut body = vec![0];
        body.extend(counted(changed));
        body.push(0);
        body.extend(self.state(more).to_le_bytes());
        body.extend([0, 0]);
        body
    }

    fn end(&self, more: bool) -> Vec<u8> {
        [&[0xfe, 0, 0][..], &self.state(more).to_le_bytes()].concat()
    }
}

/// The word from which on a second statement is not understood.
fn second_word(all: &[Vec<Token>]) -> String {
    all.get(1).and_then(|second| second.first()?.name()).unwrap_or_default().to_owned()
}

fn greeting() -> Vec<u8> {
    let [low, high] = [CAPABILITIES as u16, (CAPABILITIES >> 16) as u16];
    let mut body = vec![10];
    body.extend(b"8.0.34\0");
    body.extend(1_u32.to_le_bytes());
    body.extend(b"abcdefgh\0");
    body.extend(low.to_le_bytes());
    body.push(UTF8 as u8);
    body.extend(AUTOCOMMIT.to_le_bytes());
    body.extend(high.to_le_bytes());
    body.push(21);
    body.extend([0; 10]);
    body.extend(b"ijklmnopqrst\0");
    body.extend(b"caching_sha2_password\0");
    body
}

fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_le_bytes();
    [&length[..3], &[number], body].concat()
}

fn column(name: &str, is: Type) -> Vec<u8> {
    let (kind, charset): (u8, u16) = match is {
        Type::Number => (0x08, 63),
        Type::Flag => (0x01, 63),
        Type::Text => (0xfd, UTF8),
    };
    let mut body = Vec::new();
    for text in ["def", "main", "", "", name, name] {
        body.extend(written(text.as_bytes()));
    }
    body.push(0x0c);
    body.extend(charset.to_le_bytes());
    body.extend(1_024_u32.to_le_bytes());
    body.push(kind);
    body.extend([0; 5]);
    body
}

fn row_of_texts(row: &[Value]) -> Vec<u8> {
    let cell = |value: &Value| match value.written(Dialect::Mysql) {
        Some(text) => written(text.as_bytes()),
        None => vec![0xfb],
    };
    row.iter().flat_map(cell).collect()
}

fn binary_row(row: &[Value], columns: usize) -> Vec<u8> {
    let mut nulls = vec![0_u8; (columns + 9) / 8];
    let mut cells = Vec::new();
    for (place, value) in row.iter().enumerate() {
        match value {
            Value::Null => nulls[(place + 2) / 8] |= 1 << ((place + 2) % 8),
            Value::Number(number) => cells.extend(number.to_le_bytes()),
            Value::Flag(flag) => cells.push(u8::from(*flag)),
            Value::Text(text) => cells.extend(written(text.as_bytes())),
        }
    }
    [vec![0], nulls, cells].concat()
}

/// A text behind its length.
fn written(bytes: &[u8]) -> Vec<u8> {
    [counted(bytes.len()), bytes.to_vec()].concat()
}

fn counted(number: usize) -> Vec<u8> {
    match number {
        0..=0xfa => vec![number as u8],
        0xfb..=0xffff => [&[0xfc][..], &(number as u16).to_le_bytes()].concat(),
        _ => [&[0xfd][..], &(number as u32).to_le_bytes()[..3]].concat(),
    }
}

/// The values of a prepared statement: which are missing, of what types they are, and then each of them.
fn values(body: &[u8], count: usize) -> Vec<Value> {
    let nulls = body.get(..count.div_ceil(8)).unwrap_or_default();
    let rest = body.get(count.div_ceil(8)..).unwrap_or_default();
    let Some((1, rest)) = rest.split_first().map(|(bound, rest)| (*bound, rest)) else { return Vec::new() };
    let (types, mut rest) = rest.split_at(rest.len().min(count * 2));
    let mut given = Vec::new();
    for (place, kind) in types.chunks(2).enumerate() {
        let is_null = nulls.get(place / 8).is_some_and(|byte| byte & (1 << (place % 8)) != 0);
        given.push(if is_null { Value::Null } else { value(kind[0], &mut rest) });
    }
    given
}

fn value(kind: u8, rest: &mut &[u8]) -> Value {
    let size = match kind {
        0x01 => 1,
        0x02 | 0x0d => 2,
        0x03 | 0x09 => 4,
        0x05 | 0x08 => 8,
        _ => {
            let length = match rest.split_off_first().copied().unwrap_or_default() {
                0xfc => rest
                    .split_off(..2)
                    .map_or(0, |bytes| usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))),
                0xfd => rest
                    .split_off(..3)
                    .map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize),
                short => usize::from(short),
            };
            let text = String::from_utf8_lossy(rest.split_off(..length.min(rest.len())).unwrap_or_default());
            return text.parse().map_or_else(|_| Value::text(&text), Value::Number);
        }
    };
    let mut bytes = [0; 8];
    let taken = rest.split_off(..size).unwrap_or_default();
    bytes[..taken.len()].copy_from_slice(taken);
    match kind {
        // Clients in JavaScript send all their numbers so.
        0x05 => Value::Number(f64::from_le_bytes(bytes) as i64),
        _ => Value::Number(i64::from_le_bytes(bytes)),
    }
}

fn refused(refusal: &Refusal) -> Vec<u8> {
    let (number, state, told): (u16, &str, String) = match refusal {
        Refusal::Syntax(near) => {
            (1064, "42000", format!("You have an error in your SQL syntax near '{near}' at line 1"))
        }
        Refusal::NoTable(name) => (1146, "42S02", format!("Table 'main.{name}' doesn't exist")),
        Refusal::TableIsThere(name) => (1050, "42S01", format!("Table '{name}' already exists")),
        Refusal::ReadsOnly(_) => {
            (1792, "25006", "Cannot execute statement in a READ ONLY transaction.".to_owned())
        }
        Refusal::Failed | Refusal::TooLate => (
            1568,
            "25001",
            "Transaction characteristics can't be changed while a transaction is in progress".to_owned(),
        ),
    };
    [&[0xff][..], &number.to_le_bytes(), b"#", state.as_bytes(), told.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(answer: &[Vec<u8>]) -> String {
        String::from_utf8_lossy(&answer.concat()).into_owned()
    }

    #[test]
    fn several_statements_are_carried_out_only_for_clients_that_asked_for_it() {
        let databases = Databases::default();
        let text = "SELECT 1; CREATE TABLE made AS SELECT 6 * 7 AS n";
        assert!(told(&Client::new(0).query(&databases, text)).contains("42000"));
        assert!(told(&Client::new(0).query(&databases, "SELECT n FROM made")).contains("42S02"));
        Client::new(SEVERAL_STATEMENTS).query(&databases, text);
        assert!(told(&Client::new(0).query(&databases, "SELECT n FROM made")).contains("42"));
    }

    #[test]
    fn values_come_with_prepared_statements() {
        let databases = Databases::default();
        let mut client = Client::new(0);
        let prepared = client.prepare(&databases, "SELECT name FROM items WHERE id = ? AND status = ?");
        assert_eq!(prepared[0][..9], [0, 1, 0, 0, 0, 1, 0, 2, 0]);
        let mut body = vec![1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0x08, 0, 0xfd, 0];
        body.extend(2_i64.to_le_bytes());
        body.extend(written(b"active"));
        assert!(told(&client.execute(&databases, &body)).contains("second"));
    }

    #[test]
    fn any_bytes_are_answered_without_harm() {
        let databases = Databases::default();
        let mut client = Client::new(u32::MAX);
        client.prepare(&databases, "SELECT ?, ?, ?");
        for length in 0..60_usize {
            for seed in 0..50_usize {
                let mut body: Vec<u8> = (0..length).map(|place| (place * seed * 31 + seed) as u8).collect();
                client.execute(&databases, &body);
                body.splice(..0, [1, 0, 0, 0, 0, 1, 0, 0, 0]);
                client.execute(&databases, &body);
                client.query(&databases, &String::from_utf8_lossy(&body));
            }
        }
    }
}
