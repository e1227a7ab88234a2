//! A repository in which somebody planted links: nothing behind them is read or written over. Nor does what is no ordinary file
//! keep anybody waiting.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use crate::lanes::each;
use crate::world::{Outcome, World, fixture};

/// What stands in the file outside of the repository, to which the links lead.
const THEIRS: &str = "canary-of-the-user\n";

/// A repository with one link, and the file or directory outside that it leads to.
struct Planted {
    world: World,
    outside: PathBuf,
}

impl Planted {
    fn file(link: &str) -> Planted {
        let planted = Planted::new("theirs");
        fs::write(&planted.outside, THEIRS).unwrap();
        planted.link(link)
    }

    fn directory(link: &str) -> Planted {
        let planted = Planted::new("their-directory");
        fs::create_dir(&planted.outside).unwrap();
        planted.link(link)
    }

    fn new(name: &str) -> Planted {
        let world = World::new();
        let outside = world.root().join("home").join(name);
        Planted { world, outside }
    }

    fn link(self, link: &str) -> Planted {
        let link = self.world.here().join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&self.outside, link).unwrap();
        self
    }

    fn run(&self, words: &[&str]) -> Outcome {
        self.world.run(words)
    }

    /// The link is named, the file is as it was, and nothing of it is shown.
    fn assert_refused(&self, outcome: &Outcome, link: &str) {
        assert_eq!(outcome.code, Some(2), "{outcome}");
        let said = format!("here/{link}` is a symbolic link to `[ROOT]/home/");
        assert!(outcome.stderr.contains(&said), "{outcome}");
        assert!(!format!("{outcome}").contains("canary"), "{outcome}");
        self.assert_untouched();
    }

    fn assert_untouched(&self) {
        match self.outside.is_dir() {
            true => assert_eq!(fs::read_dir(&self.outside).unwrap().count(), 0, "nothing is written there"),
            false => assert_eq!(fs::read_to_string(&self.outside).unwrap(), THEIRS),
        }
    }
}

/// The command with a server that crashes behind it.
fn with_server<'a>(words: &[&'a str], server: &'a str) -> Vec<&'a str> {
    [words, &["--", server, "flaw", "crash-on-every-call"]].concat()
}

/// Was open: the file behind the link was written over.
#[test]
fn a_lock_file_that_is_a_link_is_neither_written_nor_read() {
    let (planted, server) = (Planted::file("wallfacer.lock"), fixture());
    for words in
        [&["lock", "--calls", "1"][..], &["lock", "--check", "--calls", "1"], &["behave", "--calls", "1"]]
    {
        let outcome = planted.run(&with_server(words, &server));
        planted.assert_refused(&outcome, "wallfacer.lock");
    }
}

/// Was open.
#[test]
fn a_baseline_that_is_a_link_is_neither_written_nor_read() {
    let (planted, server) = (Planted::file("wallfacer-baseline.toml"), fixture());
    let outcome = planted.run(&with_server(&["ci", "--budget", "2s"], &server));
    planted.assert_refused(&outcome, "wallfacer-baseline.toml");
    // One that leads nowhere yet is not followed to make a file there.
    fs::remove_file(&planted.outside).unwrap();
    let words = ["ci", "--budget", "2s", "--iterations", "1", "--accept", "because"];
    let outcome = planted.run(&with_server(&words, &server));
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert!(!planted.outside.exists(), "{outcome}");
}

/// Was open.
#[test]
fn learned_schemas_that_are_a_link_are_neither_written_nor_read() {
    let (planted, server) = (Planted::file("wallfacer-schemas.json"), fixture());
    for words in
        [&["differential", "--learn", "--iterations", "1"][..], &["differential", "--iterations", "1"]]
    {
        let outcome = planted.run(&with_server(words, &server));
        planted.assert_refused(&outcome, "wallfacer-schemas.json");
    }
}

/// Was open: findings and inputs went to wherever the link led.
#[test]
fn a_directory_of_findings_that_is_a_link_out_of_the_repository_is_not_written_to() {
    let server = fixture();
    for link in [".wallfacer", ".wallfacer/corpus"] {
        let planted = Planted::directory(link);
        let outcome = planted.run(&with_server(&["fuzz", "--iterations", "2", "--budget", "60s"], &server));
        assert!(outcome.stderr.contains(&format!("here/{link}` is a symbolic link to ")), "{outcome}");
        planted.assert_untouched();
        planted.assert_refused(&planted.run(&["corpus", "list"]), link);
        planted.assert_refused(&planted.run(&["replay", "0123"]), link);
    }
    // Runs are kept beside the findings.
    let planted = Planted::directory(".wallfacer/runs");
    let outcome = planted.run(&with_server(&["fuzz", "--iterations", "2", "--budget", "60s"], &server));
    assert!(outcome.stderr.contains("this run is not kept"), "{outcome}");
    assert!(outcome.stderr.contains("here/.wallfacer/runs` is a symbolic link to "), "{outcome}");
    planted.assert_untouched();
    for link in [".wallfacer", ".wallfacer/inputs"] {
        let planted = Planted::directory(link);
        let words = ["fuzz", "--iterations", "2", "--budget", "60s", "--corpus-feedback"];
        let outcome = planted.run(&with_server(&words, &server));
        assert!(outcome.stderr.contains(&format!("here/{link}` is a symbolic link to ")), "{outcome}");
        planted.assert_untouched();
    }
}

