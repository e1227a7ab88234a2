//! Decides whether a program may well have read a secret file: clients read the files that are made for them.

use std::path::Path;

use crate::observe::Effects;

/// Whose business a kind of secret file is: words by which a tool or server says so, and programs that read it.
struct Client {
    /// The end of the path.
    file: &'static str,
    words: &'static [&'static str],
    programs: &'static [&'static str],
}

/// For whom what is planted in a file is made: to show it there is to log in.
const LOGINS: [(&str, &[&str]); 6] = [
    (".netrc", &["api.github.com"]),
    (".docker/config.json", &["index.docker.io", "auth.docker.io", "registry-1.docker.io"]),
    (".npmrc", &["registry.npmjs.org"]),
    (".pypirc", &["upload.pypi.org"]),
    (".git-credentials", &["github.com"]),
    (".config/gh/hosts.yml", &["github.com", "api.github.com"]),
];

const CLIENTS: [Client; 17] = [
    Client { file: ".ssh/id_rsa", words: &["ssh", "sftp"], programs: &["ssh", "scp", "sftp", "ssh-add"] },
    Client { file: ".ssh/id_ed25519", words: &["ssh", "sftp"], programs: &["ssh", "scp", "sftp", "ssh-add"] },
    Client { file: ".ssh/config", words: &["ssh", "sftp"], programs: &["ssh", "scp", "sftp"] },
    Client { file: ".env", words: &["dotenv", ".env"], programs: &[] },
    Client { file: ".aws/credentials", words: &["aws", "amazon", "s3", "bedrock"], programs: &["aws"] },
    Client { file: ".netrc", words: &["netrc"], programs: &["curl", "wget", "git", "git-remote-https"] },
    Client { file: ".docker/config.json", words: &["docker", "container"], programs: &["docker"] },
    Client {
        file: ".kube/config",
        words: &["kube", "kubernetes", "k8s", "helm"],
        programs: &["kubectl", "helm"],
    },
    Client {
        file: ".npmrc",
        words: &["npm"],
        programs: &["npm", "npx", "yarn", "pnpm", "npm-cli.js", "npx-cli.js"],
    },
    Client { file: ".pypirc", words: &["pypi", "twine"], programs: &["twine"] },
    Client { file: ".git-credentials", words: &["git"], programs: &["git", "git-credential-store"] },
    Client { file: ".config/gh/hosts.yml", words: &["github"], programs: &["gh"] },
    Client {
        file: ".config/gcloud/application_default_credentials.json",
        words: &["gcloud", "google", "gcp", "bigquery", "vertex"],
        programs: &["gcloud"],
    },
    Client { file: ".pgpass", words: &["postgres", "postgresql", "psql"], programs: &["psql", "pg_dump"] },
    Client {
        file: "Default/Cookies",
        words: &["browser", "chrome", "cookie"],
        programs: &["chrome", "chromium"],
    },
    Client { file: "docker.sock", words: &["docker", "container"], programs: &["docker"] },
    // They read all that the kernel tells of every process, whatever they are asked to show.
    Client { file: "proc/1/environ", words: &[], programs: &["ps", "pgrep", "pkill", "top"] },
];

/// What is said of what a server does, in small letters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Said<'a> {
    /// The description of the tool that is called.
    pub of_tool: &'a str,
    /// The descriptions of all tools, and what the server says of itself.
    pub in_all: &'a str,
}

/// What proves who somebody is, and is of no use to whoever only looks things up.
fn is_key(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("id_"))
}

/// Why a secret may well be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Business {
    /// The tool or the server says that it deals with such things.
    Said(String),
    /// A program that was executed reads its own file.
    Program(String),
    /// Libraries look there for a login whenever they speak to a host.
    Login,
}

impl Business {
    /// Keys are the business of nobody who is not described to use them; files of settings, that of any server which
    /// deals with such things. What something is called says nothing.
    pub fn of(path: &Path, said: &Said<'_>, effects: &Effects) -> Option<Business> {
        let client = CLIENTS.iter().find(|client| path.ends_with(client.file))?;
        let said = if is_key(path) { said.of_tool } else { said.in_all };
        let has = |word: &str| said.split(|letter: char| !letter.is_alphanumeric()).any(|each| each == word);
        if let Some(word) =
            client.words.iter().find(|word| has(word) || word.starts_with('.') && said.contains(*word))
        {
            return Some(Business::Said((*word).to_owned()));
        }
        let ran = |program: &&&str| {
            effects.programs.iter().any(|ran| {
                let words = ran.arguments.iter().take(2).map(Path::new).chain([ran.file.as_path()]);
                words.into_iter().any(|word| word.file_name().is_some_and(|name| name == **program))
            })
        };
        if let Some(program) = client.programs.iter().find(ran) {
            return Some(Business::Program((*program).to_owned()));
        }
        (client.file == ".netrc" && !effects.connects.is_empty()).then_some(Business::Login)
    }
}

/// Whether a secret is made for this host.
pub fn is_login(path: &Path, host: &str) -> bool {
    LOGINS.iter().any(|(file, hosts)| path.ends_with(file) && hosts.contains(&host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Executed;

    #[test]
    fn a_client_reads_its_own_file_and_nobody_elses() {
        let none = Effects::default();
        let key = Path::new("/home/u/.ssh/id_rsa");
        let tunnel = Said { of_tool: "opens an ssh tunnel", in_all: "opens an ssh tunnel" };
        let notes = Said { of_tool: "formats notes for a flashy show", in_all: tunnel.in_all };
        assert_eq!(Business::of(key, &tunnel, &none), Some(Business::Said("ssh".into())));
        assert_eq!(Business::of(key, &notes, &none), None, "another tool of the same server");
        assert!(Business::of(Path::new("/home/u/.ssh/config"), &notes, &none).is_some());
        assert_eq!(Business::of(Path::new("/home/u/.kube/config"), &tunnel, &none), None);
        let mut ran = Effects::default();
        ran.programs.insert(Executed { file: "/usr/bin/docker".into(), arguments: vec!["docker".into()] });
        let settings = Path::new("/home/u/.docker/config.json");
        let nothing = Said::default();
        assert_eq!(Business::of(settings, &nothing, &ran), Some(Business::Program("docker".into())));
        assert_eq!(Business::of(key, &nothing, &ran), None);
        let environment = Path::new("/proc/1/environ");
        assert_eq!(Business::of(environment, &nothing, &ran), None);
        ran.programs
            .insert(Executed { file: "/usr/bin/ps".into(), arguments: vec!["ps".into(), "-e".into()] });
        assert_eq!(Business::of(environment, &nothing, &ran), Some(Business::Program("ps".into())));
    }

    #[test]
    fn a_secret_is_a_login_where_it_is_made_for_and_nowhere_else() {
        let secret = Path::new("/home/u/.npmrc");
        assert!(is_login(secret, "registry.npmjs.org"));
        assert!(!is_login(secret, "registry.npmjs.org.collect.example"));
        assert!(!is_login(Path::new("/home/u/.ssh/id_rsa"), "registry.npmjs.org"));
    }
}
