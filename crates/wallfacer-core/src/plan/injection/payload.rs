//! Chooses what is put into a place, each payload with the effect by which its success is known. All of them are plain
//! techniques: none knows a server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::aim::{Aim, Escape};
use super::base::Known;
use super::ground::{Ground, PLAIN, To, Way};
use super::job::Job;
use super::place::{Place, Purpose, is_code};
use wallfacer_process::sink::REDIRECT;
use wallfacer_text::lexicon::words;

/// A longer value is left out of the payload: it only makes it harder to read.
const MAX_VALUE: usize = 80;
/// Paths that are there, with a command in their names, that one place gets.
const MAX_THERE: usize = 2;
/// Where an option of ours would make a file.
const MADE: &str = "/tmp";
/// Numbers whose product nobody writes down by chance, and which is no more than a database holds in 32 bits.
const FACTOR: u64 = 30_011;
const STEP: u64 = 1_009;
/// Ways around a list of allowed or forbidden commands that are tried at once.
const LISTS_AT_ONCE: usize = 4;
/// Addresses of this machine and its network that are tried before those that have an allowed host in them.
const PLAIN_REQUESTS: usize = 3;
/// Words of arguments that are a host, and no whole address.
const HOSTS: [&str; 6] = ["domain", "host", "hostname", "hosts", "ip", "server"];
/// One statement that begins as a question does, and makes a table all the same.
const KEEPS: &str = "a question that keeps its answer";
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
    /// What the other texts of the call are to be, where it matters.
    pub beside: Option<String>,
}

impl Payload {
    pub(super) fn one(way: &str, aim: Aim, value: String, rank: u8) -> Payload {
        Payload::of(way, aim, vec![value], rank)
    }

    pub(super) fn of(way: &str, aim: Aim, values: Vec<String>, rank: u8) -> Payload {
        Payload { way: way.to_owned(), aim, values, rank, openly_first: false, beside: None }
    }

    /// Behind the same, asked for openly: where that has the effect too, there is nothing to get around.
    fn behind(openly: String, way: &str, aim: Aim, value: String, rank: u8) -> Payload {
        Payload { openly_first: true, ..Payload::of(way, aim, vec![openly, value], rank) }
    }
}

/// A program of ours behind all that ends one command and begins another. `about` is what the schema says of the place. Where
/// the place, or another of the tool, takes commands, each comes behind the plain name of ours, which must not run.
pub fn commands(place: &Place, known: &Known, ground: &Ground, about: &str, runs: bool) -> Vec<Payload> {
    let is_program = place.purpose == Purpose::Program;
    if is_program && is_code(&place.name) {
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
        ("a command in the background", format!("{value}&{program}&")),
        ("a new line", format!("{value}\n{program}\n")),
        ("a substitution with a whole path", format!("$(/usr/bin/{program})")),
        ("a quote and a substitution", format!("{value}\"$({program})\"")),
    ];
    let aim = || Aim::Execute { program: program.clone() };
    let payload = |(way, text)| match is_program || runs {
        true => Payload::behind(program.clone(), way, aim(), text, rank),
        false => Payload::one(way, aim(), text, rank),
    };
    let there = paths_that_are_there(place, ground, about).map(|path| ("a path that is there", path));
    let mut written: Vec<(&str, String)> = written.into();
    written.splice(1..1, there);
    written.into_iter().map(payload).collect()
}

/// Paths with a command in their names, of the sort that the place is for.
fn paths_that_are_there<'a>(
    place: &'a Place,
    ground: &'a Ground,
    about: &'a str,
) -> impl Iterator<Item = String> + 'a {
    let ending = Path::new(&place.value).extension().and_then(|ending| ending.to_str());
    let is_fit = move |to: &To| match (place.purpose, to) {
        (Purpose::Directory, To::Directory) => true,
        (Purpose::File, To::Directory) => ending.is_none(),
        (Purpose::File, To::File(of)) => ending.unwrap_or(PLAIN) == of || mentions(about, to),
        _ => false,
    };
    let fit = ground.named.iter().filter(move |named| is_fit(&named.to));
    fit.map(|named| named.path.clone()).take(MAX_THERE)
}

