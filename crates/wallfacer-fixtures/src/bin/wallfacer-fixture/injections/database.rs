//! What reaches a database that the server asks, as a client of PostgreSQL.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::answer::Answer;
use crate::scenes::{Call, Scene, Tool, failed, said};

/// Where its users have their database.
const DATABASE: &str = "127.0.0.1:5432";
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest answer that is read.
const MAX_MESSAGE: usize = 1 << 20;

pub fn scene(name: &str) -> Option<Scene> {
    if name != "statement-to-a-database" {
        return None;
    }
    let about = "Runs a read-only SQL query on the records.";
    let arguments = json!({"sql": {"type": "string"}});
    let tool =
        Tool::new("ask_records", about, arguments, &["sql"], |call| answered(call, Database::prepared));
    Some(Scene::around(tool.except(|_| true, |call| answered(call, Database::query))))
}

fn answered(call: &Call, ask: fn(&mut Database, &str) -> io::Result<Told>) -> Answer {
    let asked = || -> io::Result<Told> {
        let mut database = Database::open()?;
        let _begun = database.query("BEGIN TRANSACTION READ ONLY")?;
        let told = ask(&mut database, call.text("sql"))?;
        let _given_up = database.query("ROLLBACK")?;
        Ok(told)
    };
    match asked() {
        Ok(Ok(rows)) => said(&rows.join("\n")),
        Ok(Err(refusal)) => failed(&refusal),
        Err(error) => failed(&error.to_string()),
    }
}

/// The rows, or why there are none.
type Told = Result<Vec<String>, String>;

struct Database(TcpStream);

impl Database {
    fn open() -> io::Result<Database> {
        let stream = TcpStream::connect(DATABASE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut database = Database(stream);
        let who = b"\0\x03\0\0user\0app\0\0";
        database.0.write_all(&[&(who.len() as u32 + 4).to_be_bytes()[..], who].concat())?;
        let _greeting = database.told()?;
        Ok(database)
    }

    /// A whole text, with as many statements as it has.
    fn query(&mut self, sql: &str) -> io::Result<Told> {
        self.send(b'Q', format!("{sql}\0").as_bytes())?;
        self.told()
    }

    /// One statement.
    fn prepared(&mut self, sql: &str) -> io::Result<Told> {
        self.send(b'P', format!("\0{sql}\0\0\0").as_bytes())?;
        self.send(b'B', &[0; 8])?;
        self.send(b'E', &[0; 5])?;
        self.send(b'S', &[])?;
        self.told()
    }

    fn send(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        let length = (body.len() as u32 + 4).to_be_bytes();
        self.0.write_all(&[&[kind][..], &length, body].concat())
    }

    /// All messages until the database is ready for more.
    fn told(&mut self) -> io::Result<Told> {
        let mut told = Ok(Vec::new());
        loop {
            let mut head = [0; 5];
            self.0.read_exact(&mut head)?;
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let mut body = vec![0; length.saturating_sub(4).min(MAX_MESSAGE)];
            self.0.read_exact(&mut body)?;
            let text = || String::from_utf8_lossy(&body).replace(|letter: char| letter.is_control(), " ");
            match head[0] {
                b'Z' => return Ok(told),
                b'E' => told = Err(text()),
                b'D' => told.iter_mut().for_each(|rows| rows.push(text())),
                _ => {}
            }
        }
    }
}
