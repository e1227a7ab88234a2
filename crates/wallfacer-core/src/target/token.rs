//! Tells by its form alone whether a word is a secret: a key as well-known services make them, a URL with a password in
//! it, or letters and digits that nobody would choose.

use std::ops::Range;

use super::secret::{REDACTED, is_secret_name};

/// How the keys of well-known services begin, and by which name such a key goes.
pub const TOKEN_BEGINNINGS: [(&str, &str); 36] = [
    ("AIza", "GOOGLE_KEY"),
    ("AKIA", "AWS_ACCESS_KEY"),
    ("ASIA", "AWS_ACCESS_KEY"),
    ("SG.", "SENDGRID_KEY"),
    ("dapi", "DATABRICKS_TOKEN"),
    ("dop_v1_", "DIGITALOCEAN_TOKEN"),
    ("eyJ", "JWT"),
    ("figd_", "FIGMA_TOKEN"),
    ("gho_", "GITHUB_TOKEN"),
    ("ghp_", "GITHUB_TOKEN"),
    ("ghr_", "GITHUB_TOKEN"),
    ("ghs_", "GITHUB_TOKEN"),
    ("ghu_", "GITHUB_TOKEN"),
    ("github_pat_", "GITHUB_TOKEN"),
    ("glpat-", "GITLAB_TOKEN"),
    ("hf_", "HUGGING_FACE_TOKEN"),
    ("lin_api_", "LINEAR_KEY"),
    ("npm_", "NPM_TOKEN"),
    ("ntn_", "NOTION_TOKEN"),
    ("pypi-", "PYPI_TOKEN"),
    ("rk_live_", "STRIPE_KEY"),
    ("rk_test_", "STRIPE_KEY"),
    ("shpat_", "SHOPIFY_TOKEN"),
    ("sk-", "API_KEY"),
    ("sk_live_", "STRIPE_KEY"),
    ("sk_test_", "STRIPE_KEY"),
    ("sntrys_", "SENTRY_TOKEN"),
    ("tvly-", "TAVILY_KEY"),
    ("xapp-", "SLACK_TOKEN"),
    ("xoxa-", "SLACK_TOKEN"),
    ("xoxb-", "SLACK_TOKEN"),
    ("xoxe-", "SLACK_TOKEN"),
    ("xoxp-", "SLACK_TOKEN"),
    ("xoxr-", "SLACK_TOKEN"),
    ("xoxs-", "SLACK_TOKEN"),
    ("ya29.", "GOOGLE_TOKEN"),
];
/// Behind a well-known beginning, in a word that stands for itself: less is an option or a name.
const SHORTEST_REST: usize = 6;
/// Fewer letters and digits may be a version or the name of a file.
const SHORTEST_RANDOM: usize = 16;
/// In random letters and digits, small letters, capitals and digits follow each other at least this often: one in so
/// many signs is of another sort than the one before.
const RARELY_CHANGES: usize = 5;
/// A path segment this long, of letters and digits mixed, is an address only its owner should know.
const SECRET_SEGMENT: usize = 24;

/// Whether a word is a secret by its form.
pub fn is_token(word: &str) -> bool {
    has_known_beginning(word) || is_random(word)
}

/// Whether a word begins as the keys of a well-known service do, and goes on long enough.
pub fn has_known_beginning(word: &str) -> bool {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.=+/~".contains(&byte));
    let rest = TOKEN_BEGINNINGS.iter().find_map(|(beginning, _)| word.strip_prefix(beginning));
    is_plain && rest.is_some_and(|rest| rest.len() >= SHORTEST_REST)
}

/// Letters and digits that change their sort again and again. Words, versions and dates do not, nor do names that are
/// made of them.
fn is_random(word: &str) -> bool {
    let sort = |byte: u8| match byte {
        b'0'..=b'9' => Some(0),
        b'a'..=b'z' => Some(1),
        b'A'..=b'Z' => Some(2),
        _ => None,
    };
    let bytes = word.as_bytes();
    let signs = bytes.iter().filter(|byte| sort(**byte).is_some()).count();
    let has = |wanted: fn(&u8) -> bool| bytes.iter().any(wanted);
    let changes = bytes.windows(2).filter(|pair| {
        let (one, other) = (sort(pair[0]), sort(pair[1]));
        one.is_some() && other.is_some() && one != other
    });
    signs >= SHORTEST_RANDOM
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.=+~".contains(byte))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && changes.count() >= signs.div_ceil(RARELY_CHANGES)
}

