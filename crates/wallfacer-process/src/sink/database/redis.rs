//! Speaks with clients of Redis: a store of keys with texts, hashes, lists and sets.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Databases, MAX_MESSAGE};
use crate::sink::wire::Wire;

pub(in crate::sink) const PORT: u16 = 6379;

/// Words of one command, bytes of each, and keys that are kept.
const MAX_WORDS: usize = 1_024;
const MAX_WORD: usize = 64 << 10;
const MAX_LINE: usize = 32;
const MAX_KEYS: usize = 1_000;
/// Bytes under all keys.
const MAX_KEPT: usize = 4 << 20;

/// Whether these first bytes are those of such a client: a list with its length.
pub(in crate::sink) fn is_redis(first: &[u8]) -> bool {
    matches!(first, [b'*', digit, ..] if digit.is_ascii_digit())
}

/// Answers one client until it leaves.
pub(in crate::sink) async fn converse(wire: &mut Wire, databases: &Databases) {
    let mut version = Version::Two;
    loop {
        let Some(words) = command(wire).await else { return };
        wire.recorder.asked(&words.join(" "));
        if words.first().is_some_and(|verb| verb.eq_ignore_ascii_case("hello")) {
            version =
                if words.get(1).is_some_and(|asked| asked == "3") { Version::Three } else { Version::Two };
        }
        let answer = databases.keys().run(&words, version);
        // Clients of the third version wait for what such a length announces.
        let answer = match version {
            Version::Three if answer == nothing() => b"_\r\n".to_vec(),
            _ => answer,
        };
        if !wire.say(&answer).await || words.first().is_some_and(|verb| verb.eq_ignore_ascii_case("quit")) {
            return;
        }
    }
}

async fn command(wire: &mut Wire) -> Option<Vec<String>> {
    let count: usize = line(wire).await?.strip_prefix('*')?.parse().ok()?;
    if count > MAX_WORDS {
        return None;
    }
    let mut words = Vec::new();
    let mut left = MAX_MESSAGE;
    for _ in 0..count {
        let length: usize = line(wire).await?.strip_prefix('$')?.parse().ok()?;
        if length > MAX_WORD {
            return None;
        }
        let bytes = wire.take_exactly(length + 2).await?;
        left = left.checked_sub(length)?;
        words.push(String::from_utf8_lossy(&bytes[..length]).into_owned());
    }
    Some(words)
}

async fn line(wire: &mut Wire) -> Option<String> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        if line.len() > MAX_LINE {
            return None;
        }
        line.extend(wire.take_exactly(1).await?);
    }
    String::from_utf8(line).ok().map(|line| line.trim_end().to_owned())
}

/// Versions of the protocol: from the third on, maps and sets are no lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Two,
    Three,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    Text(String),
    Hash(BTreeMap<String, String>),
    List(VecDeque<String>),
    Set(BTreeSet<String>),
}

impl Entry {
    fn weight(&self) -> usize {
        match self {
            Entry::Text(text) => text.len(),
            Entry::Hash(hash) => weight(hash.iter().flat_map(|(name, is)| [name, is])),
            Entry::List(items) => weight(items),
            Entry::Set(set) => weight(set),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Entry::Text(_) => "string",
            Entry::Hash(_) => "hash",
            Entry::List(_) => "list",
            Entry::Set(_) => "set",
        }
    }
}

/// What is kept under each key.
#[derive(Debug, Default)]
pub(super) struct Keys {
    keys: BTreeMap<String, Entry>,
    /// At least as many bytes as there are.
    weight: usize,
}