/// What gets around a list of commands that a tool takes or refuses: each behind the plain name of the program, which
/// must not run. `said` is all that the tool says of itself, which may name what it takes.
pub fn refused_commands(place: &Place, ground: &Ground, said: &str) -> Vec<Payload> {
    if place.purpose != Purpose::Program {
        return Vec::new();
    }
    let named = ALLOWED.captures(said).and_then(|found| found.get(1)).map(|name| name.as_str());
    let (allowed, program) = (named.unwrap_or(short(&place.value)), &ground.program);
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
        ("a program beside an allowed one", format!("{allowed} & {program}")),
        ("a program within the second of two allowed commands", format!("{first} && {first} $({program})")),
        ("a program behind an argument of an allowed one", format!("{first} .;{program}")),
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
    let blocked = BLOCKED.iter().map(|program| blocked(program, allowed)).collect();
    // A tool that allows a few commands refuses our program, and one that forbids a few may run it. Nobody knows which sort
    // this tool is, so both kinds of payload take turns.
    in_turn(vec![ours.collect(), in_turn(blocked)])
}

/// Commands that read a file outside of a declared directory, each behind the one that names it openly, which must not.
pub fn refused_paths(place: &Place, ground: &Ground) -> Vec<Payload> {
    if place.purpose != Purpose::Program {
        return Vec::new();
    }
    let payload = |way: &Way| match &way.aim {
        Aim::Reach { escape: Escape::Outside | Escape::Symlink, declared: true, outside, .. } => {
            let (openly, read) = (format!("cat {}", outside.display()), format!("cat {}", way.value));
            let is_fit = way.to == To::File(PLAIN.to_owned()) && !way.value.contains('\0') && openly != read;
            is_fit.then(|| Payload::behind(openly, way.about, way.aim.clone(), read, 1))
        }
        _ => None,
    };
    ground.ways.iter().filter_map(payload).collect()
}

/// "Allowed commands: ls, cat", in small letters.
static ALLOWED: LazyLock<Regex> = LazyLock::new(|| {
    let text = r#"\b(?:allowed|permitted|available) (?:commands|programs)(?: are| include)?:?\s*[\[("'`]*([a-z][\w-]*)"#;
    Regex::new(text).expect("a constant")
});

/// The words of a command as a shell would tell them apart; of its quotes it knows the single ones, which ours have.
pub fn shell_words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (number, part) in command.split('\'').enumerate() {
        match number % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
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
    written.into_iter().map(|(way, text)| Payload::behind(openly(), way, aim(), text, 0)).collect()
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
    u8::from(matches!(place.purpose, Purpose::Prose | Purpose::Number)) + u8::from(runs_none)
}

/// The first of each list, then the second of each.
pub fn in_turn(lists: Vec<Vec<Payload>>) -> Vec<Payload> {
    let mut all: Vec<(usize, Payload)> =
        lists.into_iter().flat_map(|list| list.into_iter().enumerate()).collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, payload)| payload).collect()
}

/// Deals a list out into several, so that the first of each are the first of the whole list.
pub fn deal(list: Vec<Payload>) -> Vec<Vec<Payload>> {
    let mut lists = vec![Vec::new(); LISTS_AT_ONCE];
    for (number, payload) in list.into_iter().enumerate() {
        lists[number % LISTS_AT_ONCE].push(payload);
    }
    lists
}