/// A URL without user, password, query values and segments that look like a key. Other text is left as it is.
pub fn show_url(text: &str) -> String {
    let Some(url) = Url::split(text) else { return text.to_owned() };
    let authority = match url.user {
        Some(_) => format!("{REDACTED}@{}", url.host),
        None => url.host.to_owned(),
    };
    let path: Vec<_> =
        url.path.split('/').map(|segment| if is_key(segment) { REDACTED } else { segment }).collect();
    let query = url.query.map(|query| {
        let pairs: Vec<_> = query.split('&').map(show_parameter).collect();
        format!("?{}", pairs.join("&"))
    });
    format!("{}://{authority}{}{}", url.scheme, path.join("/"), query.unwrap_or_default())
}

/// What of a URL is a secret, with the name that it goes by: the password and with it the user, what stands in the query
/// under a name to keep, what looks like a key. Other text has none.
pub fn url_secrets(text: &str) -> Vec<(String, String)> {
    let Some(url) = Url::split(text) else { return Vec::new() };
    let mut secrets = Vec::new();
    let mut add = |name: &str, value: &str| {
        secrets.push((name.to_owned(), value.to_owned()));
        let decoded = decoded(value);
        secrets.extend((decoded != value).then(|| (name.to_owned(), decoded)));
    };
    if let Some(user) = url.user {
        add("url_password", user);
        if let Some((_, password)) = user.split_once(':') {
            add("url_password", password);
        }
    }
    for (name, value) in
        url.query.into_iter().flat_map(|query| query.split('&')).filter_map(|pair| pair.split_once('='))
    {
        if is_secret_name(name) || is_token(value) {
            add(name, value);
        }
    }
    url.path.split('/').filter(|segment| is_key(segment)).for_each(|segment| add("url_key", segment));
    secrets
}

/// How many bytes before a `=` or `:` are searched for the name.
const MAX_NAME: usize = 256;

/// Where in a text the values stand whose names say that they are secret: `host=db password=abc`, `{"token": "abc"}`.
pub fn secret_pairs(text: &str) -> Vec<Range<usize>> {
    const SEPARATORS: [char; 6] = [' ', ';', '&', ',', '\n', '\t'];
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices(['=', ':']) {
        if found.last().is_some_and(|last| at < last.end) {
            continue;
        }
        let near = (at.saturating_sub(MAX_NAME)..=at).find(|near| text.is_char_boundary(*near)).unwrap_or(at);
        let name = text[near..at].trim_end().rsplit(SEPARATORS).next().unwrap_or_default();
        // Only the first `=` or `:` of a word separates a name from a value; `a:token:c` is a list of three.
        if !name.contains(['=', ':']) && is_secret_name(name) {
            let behind = &text[at + 1..];
            let value = quoted(behind).unwrap_or_else(|| plain(behind, SEPARATORS));
            found.extend((!value.is_empty()).then(|| at + 1 + value.start..at + 1 + value.end));
        }
    }
    found
}

/// What stands in quotes at the beginning of a text. The quotes may be escaped, as in JSON within JSON.
fn quoted(text: &str) -> Option<Range<usize>> {
    let from = text.len() - text.trim_start().len();
    let escaped = text[from..].starts_with('\\');
    let open = from + usize::from(escaped);
    let quote = text[open..].chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
    let inner = open + 1;
    let mut backslashes = 0;
    for (at, letter) in text[inner..].char_indices() {
        let closes = if escaped { backslashes == 1 } else { backslashes % 2 == 0 };
        match letter {
            _ if letter == quote && closes => return Some(inner..inner + at - usize::from(escaped)),
            '\\' => backslashes += 1,
            _ => backslashes = 0,
        }
    }
    Some(inner..text.len())
}

/// The first word of a text, without the quotes and brackets around it.
fn plain(text: &str, separators: [char; 6]) -> Range<usize> {
    const AROUND: [char; 8] = ['"', '\'', '{', '}', '[', ']', '\\', ' '];
    let word = text.split(separators).next().unwrap_or_default();
    let from = word.len() - word.trim_start_matches(AROUND).len();
    from..word.trim_end_matches(AROUND).len().max(from)
}