impl Keys {
    pub(super) fn run(&mut self, words: &[String], version: Version) -> Vec<u8> {
        self.make_room(weight(words));
        let word = |place: usize| words.get(place).map_or("", String::as_str);
        let verb = word(0).to_lowercase();
        let key = word(1);
        match verb.as_str() {
            "ping" if words.len() > 1 => text(key),
            "ping" => b"+PONG\r\n".to_vec(),
            "echo" => text(key),
            "hello" => hello(version),
            "info" => text("redis_version:7.2.0\r\nredis_mode:standalone\r\nrole:master\r\n"),
            "dbsize" => number(self.keys.len()),
            "type" => format!("+{}\r\n", self.keys.get(key).map_or("none", Entry::kind)).into_bytes(),
            "exists" => number(words[1..].iter().filter(|key| self.keys.contains_key(*key)).count()),
            "del" | "unlink" => {
                number(words[1..].iter().filter(|key| self.keys.remove(*key).is_some()).count())
            }
            "keys" => list(self.keys.keys().filter(|name| fits(key, name))),
            "scan" => scanned(self.keys.keys()),
            "ttl" | "pttl" => {
                if self.keys.contains_key(key) {
                    b":-1\r\n".to_vec()
                } else {
                    b":-2\r\n".to_vec()
                }
            }
            "expire" | "pexpire" | "persist" => number(usize::from(self.keys.contains_key(key))),
            "flushdb" | "flushall" => {
                self.keys.clear();
                fine()
            }
            "command" | "config" | "module" | "slowlog" | "ft._list" | "xrange" | "mget" | "zrange" => {
                list(std::iter::empty())
            }
            "set" | "setex" | "psetex" | "setnx" => {
                self.keys.insert(key.to_owned(), Entry::Text(words.last().cloned().unwrap_or_default()));
                fine()
            }
            "get" | "getdel" | "getex" | "strlen" | "incr" | "decr" | "incrby" | "append" => {
                self.of_text(&verb, words)
            }
            _ if verb.starts_with('h') => self.of_hash(&verb, words, version),
            "lpush" | "rpush" | "lpop" | "rpop" | "lrange" | "llen" => self.of_list(&verb, words),
            _ if verb.starts_with('s') => self.of_set(&verb, words, version),
            _ => fine(),
        }
    }

    /// The bytes of everything that is kept.
    pub(super) fn kept(&self) -> usize {
        self.keys.iter().map(|(key, entry)| key.len() + entry.weight()).sum()
    }

    /// The first keys go until there is room for as many bytes.
    fn make_room(&mut self, wanted: usize) {
        self.weight += wanted;
        if self.weight <= MAX_KEPT && self.keys.len() < MAX_KEYS {
            return;
        }
        self.weight = wanted + self.kept();
        // Half of it, so that this is not done each time.
        while self.weight > MAX_KEPT / 2 || self.keys.len() >= MAX_KEYS {
            let Some((key, entry)) = self.keys.pop_first() else { return };
            self.weight -= key.len() + entry.weight();
        }
    }

    fn of_text(&mut self, verb: &str, words: &[String]) -> Vec<u8> {
        let key = words.get(1).cloned().unwrap_or_default();
        let entry = match verb {
            "get" | "getex" | "getdel" => match self.keys.get(&key) {
                Some(Entry::Text(is)) => return text(is),
                Some(_) => return wrong(),
                None => return nothing(),
            },
            _ => self.keys.entry(key).or_insert_with(|| Entry::Text(String::new())),
        };
        let Entry::Text(is) = entry else { return wrong() };
        let by: i64 = words.get(2).and_then(|by| by.parse().ok()).unwrap_or(1);
        match verb {
            "strlen" => number(is.len()),
            "append" => {
                if is.len() < MAX_WORD {
                    is.push_str(words.get(2).map_or("", String::as_str));
                }
                number(is.len())
            }
            _ => {
                let counted = is.parse::<i64>().unwrap_or_default();
                let counted =
                    if verb == "decr" { counted.saturating_sub(by) } else { counted.saturating_add(by) };
                *is = counted.to_string();
                format!(":{is}\r\n").into_bytes()
            }
        }
    }

