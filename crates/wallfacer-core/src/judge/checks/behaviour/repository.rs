//! Tells whether git changed a file only because somebody looked: `git status` writes the times of files into its
//! index.

use std::path::Path;

use crate::observe::{Effects, Executed};

/// What of git changes nothing that anyone works with.
const LOOKS: [&str; 12] = [
    "cat-file",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "log",
    "ls-files",
    "rev-list",
    "rev-parse",
    "show",
    "status",
];
/// Options of git itself that take the word behind them.
const TAKE_A_VALUE: [&str; 4] = ["-c", "-C", "--git-dir", "--work-tree"];

/// Whether the file is an index, and git was started to look and for nothing else.
pub fn is_looked_at(path: &Path, effects: &Effects) -> bool {
    let mut started = effects.programs.iter().filter(|ran| ran.file.ends_with("git")).peekable();
    path.ends_with(".git/index")
        && started.peek().is_some()
        && started.all(|ran| command(ran).is_some_and(|command| LOOKS.contains(&command)))
}

fn command(ran: &Executed) -> Option<&str> {
    let mut words = ran.arguments.iter().skip(1).map(String::as_str);
    loop {
        let word = words.next()?;
        if TAKE_A_VALUE.contains(&word) {
            words.next()?;
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(lines: &[&str]) -> Effects {
        let mut effects = Effects::default();
        effects.programs.extend(lines.iter().map(|line| Executed {
            file: "/usr/bin/git".into(),
            arguments: line.split(' ').map(str::to_owned).collect(),
        }));
        effects
    }

    #[test]
    fn an_index_that_git_brings_up_to_date_is_not_changed() {
        let index = Path::new("/data/.git/index");
        assert!(is_looked_at(index, &ran(&["git status", "git -c a=b diff --cached"])));
        assert!(!is_looked_at(index, &ran(&["git status", "git add -- a"])));
        assert!(!is_looked_at(index, &ran(&[])), "whoever writes it without git changes it");
        assert!(!is_looked_at(Path::new("/data/.git/HEAD"), &ran(&["git status"])));
        assert!(!is_looked_at(index, &ran(&["git"])));
    }
}