/// A URL in its parts.
struct Url<'a> {
    scheme: &'a str,
    user: Option<&'a str>,
    host: &'a str,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Url<'a> {
    fn split(text: &'a str) -> Option<Url<'a>> {
        let (scheme, rest) = text.split_once("://")?;
        let rest = rest.split('#').next().unwrap_or_default();
        let (address, query) =
            rest.split_once('?').map_or((rest, None), |(address, query)| (address, Some(query)));
        let (authority, path) = address.split_at(address.find('/').unwrap_or(address.len()));
        let (user, host) =
            authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        Some(Url { scheme, user, host, path, query })
    }
}

fn show_parameter(parameter: &str) -> String {
    match parameter.split_once('=') {
        Some((name, _)) => format!("{name}={REDACTED}"),
        None => REDACTED.to_owned(),
    }
}

fn is_key(segment: &str) -> bool {
    segment.len() >= SECRET_SEGMENT
        && segment.bytes().any(|byte| byte.is_ascii_digit())
        && segment.bytes().any(|byte| byte.is_ascii_alphabetic())
        && segment
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=' | b'.'))
}

/// The text with its percent signs undone.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_as_a_secret_by_its_form() {
        for word in [
            "sk-live-abc123def456",
            "ghp_hunter2",
            "github_pat_11ABCDEFG",
            "eyJhbGciOiJIUzI1NiJ9.e30.x",
            "9f86d081884c7d659a2feaa0c55ad015",
            "a3f5c9e17b2d4860",
            "550e8400-e29b-41d4-a716-446655440000",
            "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY0",
            "Zx9Kq2Lm4Np8Rt6Vw1Yb3",
        ] {
            assert!(is_token(word), "{word}");
        }
    }

    #[test]
    fn names_paths_packages_and_versions_are_no_secrets() {
        for word in [
            "correct",
            "server-bookshelf-2025-11-25",
            "@modelcontextprotocol/server-bookshelf@2025.11.25",
            "mcp-server-bookshelf==2025.4.7",
            "/tmp/.tmpA1b2C3d4E5f6G7h8/server",
            "dist/index.js",
            "--max-line-length=100000000000000",
            "sk-learn",
            "http://localhost:8080/mcp",
            "com.example.server.MainApplication",
            "node_modules",
            "10.0.0.1:8080",
            "2026-11-17T20:00:00Z",
            "echo a1b2c3d4e5f6a7b8 > f",
        ] {
            assert!(!is_token(word), "{word}");
        }
    }

    #[test]
    fn the_secrets_of_a_url_are_its_password_its_keys_and_what_goes_under_a_name_to_keep() {
        let found = url_secrets("postgres://ada:hun%74er2@db/s/0123456789abcdef0123456789?ssl=on&token=abc");
        let found: Vec<&str> = found.iter().map(|(_, value)| value.as_str()).collect();
        let wanted =
            ["ada:hun%74er2", "ada:hunter2", "hun%74er2", "hunter2", "abc", "0123456789abcdef0123456789"];
        assert_eq!(found, wanted);
        assert!(url_secrets("plain").is_empty());
    }

    #[test]
    fn values_behind_names_to_keep_are_found_in_a_text_of_pairs() {
        for (text, wanted) in [
            ("host=db user=ada password=abc dbname=x", vec!["abc"]),
            ("Server=db;Password=a=b;Port=1", vec!["a=b"]),
            (r#"{"host":"db","apiKey":"abc","n":1}"#, vec!["abc"]),
            (r#"{ "private_key" : "a b, \"c\"", "n": 1, "token": "d" }"#, vec![r#"a b, \"c\""#, "d"]),
            (r#""{\"token\": \"a b\", \"n\": 1}""#, vec!["a b"]),
            ("token: 'a b' password='c d'", vec!["a b", "c d"]),
            ("{\"token\": \"never closed", vec!["never closed"]),
            ("plain text", vec![]),
            ("password=", vec![]),
        ] {
            let found: Vec<&str> = secret_pairs(text).into_iter().map(|at| &text[at]).collect();
            assert_eq!(found, wanted, "{text}");
        }
    }
}
