//! Answers as a server of git repositories does: whatever is cloned has the same few commits, and what is pushed is taken.

use super::Answer;
use super::asked::Asked;

/// The commits, as one pack.
pub const PACK: &[u8] = include_bytes!("repository/objects.pack");
/// The branches and tags of that pack, as git keeps them.
pub const REFS: &str = include_str!("repository/packed-refs");

const BRANCH: &str = "refs/heads/main";
/// Commits that one request may ask for; each is named in the answer.
const MAX_WANTED: usize = 64;
const END: &str = "0000";

/// The answer to a request of git; none where it is something else.
pub(super) fn answer(asked: &Asked) -> Option<Answer> {
    let service = asked.parameter(&["service"]).unwrap_or_default();
    let (content_type, body) = match (&asked.method[..], asked.path.rsplit('/').next()?) {
        ("GET", "refs") if service == "git-upload-pack" => {
            let head = refs().find(|(_, name)| *name == BRANCH).map(|(commit, _)| (commit, "HEAD"));
            let can = format!("shallow ofs-delta symref=HEAD:{BRANCH}");
            (
                "application/x-git-upload-pack-advertisement",
                offer(service, head.into_iter().chain(refs()), &can),
            )
        }
        ("GET", "refs") if service == "git-receive-pack" => {
            ("application/x-git-receive-pack-advertisement", offer(service, refs(), "delete-refs ofs-delta"))
        }
        ("POST", "git-upload-pack") => ("application/x-git-upload-pack-result", packed(&asked.body)),
        // Nothing was promised that would have to be reported.
        ("POST", "git-receive-pack") => ("application/x-git-receive-pack-result", Vec::new()),
        _ => return None,
    };
    Some(Answer { status: "200 OK", content_type, location: None, body })
}

/// Commits with the names that lead to them.
fn refs() -> impl Iterator<Item = (&'static str, &'static str)> {
    REFS.lines().filter(|line| !line.starts_with(['#', '^'])).filter_map(|line| line.split_once(' '))
}

fn offer(service: &str, refs: impl Iterator<Item = (&'static str, &'static str)>, can: &str) -> Vec<u8> {
    let mut text = format!("{}{END}", line(&format!("# service={service}\n")));
    for (index, (commit, name)) in refs.enumerate() {
        let can = if index == 0 { format!("\0{can}") } else { String::new() };
        text.push_str(&line(&format!("{commit} {name}{can}\n")));
    }
    text.push_str(END);
    text.into_bytes()
}

/// All commits, whichever are wanted. Who wants only the newest is told that these have no parents.
fn packed(body: &[u8]) -> Vec<u8> {
    let asked = String::from_utf8_lossy(body);
    let mut text = String::new();
    if asked.contains("deepen ") {
        let mut wanted: Vec<&str> = asked
            .split("want ")
            .skip(1)
            .filter_map(|rest| rest.get(..40))
            .filter(|commit| commit.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .take(MAX_WANTED)
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.iter().for_each(|commit| text.push_str(&line(&format!("shallow {commit}\n"))));
        text.push_str(END);
    }
    let done = asked.contains("done");
    if done || asked.contains("have ") {
        text.push_str(&line("NAK\n"));
    }
    let mut bytes = text.into_bytes();
    if done {
        bytes.extend_from_slice(PACK);
    }
    bytes
}

/// A line with its length in front.
fn line(text: &str) -> String {
    format!("{:04x}{text}", text.len() + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, target: &str, body: &str) -> Option<Answer> {
        let asked = Asked { body: body.into(), ..Asked::new(method, Some("code.example"), target) };
        answer(&asked)
    }

    #[test]
    fn branches_are_offered_and_their_commits_given() {
        let offered = ask("GET", "/a/b.git/info/refs?service=git-upload-pack", "").unwrap();
        let text = String::from_utf8(offered.body).unwrap();
        assert!(text.starts_with("001e# service=git-upload-pack\n0000"), "{text}");
        assert!(text.contains(" HEAD\0shallow") && text.ends_with("refs/tags/v1.0.0\n0000"), "{text}");
        let given = ask("POST", "/a/b.git/git-upload-pack", "0032want 00000009done\n").unwrap();
        assert_eq!(given.body.strip_prefix(b"0008NAK\n"), Some(PACK));
    }

    #[test]
    fn who_wants_only_the_newest_is_told_where_it_ends() {
        let commit = "a".repeat(40);
        let asked = format!("0032want {commit}\n000cdeepen 10000");
        let told = ask("POST", "/x/git-upload-pack", &asked).unwrap();
        assert_eq!(String::from_utf8(told.body).unwrap(), format!("0035shallow {commit}\n0000"));
    }

    #[test]
    fn what_is_no_request_of_git_is_answered_otherwise() {
        for (method, target) in [("GET", "/info/refs"), ("GET", "/git-upload-pack"), ("POST", "/notes")] {
            assert_eq!(ask(method, target, ""), None, "{method} {target}");
        }
    }
}
