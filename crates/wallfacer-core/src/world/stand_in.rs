//! Stands in for programs that a server calls and the machine lacks: clients of a cloud, a device or a cluster. A stand-in
//! does nothing but answer, and lies in the sandbox alone.

use std::collections::BTreeMap;
use std::path::PathBuf;

use wallfacer_process::jail::Plant;

/// Programs that are no use without what they do: nobody can stand in for a browser, a shell or a compiler.
const IRREPLACEABLE: [&str; 22] = [
    "chrome", "chromium", "firefox", "msedge", "webkit", "brave", "sh", "bash", "zsh", "python", "python3",
    "node", "npm", "npx", "gcc", "cc", "ld", "clang", "make", "java", "deno", "bun",
];
/// Stand-ins of one world.
pub(super) const MAX_STAND_INS: usize = 16;
const LONGEST_NAME: usize = 40;

/// Answers every call as a program that does what it was told: JSON where that is asked for, its version, which is new enough for
/// whoever asks for "4.4 or later", or a line of text.
const SCRIPT: &str = r#"#!/bin/sh
json=
for argument in "$@"; do
  case "$argument" in
    --version|-V|version|-version) echo "$NAME version 24.1.0"; exit 0 ;;
    --help|-h|help) echo "usage: $NAME [options] [arguments]"; exit 0 ;;
    json|--json|-j|-ojson|*=json|*:json|json=*) json=yes ;;
  esac
done
if [ -n "$json" ]; then
  echo '{"kind":"List","apiVersion":"v1","id":"1","name":"example","status":"OK","metadata":{"name":"example","namespace":"default"},"items":[{"kind":"Item","id":"1","name":"example","status":{"phase":"Running"},"metadata":{"name":"example","namespace":"default","creationTimestamp":"2025-01-15T12:00:00Z"},"spec":{}}],"data":[],"results":[]}'
else
  echo "NAME      STATUS    AGE"
  echo "example   Running   1d"
fi
exit 0
"#;

/// Whether a program can be stood in for.
pub(super) fn can_be_stood_in_for(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.+".contains(letter);
    !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.starts_with(['.', '-'])
        && name.chars().all(plain)
        && !IRREPLACEABLE.iter().any(|other| name == *other || other.len() > 4 && name.contains(other))
}

/// The stand-ins for these programs, each where it was looked for last.
pub(super) fn stand_ins(programs: &BTreeMap<String, PathBuf>) -> BTreeMap<PathBuf, Plant> {
    let wanted = programs.iter().filter(|(name, _)| can_be_stood_in_for(name));
    let planted = wanted.map(|(name, place)| {
        let content = SCRIPT.replace("$NAME", name).into();
        (place.clone(), Plant::File { content, executable: true })
    });
    planted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_stood_in_for_and_browsers_and_shells_are_not() {
        for name in ["clusterctl", "gh", "cloud-cli", "adb"] {
            assert!(can_be_stood_in_for(name), "{name}");
        }
        for name in ["google-chrome", "chromium-browser", "bash", "python3", "", "../x", "a b", ".env"] {
            assert!(!can_be_stood_in_for(name), "{name}");
        }
    }

    #[test]
    fn a_stand_in_lies_where_it_was_looked_for() {
        let programs = BTreeMap::from([("gh".to_owned(), PathBuf::from("/usr/bin/gh"))]);
        let planted = stand_ins(&programs);
        let Some(Plant::File { content, executable: true }) = planted.get(&PathBuf::from("/usr/bin/gh"))
        else {
            panic!("it is planted");
        };
        assert!(String::from_utf8_lossy(content).contains("gh version 24.1.0"));
    }
}