/// Held, for folders of the corpus itself and for files in them.
#[test]
fn a_folder_or_a_finding_that_is_a_link_is_not_read() {
    let planted = Planted::directory(".wallfacer/corpus/search");
    fs::write(planted.outside.join("0123456789abcdef.json"), THEIRS).unwrap();
    let listed = planted.run(&["corpus", "list"]);
    assert!(listed.stdout.contains("it is a symbolic link") && !listed.stdout.contains("canary"), "{listed}");
    let planted = Planted::file(".wallfacer/runs/20260101T000000Z-check/run.json");
    for words in [&["report"][..], &["report", "--list"], &["report", "20260101T000000Z-check"]] {
        let outcome = planted.run(words);
        assert!(!format!("{outcome}").contains("canary"), "{outcome}");
    }
    let planted = Planted::file(".wallfacer/corpus/search/0123456789abcdef.json");
    let listed = planted.run(&["corpus", "list"]);
    assert!(
        listed.stdout.contains("it is not a regular file") && !listed.stdout.contains("canary"),
        "{listed}"
    );
}

/// Was open: `suggest --write` added to the file behind, `pack` showed it, and `pack init` wrote where the link led.
#[test]
fn configuration_and_packs_that_are_links_are_not_written_through() {
    let server = fixture();
    let planted = Planted::file("wallfacer.toml");
    let outcome =
        planted.run(&["--config", "wallfacer.toml", "suggest", "--write", "--", &server, "correct"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    planted.assert_untouched();
    let planted = Planted::file("packs/mine.yaml");
    planted.assert_refused(&planted.run(&["pack", "show", "mine"]), "packs/mine.yaml");
    let planted = Planted::directory("packs");
    planted.assert_refused(&planted.run(&["pack", "init", "mine"]), "packs");
    let planted = Planted::directory(".github");
    let outcome = planted.run(&["init", "--ci"]);
    planted.assert_refused(&outcome, ".github");
}

/// Was open, also long after that build: whoever opened a pipe waited for ever, `lock --check` for example.
#[test]
fn a_file_that_is_a_pipe_or_has_no_end_keeps_nobody_waiting() {
    let server = fixture();
    let read_by: [(&str, &[&str]); 14] = [
        ("wallfacer.toml", &["doctor", "--", "SERVER", "correct"]),
        (".mcp.json", &["doctor", "--server", "one"]),
        ("wallfacer.lock", &["lock", "--check", "--calls", "1", "--", "SERVER", "correct"]),
        ("wallfacer.lock", &["lock", "--calls", "1", "--", "SERVER", "correct"]),
        ("wallfacer-baseline.toml", &["ci", "--budget", "2s", "--", "SERVER", "correct"]),
        ("wallfacer-schemas.json", &["differential", "--iterations", "1", "--", "SERVER", "correct"]),
        (".wallfacer/runs/20260101T000000Z-check/run.json", &["report"]),
        (".wallfacer/runs/20260101T000000Z-check/run.json", &["report", "--list"]),
        (".wallfacer/corpus/search/0123456789abcdef.json", &["corpus", "list"]),
        ("packs/mine.yaml", &["pack", "show", "mine"]),
        ("invariants.yaml", &["property", "invariants.yaml", "--", "SERVER", "correct"]),
        ("invariants.yaml", &["check", "--budget", "2s", "--", "SERVER", "correct"]),
        ("server", &["doctor", "--", "./server"]),
        (".gitignore", &["init"]),
    ];
    let planted = read_by.iter().flat_map(|row| ["pipe", "huge", "device"].map(|kind| (row, kind)));
    each(planted.collect::<Vec<_>>(), |((name, words), kind)| {
        let world = World::new();
        let path = world.here().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match kind {
            "pipe" => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
            "huge" => fs::File::create(&path).unwrap().set_len(1 << 40).unwrap(),
            _ => symlink("/dev/zero", &path).unwrap(),
        }
        let words: Vec<&str> =
            words.iter().map(|word| if *word == "SERVER" { server.as_str() } else { word }).collect();
        let outcome = world.run(&words);
        assert!(matches!(outcome.code, Some(0..=3)), "{name} as {kind}: {outcome}");
    });
}

/// A link that stays in the repository is the project's own, and what the user names may be a link.
#[test]
fn links_that_stay_and_those_that_the_user_names_are_followed() {
    let server = fixture();
    let world = World::new();
    fs::create_dir(world.here().join("shared")).unwrap();
    symlink("shared", world.here().join(".wallfacer")).unwrap();
    let outcome = world.run(&with_server(&["fuzz", "--iterations", "2", "--budget", "60s"], &server));
    assert_eq!(outcome.code, Some(1), "{outcome}");
    assert!(world.here().join("shared/corpus").is_dir());
    let planted = Planted::file("report.txt");
    let outcome = planted.run(&["doctor", "-o", "report.txt", "--", &server, "correct"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(fs::read_to_string(&planted.outside).unwrap().starts_with("Server"), "{outcome}");
}