    fn of_hash(&mut self, verb: &str, words: &[String], version: Version) -> Vec<u8> {
        let key = words.get(1).cloned().unwrap_or_default();
        let field = words.get(2).map_or("", String::as_str);
        if matches!(verb, "hset" | "hmset" | "hsetnx") {
            let entry = self.keys.entry(key).or_insert_with(|| Entry::Hash(BTreeMap::new()));
            let Entry::Hash(hash) = entry else { return wrong() };
            let pairs = words.get(2..).unwrap_or_default().chunks_exact(2);
            let added =
                pairs.map(|pair| hash.insert(pair[0].clone(), pair[1].clone())).filter(Option::is_none);
            return number(added.count());
        }
        let none = BTreeMap::new();
        let hash = match self.keys.get_mut(&key) {
            Some(Entry::Hash(hash)) if verb == "hdel" => {
                return number(usize::from(hash.remove(field).is_some()));
            }
            Some(Entry::Hash(hash)) => hash,
            Some(_) => return wrong(),
            None => &none,
        };
        match verb {
            "hget" => hash.get(field).map_or_else(nothing, |is| text(is)),
            "hexists" => number(usize::from(hash.contains_key(field))),
            "hlen" => number(hash.len()),
            "hkeys" => list(hash.keys()),
            "hvals" => list(hash.values()),
            "hgetall" => {
                in_form(list(hash.iter().flat_map(|(name, is)| [name, is])), version, b'%', hash.len())
            }
            _ => number(0),
        }
    }

    fn of_list(&mut self, verb: &str, words: &[String]) -> Vec<u8> {
        let key = words.get(1).cloned().unwrap_or_default();
        let entry = match verb {
            "lpush" | "rpush" => self.keys.entry(key).or_insert_with(|| Entry::List(VecDeque::new())),
            "lrange" if !self.keys.contains_key(&key) => return list(std::iter::empty()),
            "llen" if !self.keys.contains_key(&key) => return number(0),
            _ => match self.keys.get_mut(&key) {
                Some(entry) => entry,
                None => return nothing(),
            },
        };
        let Entry::List(items) = entry else { return wrong() };
        match verb {
            "lpush" | "rpush" => {
                for word in words.get(2..).unwrap_or_default() {
                    match verb {
                        "lpush" => items.push_front(word.clone()),
                        _ => items.push_back(word.clone()),
                    }
                }
                items.truncate(MAX_WORDS);
                number(items.len())
            }
            "lpop" => items.pop_front().map_or_else(nothing, |is| text(&is)),
            "rpop" => items.pop_back().map_or_else(nothing, |is| text(&is)),
            "llen" => number(items.len()),
            _ => list(items.iter()),
        }
    }

    fn of_set(&mut self, verb: &str, words: &[String], version: Version) -> Vec<u8> {
        let key = words.get(1).cloned().unwrap_or_default();
        match verb {
            "sadd" => {
                let entry = self.keys.entry(key).or_insert_with(|| Entry::Set(BTreeSet::new()));
                let Entry::Set(set) = entry else { return wrong() };
                let added = words
                    .get(2..)
                    .unwrap_or_default()
                    .iter()
                    .filter(|word| set.insert((*word).clone()))
                    .count();
                number(added)
            }
            "srem" | "smembers" | "scard" | "sismember" => {
                let member = words.get(2).map_or("", String::as_str);
                match (self.keys.get_mut(&key), verb) {
                    (Some(Entry::Set(set)), "srem") => number(usize::from(set.remove(member))),
                    (Some(Entry::Set(set)), "smembers") => {
                        in_form(list(set.iter()), version, b'~', set.len())
                    }
                    (Some(Entry::Set(set)), "scard") => number(set.len()),
                    (Some(Entry::Set(set)), _) => number(usize::from(set.contains(member))),
                    (Some(_), _) => wrong(),
                    (None, "smembers") => list(std::iter::empty()),
                    (None, _) => number(0),
                }
            }
            _ => fine(),
        }
    }
}

/// The bytes that texts take, with what it costs to keep each.
fn weight<'a>(texts: impl IntoIterator<Item = &'a String>) -> usize {
    texts.into_iter().map(|text| text.len() + 2 * size_of::<String>()).sum()
}

/// Whether a name is like a pattern with one star at its end, or at both.
fn fits(pattern: &str, name: &str) -> bool {
    let inner = pattern.trim_matches('*');
    match (pattern.starts_with('*'), pattern.ends_with('*')) {
        (true, true) => name.contains(inner),
        (false, true) => name.starts_with(inner),
        (true, false) => name.ends_with(inner),
        (false, false) => name == pattern,
    }
}

fn fine() -> Vec<u8> {
    b"+OK\r\n".to_vec()
}

fn nothing() -> Vec<u8> {
    b"$-1\r\n".to_vec()
}

