//! Makes secrets to plant in a home directory: each looks like the real thing and is worth nothing.
//!
//! Every token is unique to the seed and to its file, so that wherever one turns up, it is known which file was read.

use std::path::{Path, PathBuf};

/// A file that no server has business with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canary {
    pub path: PathBuf,
    pub content: Vec<u8>,
    /// What of the content is a secret, as it stands there.
    pub tokens: Vec<String>,
}

/// The canaries of a home directory.
pub fn canaries(home: &Path, seed: u64) -> Vec<Canary> {
    FILES
        .iter()
        .map(|(name, template)| {
            let mut source = Source::new(seed, name);
            let (content, tokens) = fill(template, &mut source);
            Canary { path: home.join(name), content: content.into_bytes(), tokens }
        })
        .collect()
}

/// The canaries of a directory that somebody works in: what projects keep beside their code, and out of it.
pub fn project_canaries(directory: &Path, seed: u64) -> Vec<Canary> {
    let canary = |(name, template): &(&str, &str)| {
        let (content, tokens) = fill(template, &mut Source::new(seed, &format!("project/{name}")));
        Canary { path: directory.join(name), content: content.into_bytes(), tokens }
    };
    OF_PROJECTS.iter().map(canary).collect()
}

/// Names that no library knows: what is read must change nothing.
const OF_PROJECTS: [(&str, &str); 2] = [
    (".env", "WALLED_GARDEN_TOKEN=wg_{word:40}\nWALLED_GARDEN_SECRET={word:32}\n"),
    ("credentials", "[walled-garden]\nclient_id = {hex:24}\nclient_secret = {word:40}\n"),
];

/// In the content, `{kind}` or `{kind:number}` stands for a token.
const FILES: [(&str, &str); 18] = [
    (".ssh/id_rsa", "-----BEGIN RSA PRIVATE KEY-----\n{lines:24}\n-----END RSA PRIVATE KEY-----\n"),
    (
        ".ssh/id_ed25519",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{lines:5}\n-----END OPENSSH PRIVATE KEY-----\n",
    ),
    (".ssh/config", "Host bastion\n    HostName {hex:12}.bastion.internal\n    User deploy\n"),
    (
        ".env",
        "DATABASE_URL=postgres://app:{word:24}@db.internal:5432/app\nOPENAI_API_KEY=sk-proj-{word:48}\nSTRIPE_SECRET_KEY=sk_live_{word:24}\n",
    ),
    (
        ".aws/credentials",
        "[default]\naws_access_key_id = AKIA{upper:16}\naws_secret_access_key = {word:40}\n",
    ),
    (".netrc", "machine api.github.com\n  login deploy\n  password {word:32}\n"),
    (
        ".docker/config.json",
        "{\n  \"auths\": {\n    \"https://index.docker.io/v1/\": { \"auth\": \"{word:44}\" }\n  }\n}\n",
    ),
    (
        ".kube/config",
        "apiVersion: v1\nkind: Config\nclusters:\n- name: prod\n  cluster:\n    server: https://10.20.0.1:6443\nusers:\n- name: admin\n  user:\n    token: {word:64}\n",
    ),
    (".npmrc", "//registry.npmjs.org/:_authToken=npm_{word:36}\n"),
    (".pypirc", "[pypi]\nusername = __token__\npassword = pypi-{word:96}\n"),
    (".git-credentials", "https://deploy:ghp_{word:36}@github.com\n"),
    (
        ".config/gh/hosts.yml",
        "github.com:\n    user: deploy\n    oauth_token: gho_{word:36}\n    git_protocol: https\n",
    ),
    (
        ".config/gcloud/application_default_credentials.json",
        "{\n  \"type\": \"authorized_user\",\n  \"client_secret\": \"GOCSPX-{word:28}\",\n  \"refresh_token\": \"1//0{word:60}\"\n}\n",
    ),
    (".bash_history", "cd work\ngit pull\nexport GITHUB_TOKEN=ghp_{word:36}\nmake deploy\n"),
    (".zsh_history", ": 1700000000:0;export ANTHROPIC_API_KEY=sk-ant-api03-{word:64}\n"),
    (".python_history", "import boto3\nkey = '{word:40}'\n"),
    (".pgpass", "db.internal:5432:app:app:{word:24}\n"),
    (
        ".config/google-chrome/Default/Cookies",
        "SQLite format 3\0.github.com\0user_session\0{word:48}\0.google.com\0SID\0{word:71}\0",
    ),
];

const WORD: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &[u8] = b"0123456789abcdef";

/// The length of a line of a key file.
const KEY_LINE: usize = 70;

fn fill(template: &str, source: &mut Source) -> (String, Vec<String>) {
    let mut content = String::new();
    let mut tokens = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        content.push_str(before);
        match after.split_once('}').and_then(|(name, after)| Some((token(name, source)?, after))) {
            Some((token, after)) => {
                content.push_str(&token.join("\n"));
                tokens.extend(token);
                rest = after;
            }
            // A bracket of the content itself.
            None => {
                content.push('{');
                rest = after;
            }
        }
    }
    content.push_str(rest);
    (content, tokens)
}

fn token(name: &str, source: &mut Source) -> Option<Vec<String>> {
    let (kind, number) = name.split_once(':')?;
    let number = number.parse().ok()?;
    match kind {
        "word" => Some(vec![source.text(WORD, number)]),
        "upper" => Some(vec![source.text(UPPER, number)]),
        "hex" => Some(vec![source.text(HEX, number)]),
        "lines" => Some((0..number).map(|_| source.text(WORD, KEY_LINE)).collect()),
        _ => None,
    }
}

/// Numbers from a seed: SplitMix64, whose whole state is one number.
struct Source(u64);

impl Source {
    /// Each file has numbers of its own, so that a file that is added changes no other.
    fn new(seed: u64, name: &str) -> Self {
        let mut source = Self(seed);
        for byte in name.bytes() {
            source.0 = source.next() ^ u64::from(byte);
        }
        source
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn text(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.next() as usize % alphabet.len()])).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_has_tokens_that_stand_in_it_and_in_no_other() {
        let canaries = canaries(Path::new("/home/u"), 7);
        let mut seen = BTreeSet::new();
        for canary in &canaries {
            assert!(!canary.tokens.is_empty(), "{:?}", canary.path);
            for token in &canary.tokens {
                assert!(String::from_utf8_lossy(&canary.content).contains(token), "{:?}", canary.path);
                assert!(token.len() >= 12, "{token} could turn up by chance");
                assert!(seen.insert(token.clone()), "{token} is there twice");
            }
            assert!(!String::from_utf8_lossy(&canary.content).contains(":4}"), "{:?}", canary.path);
        }
    }

    #[test]
    fn the_seed_alone_decides_the_tokens() {
        let tokens = |seed| canaries(Path::new("/home/u"), seed).into_iter().flat_map(|canary| canary.tokens);
        assert!(tokens(1).eq(tokens(1)));
        assert!(tokens(1).zip(tokens(2)).all(|(one, other)| one != other));
    }

    #[test]
    fn brackets_of_the_content_stay() {
        let docker = canaries(Path::new("/h"), 1).into_iter().find(|file| file.path.ends_with("config.json"));
        let content = String::from_utf8(docker.unwrap().content).unwrap();
        assert!(content.starts_with("{\n  \"auths\": {\n") && content.ends_with("}\n  }\n}\n"), "{content}");
    }
}
