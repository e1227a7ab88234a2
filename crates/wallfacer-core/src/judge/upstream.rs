//! Whom is the secret in a variable for? The name of the variable says it, or the make of the secret.

use crate::target::TOKEN_BEGINNINGS;

/// Words in the names of variables that name no service.
const PLAIN: [&str; 62] = [
    "access",
    "account",
    "admin",
    "agent",
    "api",
    "app",
    "application",
    "auth",
    "authorization",
    "bearer",
    "bot",
    "ci",
    "cli",
    "client",
    "code",
    "cookie",
    "credential",
    "credentials",
    "db",
    "default",
    "dev",
    "encryption",
    "env",
    "id",
    "jwt",
    "key",
    "login",
    "master",
    "mcp",
    "my",
    "oauth",
    "oauth2",
    "org",
    "pass",
    "passphrase",
    "password",
    "passwd",
    "pat",
    "personal",
    "private",
    "prod",
    "project",
    "public",
    "pwd",
    "read",
    "refresh",
    "root",
    "sandbox",
    "secret",
    "server",
    "service",
    "session",
    "signing",
    "test",
    "token",
    "tool",
    "url",
    "user",
    "username",
    "webhook",
    "write",
    "x",
];
/// Services whose hosts go by another name than they do.
const ALSO_CALLED: [(&str, &[&str]); 26] = [
    ("atlassian", &["jira", "confluence", "bitbucket", "trello"]),
    ("jira", &["atlassian"]),
    ("confluence", &["atlassian"]),
    ("bitbucket", &["atlassian"]),
    ("aws", &["amazon"]),
    ("s3", &["amazon"]),
    ("bedrock", &["amazon"]),
    ("azure", &["microsoft", "windows"]),
    ("outlook", &["microsoft", "office"]),
    ("msgraph", &["microsoft"]),
    ("bing", &["microsoft"]),
    ("claude", &["anthropic"]),
    ("chatgpt", &["openai"]),
    ("gh", &["github"]),
    ("gl", &["gitlab"]),
    ("hf", &["huggingface"]),
    ("hugging", &["huggingface"]),
    ("gcp", &["google"]),
    ("gcloud", &["google"]),
    ("gdrive", &["google"]),
    ("gemini", &["google"]),
    ("gmail", &["google"]),
    ("youtube", &["google"]),
    ("vertex", &["google"]),
    ("npm", &["npmjs"]),
    ("pypi", &["python"]),
];
/// A shorter word is part of many names.
const SHORTEST: usize = 3;

/// The services that a secret is for, by the name of its variable and its own beginning; none where neither says so.
pub fn services(variable: &str, secret: &str) -> Vec<String> {
    let known = TOKEN_BEGINNINGS.iter().find(|(beginning, _)| secret.starts_with(beginning));
    let names = [Some(variable), known.map(|(_, name)| *name)];
    let words =
        names.into_iter().flatten().flat_map(|name| name.split(|letter: char| !letter.is_alphanumeric()));
    let words = words.map(str::to_ascii_lowercase);
    words
        .filter(|word| !word.is_empty() && !PLAIN.contains(&word.as_str()) && word.parse::<u32>().is_err())
        .collect()
}

/// Whether a host belongs to a service: the name that somebody has registered is, or holds, the word. What stands
/// before it anybody can choose.
pub fn belongs(host: &str, service: &str) -> bool {
    let registered = registered(host);
    let others = ALSO_CALLED.iter().filter(|(name, _)| *name == service).flat_map(|(_, others)| *others);
    let mut words = std::iter::once(service).chain(others.copied());
    !registered.contains('-')
        && words.any(|word| registered == word || word.len() >= SHORTEST && registered.contains(word))
}

/// The part of a host's name that says who has it: `example` of `api.example.co.uk`.
pub fn registered(host: &str) -> &str {
    let labels: Vec<&str> = host.trim_end_matches('.').split('.').collect();
    match labels[..] {
        [.., name, second, top] if second.len() <= 3 && top.len() == 2 => name,
        [.., name, _] => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_names_its_service_or_the_make_of_its_secret_does() {
        assert_eq!(services("GITHUB_PERSONAL_ACCESS_TOKEN", "x"), ["github"]);
        assert_eq!(services("BRAVE_API_KEY_2", "x"), ["brave"]);
        assert_eq!(services("MY_TOKEN", "glpat-abc"), ["gitlab"]);
        assert!(services("API_KEY", "sk-abc").is_empty());
    }

    #[test]
    fn a_host_belongs_to_whom_it_is_registered_for() {
        for (host, service) in [
            ("api.github.com", "github"),
            ("api.search.brave.com", "brave"),
            ("s3.eu-west-1.amazonaws.com", "aws"),
            ("youtube.googleapis.com", "youtube"),
            ("acme.atlassian.net", "jira"),
            ("api.slack.co.uk", "slack"),
            ("huggingface.co", "hf"),
        ] {
            assert!(belongs(host, service), "{host}");
        }
        for host in
            ["collect.example", "github.collect.example", "github-api.example", "api.github.com.evil.example"]
        {
            assert!(!belongs(host, "github"), "{host}");
        }
    }
}
