//! Reads from the arguments of `pipx run` which package it runs an app of, and the options that make the environment
//! what it is.
//!
//! The place where pipx keeps an environment is named by these options too, so that it is found again only with the same.

const TAKE_A_VALUE: [&str; 8] =
    ["--python", "--pip-args", "--index-url", "-i", "--with", "--fetch-python", "--backend", "--cooldown"];
const STAND_ALONE: [&str; 4] =
    ["--fetch-missing-python", "--system-site-packages", "--no-path-check", "--skip-maintenance"];
const SPEC: &str = "--spec";
/// What makes pip build, and with that run, what it gets, whatever else it is told.
const BUILDS: [&str; 3] = ["--no-binary", "-e", "--editable"];

/// Options and package. None where nothing can be fetched beforehand: an option is not known, keeps nothing, or builds.
pub(super) fn pipx<'a>(arguments: &[&'a str]) -> Option<(Vec<&'a str>, &'a str)> {
    let (mut options, mut spec) = (Vec::new(), None);
    let mut rest = arguments.iter().copied();
    while let Some(word) = rest.next() {
        let (name, written) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (word, None),
        };
        if !word.starts_with('-') {
            return Some((options, spec.unwrap_or(word)));
        } else if name == SPEC {
            spec = Some(written.or_else(|| rest.next())?);
        } else if TAKE_A_VALUE.contains(&name) {
            options.push(word);
            let value = match written {
                Some(value) => value,
                None => {
                    options.extend(rest.next());
                    options.last()?
                }
            };
            if name == "--pip-args" && value.split([' ', '=']).any(|each| BUILDS.contains(&each)) {
                return None;
            }
        } else if STAND_ALONE.contains(&word) || is_loudness(word) {
            options.push(word);
        } else {
            return None;
        }
    }
    None
}

fn is_loudness(word: &str) -> bool {
    ["--quiet", "--verbose"].contains(&word)
        || word.strip_prefix('-').is_some_and(|letters| letters.chars().all(|letter| "qv".contains(letter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_made_with_the_same_options() {
        let line = ["--python", "3.12", "-q", "--spec", "pkg==1", "--pip-args=--pre", "app", "--no-cache"];
        let options = vec!["--python", "3.12", "-q", "--pip-args=--pre"];
        assert_eq!(pipx(&line), Some((options, "pkg==1")));
        assert_eq!(pipx(&["app"]), Some((Vec::new(), "app")));
    }

    #[test]
    fn what_keeps_nothing_or_builds_is_not_fetched() {
        let lines: [&[&str]; 6] = [
            &["--no-cache", "app"],
            &["--path", "app.py"],
            &["--editable", "--spec", ".", "app"],
            &["--pip-args", "--pre --no-binary=:all:", "app"],
            &["--spec"],
            &["--python"],
        ];
        for line in lines {
            assert_eq!(pipx(line), None, "{line:?}");
        }
    }
}
