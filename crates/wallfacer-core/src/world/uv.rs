//! Splits a command line of `uv run` or `uvx` into its own options and what it is to run.

use std::path::{Path, PathBuf};

/// Options that take the word behind them.
const TAKE_A_VALUE: [&str; 46] = [
    "--allow-insecure-host",
    "--cache-dir",
    "--color",
    "--config-file",
    "--config-setting",
    "--config-settings-package",
    "--default-index",
    "--directory",
    "--env-file",
    "--exclude-newer",
    "--exclude-newer-package",
    "--extra",
    "--extra-index-url",
    "--find-links",
    "--fork-strategy",
    "--from",
    "--group",
    "--index",
    "--index-strategy",
    "--index-url",
    "--keyring-provider",
    "--link-mode",
    "--no-binary-package",
    "--no-build-isolation-package",
    "--no-build-package",
    "--no-extra",
    "--no-group",
    "--only-group",
    "--overrides",
    "--constraints",
    "--package",
    "--prerelease",
    "--project",
    "--python",
    "--python-platform",
    "--refresh-package",
    "--reinstall-package",
    "--resolution",
    "--upgrade-package",
    "--with",
    "--with-editable",
    "--with-requirements",
    "-C",
    "-i",
    "-p",
    "-w",
];
/// Options behind which a module or a script follows.
const BEFORE_CODE: [&str; 5] = ["-m", "--module", "-s", "--script", "--gui-script"];

/// What `uv run` knows and `uv sync` does not: it does not change what a project needs.
const OF_RUN_ALONE: [&str; 9] = [
    "--env-file",
    "--exact",
    "--isolated",
    "--no-env-file",
    "--no-sync",
    "--with",
    "--with-editable",
    "--with-requirements",
    "-w",
];
/// Options by which `uv run` is given more than the project needs.
const ADDS: [&str; 4] = ["--with", "--with-editable", "--with-requirements", "-w"];
/// Options that say where uv works.
pub(super) const PLACES: [&str; 2] = ["--directory", "--project"];

/// A command line of uv, cut where its own options end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut<'a> {
    pub options: Vec<&'a str>,
    /// What is run; none where there is nothing behind the options.
    pub run: Option<&'a str>,
    /// Whether that is a module or a script because an option says so.
    pub code: bool,
}

pub(super) fn cut<'a>(words: &[&'a str]) -> Cut<'a> {
    let mut options = Vec::new();
    let mut rest = words.iter().copied();
    let mut code = false;
    while let Some(word) = rest.next() {
        if BEFORE_CODE.contains(&word) {
            code = true;
        } else if word == "--" {
            return Cut { options, run: rest.next(), code };
        } else if word.starts_with('-') && word.len() > 1 {
            options.push(word);
            options.extend(TAKE_A_VALUE.contains(&word).then(|| rest.next()).flatten());
        } else {
            return Cut { options, run: Some(word), code };
        }
    }
    Cut { options, run: None, code }
}

impl<'a> Cut<'a> {
    /// The value of an option, also where it is written with `=`.
    pub fn value(&self, name: &str) -> Option<&'a str> {
        let written = |option: &&'a str| option.strip_prefix(name)?.strip_prefix('=');
        let at = self.options.iter().position(|option| *option == name);
        at.and_then(|at| self.options.get(at + 1).copied()).or_else(|| self.options.iter().find_map(written))
    }

    /// Where uv works, and looks for a project.
    pub fn place(&self, cwd: &Path) -> PathBuf {
        let places = PLACES.iter().filter_map(|option| self.value(option));
        places.fold(cwd.to_path_buf(), |place, inside| place.join(inside))
    }

    pub fn is_in_project(&self, cwd: &Path) -> bool {
        let place = self.place(cwd);
        let found = place.ancestors().any(|place| place.join("pyproject.toml").is_file());
        found && !self.options.contains(&"--no-project")
    }

    pub fn adds_packages(&self) -> bool {
        ADDS.iter().any(|option| self.value(option).is_some())
    }

    /// The options that `uv sync` takes as well.
    pub fn for_sync(&self) -> Vec<&'a str> {
        let mut kept = self.options.clone();
        for option in OF_RUN_ALONE {
            kept = Cut { options: kept, run: None, code: false }.without(option);
        }
        kept
    }

    /// The options without one of them.
    pub fn without(&self, name: &str) -> Vec<&'a str> {
        let mut kept = Vec::new();
        let mut rest = self.options.iter().copied();
        while let Some(option) = rest.next() {
            if option == name {
                if TAKE_A_VALUE.contains(&name) {
                    rest.next();
                }
            } else if option.strip_prefix(name).is_none_or(|rest| !rest.starts_with('=')) {
                kept.push(option);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<&str> {
        line.split(' ').collect()
    }

    #[test]
    fn what_is_run_stands_behind_the_options_and_their_values() {
        let line = words("--with mcp[cli] -q --python=3.12 mcp run server.py");
        let found = cut(&line);
        assert_eq!(
            (found.options.join(" ").as_str(), found.run),
            ("--with mcp[cli] -q --python=3.12", Some("mcp"))
        );
        let line = words("--project x -m server");
        assert_eq!(cut(&line), Cut { options: vec!["--project", "x"], run: Some("server"), code: true });
        assert_eq!(cut(&words("-q -- server")).run, Some("server"));
        assert_eq!(cut(&["--with"]).run, None);
    }

    #[test]
    fn an_option_is_found_and_left_out_however_it_is_written() {
        for line in ["-q --from pkg server", "--from=pkg -q server"] {
            let line = words(line);
            let found = cut(&line);
            assert_eq!((found.value("--from"), found.without("--from")), (Some("pkg"), vec!["-q"]));
        }
    }
}
