//! What the documents say is so: their command lines are understood, what they show is what is printed, their links lead
//! somewhere, and nothing in them installs a program of somebody else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::help::COMMANDS;
use crate::world::World;

/// Stands for any number of lines in what a document shows, and for any text within one of them.
const ANYTHING: &str = "[…]";

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All documents for users, by their path from the root.
pub fn documents() -> Vec<(PathBuf, String)> {
    let root = root();
    let mut found = vec![root.join("README.md"), root.join("examples/python_server/README.md")];
    for folder in ["docs", "docs/kinds"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        found.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    found.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.strip_prefix(&root).unwrap().to_owned(), text)
    };
    found.into_iter().map(read).collect()
}

/// The lines of the blocks of one language.
pub fn blocks<'a>(text: &'a str, language: &str) -> Vec<Vec<&'a str>> {
    let mut blocks = Vec::new();
    let mut open: Option<(bool, Vec<&str>)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(named), None) => open = Some((named == language, Vec::new())),
            (Some(_), Some(_)) => {
                blocks.extend(open.take().filter(|(wanted, _)| *wanted).map(|(_, lines)| lines))
            }
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    blocks
}

/// The words of a line as a shell has them, up to a comment, a pipe or another command.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, '|' | '>' | ';' | '&') => break,
            (None, ' ') => words.extend(word.take()),
            (None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// What `wallfacer` is called with in a line; none where it is another program's.
fn arguments(line: &str) -> Option<Vec<String>> {
    let mut words = words(line).into_iter().skip_while(|word| word.contains('=') && !word.starts_with('-'));
    (words.next().as_deref() == Some("wallfacer")).then(|| words.collect())
}

#[test]
fn every_command_line_in_the_documents_is_understood() {
    let world = World::new();
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (path, text) in documents() {
        for line in blocks(&text, "sh").concat() {
            let Some(mut arguments) = arguments(line) else { continue };
            // Help is given in place of the work, once all that stands before it was understood.
            let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
            arguments.insert(end, "--help".to_owned());
            let outcome = world.run(&arguments);
            tried += 1;
            if outcome.code != Some(0) {
                wrong.push(format!("{}: {line}\n{outcome}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(tried > 100, "only {tried} command lines were found");
}

#[test]
fn every_example_of_the_help_is_understood() {
    let world = World::new();
    for command in COMMANDS {
        let help = world.run(&[command, "--help"]).stdout;
        let examples = help.lines().skip_while(|line| *line != "Examples:").skip(1);
        let examples: Vec<Vec<String>> = examples.filter_map(|line| arguments(line.trim())).collect();
        assert!(!examples.is_empty(), "{command} has no examples");
        for mut arguments in examples {
            let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
            arguments.insert(end, "--help".to_owned());
            assert_eq!(world.run(&arguments).code, Some(0), "{arguments:?}");
        }
    }
}

#[test]
fn what_the_documents_show_is_what_is_printed() {
    for (path, text) in documents() {
        let world = World::new();
        for block in blocks(&text, "console") {
            let mut lines = block.into_iter().peekable();
            while let Some(line) = lines.next() {
                let typed = line.strip_prefix("$ ").unwrap_or_else(|| panic!("{}: {line}", path.display()));
                let mut shown = Vec::new();
                while let Some(next) = lines.next_if(|next| !next.starts_with("$ ")) {
                    shown.push(next);
                }
                let outcome = world.run(&arguments(typed).expect("a block shows what wallfacer prints"));
                let printed: Vec<&str> = outcome.stdout.lines().collect();
                assert!(fits(&shown, &printed), "{}: {outcome}", path.display());
            }
        }
    }
}

/// Whether lines are those that are shown, with anything where that is said.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((&ANYTHING, rest)), _) => (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..])),
        (Some((line, rest)), Some((other, others))) => is_like(line, other) && fits(rest, others),
        _ => false,
    }
}

/// Whether a line is the one that is shown, with any text where that is said.
fn is_like(shown: &str, printed: &str) -> bool {
    match shown.split_once(ANYTHING) {
        None => shown == printed,
        Some((before, behind)) => printed.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().any(|(at, _)| is_like(behind, &rest[at..])) || is_like(behind, "")
        }),
    }
}

/// The name that a heading has in a link.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn headings(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| anchor(line.trim_start_matches('#')))
        .collect()
}

/// Where the repository is on the web. A link out of the guide, which is also a book of its own, has it in front.
const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// The targets of all links of a text that lead into the repository, those by its address as paths from its root.
fn links(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        inside ^= line.starts_with("```");
        let parts = line.split("](").skip(1).filter(|_| !inside);
        found.extend(parts.filter_map(|part| part.split(')').next()).map(str::to_owned));
    }
    let ours = |link: String| match link.strip_prefix(REPOSITORY) {
        Some(path) => Some(format!("/{path}")),
        None => Some(link).filter(|link| !link.contains("://") && !link.starts_with("mailto:")),
    };
    found.into_iter().filter_map(ours).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = root();
    let mut broken = Vec::new();
    for (path, text) in documents() {
        for link in links(&text) {
            let (file, place) = link.split_once('#').unwrap_or((&link, ""));
            let target = match (file, file.strip_prefix('/')) {
                ("", _) => root.join(&path),
                (_, Some(from_root)) => root.join(from_root),
                (file, None) => root.join(path.parent().unwrap()).join(file),
            };
            let is_there = match std::fs::read_to_string(&target) {
                Ok(text) => place.is_empty() || headings(&text).contains(place),
                Err(_) => target.exists() && place.is_empty(),
            };
            if !is_there {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_page_of_the_guide_is_in_its_table_of_contents() {
    let root = root();
    let summary = std::fs::read_to_string(root.join("docs/SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> = links(&summary).into_iter().map(PathBuf::from).collect();
    let pages =
        documents().into_iter().filter_map(|(path, _)| path.strip_prefix("docs").ok().map(Path::to_owned));
    let pages: BTreeSet<PathBuf> = pages.filter(|page| page != Path::new("SUMMARY.md")).collect();
    assert_eq!(listed, pages);
}

#[test]
fn nothing_in_the_documents_installs_the_program_of_somebody_else() {
    let root = root();
    let others = ["action.yml", "examples/many-machines/github.yml", "examples/many-machines/gitlab.yml"];
    let others = others.map(|name| (PathBuf::from(name), std::fs::read_to_string(root.join(name)).unwrap()));
    for (path, text) in documents().into_iter().chain(others) {
        for line in text.lines() {
            let installs = ["cargo install ", "cargo binstall "].iter().any(|command| line.contains(command));
            let ours = ["--git https://github.com/mcp-wallfacer/wallfacer", "--path "];
            let wrong = installs && !ours.iter().any(|from| line.contains(from))
                || [
                    "npx mcp-wallfacer",
                    "npx -y mcp-wallfacer",
                    "uvx mcp-wallfacer",
                    "pip install mcp-wallfacer",
                ]
                .iter()
                .any(|command| line.contains(command));
            assert!(!wrong, "{}: {line}", path.display());
        }
    }
}
