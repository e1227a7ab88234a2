//! Decides by its name whether something is a secret, and blots out secrets in the lines of files that messages show.

use std::ops::Range;

/// What stands where a secret stood.
pub const REDACTED: &str = "[redacted]";

/// A name that holds one of these, between word borders, holds something to keep.
const SECRET_WORDS: [&str; 24] = [
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "cred",
    "creds",
    "dsn",
    "jwt",
    "key",
    "mfa",
    "otp",
    "pass",
    "passcode",
    "passkey",
    "pat",
    "pin",
    "pwd",
    "sas",
    "sessionid",
    "sid",
    "signature",
    "totp",
    "webhook",
];

/// The same for the end of a word, for many are written together: `clientsecret`, `PGPASSWORD`, `accesstoken`.
const SECRET_ENDINGS: [&str; 18] = [
    "accesskey",
    "apikey",
    "authkey",
    "credential",
    "credentials",
    "encryptionkey",
    "masterkey",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "privatekey",
    "secret",
    "secretkey",
    "secrets",
    "signingkey",
    "sshkey",
    "token",
];

/// Variables that say where and who, and that a report is poorer without.
const PLAIN_VARIABLES: [&str; 12] = [
    "HOME",
    "HOSTNAME",
    "LANG",
    "LOGNAME",
    "PATH",
    "PWD",
    "SHELL",
    "TEMP",
    "TMP",
    "TMPDIR",
    "USER",
    "USERPROFILE",
];

/// A shorter value would be found inside ordinary words.
const SHORTEST_SECRET: usize = 6;

/// Whether what goes under this name (a header, variable, flag or parameter) is better not shown.
pub fn is_secret_name(name: &str) -> bool {
    !PLAIN_VARIABLES.contains(&name) && words(name).any(|word| is_secret_word(&word))
}

fn is_secret_word(word: &str) -> bool {
    // Some have several: `API_KEY2`. Others are called so: `AUTH0_DOMAIN`.
    let first = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    SECRET_WORDS.contains(&word)
        || first == "key"
        || SECRET_ENDINGS.iter().any(|ending| first.ends_with(ending))
}

/// Whether a value taken from this environment variable is to be kept out of sight wherever it turns up.
pub(super) fn is_secret_variable(name: &str, value: &str) -> bool {
    value.len() >= SHORTEST_SECRET && !PLAIN_VARIABLES.contains(&name) && !name.starts_with("XDG_")
}

/// Whether a variable says where and who, whatever its value looks like.
pub(super) fn is_plain_variable(name: &str) -> bool {
    PLAIN_VARIABLES.contains(&name) || name.starts_with("XDG_") || name.starts_with("LC_")
}

/// Whether a secret is long enough to be looked for in every text.
pub fn is_long_enough(value: &str) -> bool {
    value.len() >= SHORTEST_SECRET
}

/// `githubToken`, `GITHUB_TOKEN` and `x-github-token` all hold the word `token`.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            words.last_mut().expect("starts with one word").extend(letter.to_lowercase());
        }
        after_lower = letter.is_lowercase();
    }
    words.into_iter()
}

/// A line of a file with the text of its strings blotted out, where the line has to do with secrets.
/// Every character keeps its column; names of keys and what lies in `shown` stay.
pub(super) fn hide_strings(line: &str, shown: &Range<usize>) -> String {
    let has_secret_url = line.contains("://") && line.contains(['@', '?']);
    if !has_secret_url && !words(line).any(|word| is_secret_word(&word)) {
        return line.to_owned();
    }
    let letters: Vec<char> = line.chars().collect();
    let mut hidden = letters.clone();
    let mut at = 0;
    while let Some(open) = (at..letters.len()).find(|column| matches!(letters[*column], '"' | '\'')) {
        let close = closing(&letters, open);
        let next = letters.iter().skip(close + 1).find(|letter| !letter.is_whitespace());
        if !matches!(next, Some(':' | '=')) {
            (open + 1..close)
                .filter(|column| !shown.contains(column))
                .for_each(|column| hidden[column] = '*');
        }
        at = close + 1;
    }
    hidden.into_iter().collect()
}

/// Where the string that begins at `open` ends; one that is never closed goes on to the end of the line.
fn closing(letters: &[char], open: usize) -> usize {
    let mut at = open + 1;
    while at < letters.len() && letters[at] != letters[open] {
        at += if letters[at] == '\\' && letters[open] == '"' { 2 } else { 1 };
    }
    at.min(letters.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hold_a_secret_word_are_secret() {
        for name in [
            "Authorization",
            "Proxy-Authorization",
            "Cookie",
            "Set-Cookie",
            "GITHUB_TOKEN",
            "x-github-token",
            "accesstoken",
            "refreshToken",
            "x-api-key",
            "apiKey",
            "APIKEY",
            "apikey",
            "--password",
            "passwd",
            "userPassword",
            "PGPASSWORD",
            "DB_PASS",
            "secret",
            "client_secret",
            "clientSecret",
            "client-secret",
            "clientsecret",
            "private_key",
            "privateKey",
            "passphrase",
            "credentials",
            "SENTRY_DSN",
            "SLACK_WEBHOOK",
            "API_KEY2",
            "token1",
            "SIGNINGKEY",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "Accept",
            "HOME",
            "PATH",
            "PWD",
            "monkey",
            "--keyboard",
            "author",
            "LOG_LEVEL",
            "passenger",
            "max_tokens",
            "secretary",
            "tokenizer",
            "spinner",
            "side",
            "sha256",
            "AUTH0_DOMAIN",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn strings_on_a_line_with_a_secret_are_blotted_out_and_keys_stay() {
        let nothing = 0..0;
        for (line, hidden) in [
            (r#"{"key": "a\"b", "n": 1}"#, r#"{"key": "****", "n": 1}"#),
            ("token = 'a\\' # b", "token = '**' # b"),
            ("token = \"abc", "token = \"***"),
            ("url = 'http://a:b@c'", "url = '************'"),
            ("name = 'plain'", "name = 'plain'"),
        ] {
            assert_eq!(hide_strings(line, &nothing), hidden);
        }
    }
}