/// Every way of one sort out of every scope, those first that lead to what the place is for. `about` is what the schema
/// says of it.
pub fn escapes(place: &Place, ground: &Ground, wanted: Escape, about: &str, job: Job) -> Vec<Payload> {
    let rank = match place.purpose {
        Purpose::Number => return Vec::new(),
        Purpose::Directory | Purpose::File => 0,
        // What something is called by often becomes the name of a file.
        Purpose::Unknown if job.writes => 0,
        Purpose::Unknown | Purpose::Address => 1,
        Purpose::Pattern if job.lists => 1,
        Purpose::Prose if job.writes && is_short(&place.value) => 1,
        _ => 3,
    };
    let is_wanted = |aim: &Aim| matches!(aim, Aim::Reach { escape, .. } if *escape == wanted);
    let is_fit = |way: &&Way| is_wanted(&way.aim) && (way.to != To::Archive || job.unpacks);
    let mut ways: Vec<&Way> = ground.ways.iter().filter(is_fit).collect();
    let mentioned = ways.iter().any(|way| mentions(about, &way.to));
    ways.sort_by_key(|way| {
        let unfit = match (place.purpose, &way.to) {
            (Purpose::Directory, To::Directory) => 0,
            (_, to) if mentions(about, to) => 0,
            (_, To::New(_)) if job.writes => u8::from(mentioned),
            (_, To::Archive) => 0,
            (Purpose::Unknown, To::Stem) => u8::from(job.writes),
            (_, To::Directory) if job.lists || wanted == Escape::Relative => 0,
            (Purpose::Pattern, To::Pattern) => 0,
            (Purpose::Directory, To::File(_)) => 2,
            (_, To::File(ending)) if ending == PLAIN => u8::from(mentioned || job.writes),
            (_, To::New(ending)) if ending == PLAIN => 1,
            (_, To::Directory | To::Stem) => 2,
            (_, To::File(_) | To::New(_) | To::Pattern) => 3,
        };
        unfit + 2 * u8::from(way.disguised)
    });
    let payload = |way: &Way| match &way.openly {
        Some(openly) => Payload::behind(openly.clone(), way.about, way.aim.clone(), way.value.clone(), rank),
        None => Payload::one(way.about, way.aim.clone(), way.value.clone(), rank),
    };
    let as_address = |way: &Way| {
        let by_path = place.purpose == Purpose::Address && Path::new(&way.value).is_absolute();
        let about = format!("{}, as the address of a file", way.about);
        by_path.then(|| Payload::one(&about, way.aim.clone(), format!("file://{}", way.value), rank))
    };
    ways.into_iter().flat_map(|way| as_address(way).into_iter().chain([payload(way)])).collect()
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
        Purpose::Number => return Vec::new(),
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
        // The names of the sandbox lead to the address that is a part of them.
        ("a name that leads to a loopback address", format!("http://127.0.0.1.nip.io:{port}/"), here.clone()),
        ("a loopback address in hexadecimal", format!("http://0x7f000001:{port}/"), here.clone()),
        ("a loopback address in octal", format!("http://0177.0.0.1:{port}/"), here.clone()),
        (
            "an inner address behind a name and a password",
            format!("http://www.example.com@127.0.0.1:{port}/"),
            here.clone(),
        ),
        ("an inner address in capitals", format!("HTTP://LOCALHOST:{port}/"), here.clone()),
        ("the address of any interface", format!("http://0.0.0.0:{port}/"), here.clone()),
        // The network of the sandbox sends whoever asks for this on to the address in it.
        (
            "an address outside that leads to a loopback address",
            format!("http://www.example.com{REDIRECT}127.0.0.1:{port}"),
            here.clone(),
        ),
        ("a loopback address without a scheme", format!("127.0.0.1:{port}"), here.clone()),
    ];
    let mut written: Vec<(&str, String, Vec<SocketAddr>)> = written.into();
    // Who takes addresses of some hosts only may look no further than for their names.
    let allowed = written.len().min(PLAIN_REQUESTS);
    written.splice(
        allowed..allowed,
        beside_allowed(&place.value, port).map(|(way, text)| (way, text, here.clone())),
    );
    // Who asks for a host makes the address of it.
    if words(&place.name).iter().any(|word| HOSTS.contains(&word.as_str())) {
        written.rotate_right(1);
    }
    let meant = job.fetches || place.purpose == Purpose::Address;
    let aim = |addresses| Aim::Connect { addresses, meant };
    written.into_iter().map(|(way, text, addresses)| Payload::one(way, aim(addresses), text, rank)).collect()
}

/// Addresses that lead to this machine, and have the host of one that was taken in them.
fn beside_allowed(taken: &str, port: u16) -> impl Iterator<Item = (&'static str, String)> {
    let of = |address: &str| {
        let (scheme, rest) = address.split_once("://").filter(|(scheme, _)| scheme.starts_with("http"))?;
        let host = rest.split(['/', '?', '#', ':', '@']).next().filter(|host| host.contains('.'))?;
        Some([
            ("an allowed name with more behind it", format!("{scheme}://{host}.127.0.0.1.nip.io:{port}/")),
            ("an inner address behind an allowed name", format!("{scheme}://{host}@127.0.0.1:{port}/")),
            ("an inner address with an allowed name in its path", format!("http://127.0.0.1:{port}/{host}")),
        ])
    };
    of(taken).into_iter().flatten()
}

/// An address whose scheme nobody knows: whatever opens it was chosen by the caller.
pub fn schemes(place: &Place, known: &Known, ground: &Ground) -> Vec<Payload> {
    if place.purpose != Purpose::Address {
        return Vec::new();
    }
    let address = format!("{}://open", ground.program);
    let aim = Aim::Hand { address: address.clone() };
    let rank = u8::from(!known.runs_programs);
    vec![Payload::one("an address with a scheme of its own", aim, address, rank)]
}

/// The address of a file of this machine, for a tool that fetches pages and does not say that it takes such addresses.
/// `said` is all that the tool says of itself.
pub fn file_addresses(place: &Place, job: Job, ground: &Ground, said: &str) -> Vec<Payload> {
    let is_said = ["file:", "local file", "file path", "filesystem"].iter().any(|words| said.contains(words));
    if place.purpose != Purpose::Address || !job.fetches || is_said {
        return Vec::new();
    }
    let ways = ground.ways.iter().filter(|way| way.value.starts_with("file:"));
    let payload = |way: &Way| {
        let Aim::Reach { scope, outside, name, token, .. } = way.aim.clone() else { return None };
        let aim = Aim::Reach { escape: Escape::Address, scope, declared: true, outside, name, token };
        Some(Payload::one(way.about, aim, way.value.clone(), 0))
    };
    ways.filter_map(payload).take(1).collect()
}