fn wrong() -> Vec<u8> {
    b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n".to_vec()
}

fn number(number: usize) -> Vec<u8> {
    format!(":{number}\r\n").into_bytes()
}

fn text(text: &str) -> Vec<u8> {
    format!("${}\r\n{text}\r\n", text.len()).into_bytes()
}

fn list<'a>(items: impl Iterator<Item = &'a String>) -> Vec<u8> {
    let items: Vec<Vec<u8>> = items.map(|item| text(item)).collect();
    [format!("*{}\r\n", items.len()).into_bytes(), items.concat()].concat()
}

/// A list as what it is in the third version: a map or a set, with its length.
fn in_form(list: Vec<u8>, version: Version, sign: u8, length: usize) -> Vec<u8> {
    let Some(end) = list.iter().position(|byte| *byte == b'\n').filter(|_| version == Version::Three) else {
        return list;
    };
    [&[sign][..], format!("{length}\r\n").as_bytes(), &list[end + 1..]].concat()
}

fn hello(version: Version) -> Vec<u8> {
    let proto = if version == Version::Three { b":3\r\n" } else { b":2\r\n" };
    let pairs =
        [text("server"), text("redis"), text("version"), text("7.2.0"), text("proto"), proto.to_vec()];
    in_form([b"*6\r\n".to_vec(), pairs.concat()].concat(), version, b'%', 3)
}

/// All keys at once: the place to go on from is the beginning, which ends it.
fn scanned<'a>(keys: impl Iterator<Item = &'a String>) -> Vec<u8> {
    [b"*2\r\n".to_vec(), text("0"), list(keys)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(keys: &mut Keys, line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        String::from_utf8(keys.run(&words, Version::Two)).unwrap()
    }

    #[test]
    fn what_is_kept_under_a_key_can_be_asked_for() {
        let mut keys = Keys::default();
        assert_eq!(run(&mut keys, "SET a one"), "+OK\r\n");
        assert_eq!(run(&mut keys, "GET a"), "$3\r\none\r\n");
        assert_eq!(run(&mut keys, "GET b"), "$-1\r\n");
        assert_eq!(run(&mut keys, "HSET h x 1 y 2"), ":2\r\n");
        assert_eq!(run(&mut keys, "HGETALL h"), "*4\r\n$1\r\nx\r\n$1\r\n1\r\n$1\r\ny\r\n$1\r\n2\r\n");
        assert_eq!(run(&mut keys, "RPUSH l 1 2"), ":2\r\n");
        assert_eq!(run(&mut keys, "LPOP l"), "$1\r\n1\r\n");
        assert_eq!(run(&mut keys, "SADD s 1 1"), ":1\r\n");
        assert_eq!(run(&mut keys, "INCR n"), ":1\r\n");
        assert_eq!(run(&mut keys, "KEYS *"), "*5\r\n$1\r\na\r\n$1\r\nh\r\n$1\r\nl\r\n$1\r\nn\r\n$1\r\ns\r\n");
        assert_eq!(run(&mut keys, "DEL a b"), ":1\r\n");
        assert!(run(&mut keys, "GET h").starts_with("-WRONGTYPE"));
    }

    #[test]
    fn maps_and_sets_are_told_as_such_in_the_third_version() {
        let mut keys = Keys::default();
        run(&mut keys, "HSET h x 1");
        let third = |keys: &mut Keys, line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            String::from_utf8(keys.run(&words, Version::Three)).unwrap()
        };
        assert_eq!(third(&mut keys, "HGETALL h"), "%1\r\n$1\r\nx\r\n$1\r\n1\r\n");
        assert!(third(&mut keys, "HELLO 3").starts_with("%3\r\n"));
        assert!(run(&mut keys, "HELLO").starts_with("*6\r\n"));
    }

    #[test]
    fn commands_without_their_words_are_answered() {
        let verbs = "set get del exists type hset hget hdel lpush lpop lrange sadd smembers incr append keys scan hello";
        for verb in verbs.split(' ') {
            assert!(!Keys::default().run(&[verb.to_owned()], Version::Three).is_empty(), "{verb}");
        }
        assert!(!Keys::default().run(&[], Version::Two).is_empty());
    }
}