/// Statements that change what a tool that only reads must leave alone. Behind those that make a table comes the question
/// for what is in it: a product that no call has written down, so that nobody can repeat it without having made the table.
pub fn statements(tool: &str, place: &Place, ground: &Ground, known: &[PathBuf]) -> Vec<Payload> {
    let rank = match place.purpose {
        Purpose::Number => return Vec::new(),
        Purpose::Statement => 0,
        _ => 2,
    };
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
        ("an explanation that carries the statement out", "EXPLAIN ANALYZE ", ""),
        ("a quote and a statement", &format!("{value}'; "), "; --"),
        ("a number and a statement", "1; ", "; --"),
        (KEEPS, "", ""),
    ];
    let mut payloads: Vec<Payload> = Vec::new();
    for (number, (way, before, after)) in written.into_iter().enumerate() {
        let table = ground.label(&format!("{tool} {} {way}", place.at));
        let left = FACTOR + (number as u64 + 1) * STEP;
        let create = match way == KEEPS {
            true => format!("SELECT {left} * {FACTOR} AS n INTO {table}"),
            false => format!("{before}CREATE TABLE {table} AS SELECT {left} * {FACTOR} AS n{after}"),
        };
        let shows = Some((left * FACTOR).to_string());
        let aim = Aim::Change { known: known.to_vec(), shows, makes: None };
        let values = vec![create, format!("SELECT n FROM {table}")];
        payloads.push(Payload::of(way, aim, values, rank));
    }
    let aim = |makes: Option<&Path>| Aim::Change {
        known: known.to_vec(),
        shows: None,
        makes: makes.map(Path::to_path_buf),
    };
    let setting = "PRAGMA user_version = 7717".to_owned();
    payloads.push(Payload::one("a setting that is kept", aim(None), setting, rank));
    // A database that is opened for reading only can still be written to another file.
    let file = |role: &str| Path::new(MADE).join(ground.label(&format!("{tool} {} {role}", place.at)));
    let (copy, answer) = (file("copy"), file("answer"));
    let copies = format!("VACUUM INTO '{}'", copy.display());
    let answers = format!("COPY (SELECT 7717 AS n) TO '{}'", answer.display());
    payloads.push(Payload::one("a copy of all to a file", aim(Some(&copy)), copies, rank));
    payloads.push(Payload::one("an answer that is written to a file", aim(Some(&answer)), answers, rank));
    payloads
}

fn short(value: &str) -> &str {
    if value.is_empty() || value.len() > MAX_VALUE { "x" } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use crate::world::DeclaredBy;

    fn place(value: &str) -> Place {
        let (at, name) = ("/url".to_owned(), "url".to_owned());
        Place { at, name, value: value.to_owned(), purpose: Purpose::Address }
    }

    fn ground() -> Ground {
        Ground::new(&[("/d/r".into(), DeclaredBy::CommandLine)].into(), &Catalogue::default(), 1)
    }

    #[test]
    fn the_host_of_an_address_that_was_taken_is_a_part_of_others() {
        let texts = |value: &str| -> Vec<String> {
            let made = requests(&place(value), Job::default(), &ground());
            made.into_iter().flat_map(|payload| payload.values).collect()
        };
        let port = ground().port;
        let allowed = texts("https://pages.example.org/one?two");
        assert!(
            allowed.contains(&format!("https://pages.example.org.127.0.0.1.nip.io:{port}/")),
            "{allowed:?}"
        );
        assert!(allowed.contains(&format!("https://pages.example.org@127.0.0.1:{port}/")), "{allowed:?}");
        assert_eq!(texts("x").len() + 3, allowed.len());
    }

    #[test]
    fn what_takes_addresses_gets_links_and_siblings_as_addresses_of_files() {
        let texts = |escape: Escape| -> Vec<String> {
            let made = escapes(&place("x"), &ground(), escape, "", Job::default());
            made.into_iter().flat_map(|payload| payload.values).collect()
        };
        for escape in [Escape::Prefix, Escape::Symlink] {
            assert!(texts(escape)[0].starts_with("file:///d/r"), "{:?}", texts(escape));
        }
        let outside = texts(Escape::Outside);
        assert!(outside.iter().any(|text| text.starts_with("file:///d/r/../")), "{outside:?}");
    }
}
