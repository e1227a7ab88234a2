use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::findings::finding::examples::{crash, full};
use crate::findings::{Kind, restore};
use crate::plan::Subject;
use crate::target::Severity;

fn corpus() -> (TempDir, Corpus) {
    let place = TempDir::new().unwrap();
    let corpus = Corpus::new(place.path().join("corpus"));
    (place, corpus)
}

/// Errors and reasons as a user sees them, with the corpus as `[PATH]`.
fn shown(corpus: &Corpus, text: impl ToString) -> String {
    text.to_string().replace(&corpus.directory().display().to_string(), "[PATH]")
}

fn put(corpus: &Corpus, path: &str, text: &str) {
    let path = corpus.directory().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

mod store {
    use super::*;

    #[test]
    fn what_is_written_is_listed_found_and_removed() {
        let (_place, corpus) = corpus();
        assert!(corpus.list().unwrap().findings.is_empty(), "a corpus that is not there is empty");
        let findings = [full(), crash("fetch", json!({ "q": "x".repeat(10 << 20) }))];
        for finding in &findings {
            let path = corpus.write(finding).unwrap();
            assert!(fs::metadata(path).unwrap().len() < 4_000);
        }
        let listing = corpus.list().unwrap();
        assert_eq!(listing.unreadable, []);
        assert_eq!(listing.findings.len(), 2);
        assert!(findings.iter().all(|finding| listing.findings.contains(finding)));
        assert_eq!(corpus.find(&findings[0].id.as_str()[..6]).unwrap(), findings[0]);
        assert!(corpus.remove(&findings[0].id).unwrap());
        assert!(!corpus.remove(&findings[0].id).unwrap());
        assert_eq!(corpus.list().unwrap().findings, findings[1..]);
    }

    #[test]
    fn a_finding_lies_in_the_folder_of_its_subject() {
        let (_place, corpus) = corpus();
        let mut finding = crash("search", json!({}));
        let name = format!("{}.json", finding.id);
        assert_eq!(corpus.write(&finding).unwrap(), corpus.directory().join("search").join(&name));
        finding.subject = Subject::Server;
        assert_eq!(corpus.write(&finding).unwrap(), corpus.directory().join("_server").join(&name));
        assert_eq!(corpus.list().unwrap().findings.len(), 1, "one id is one finding, wherever it lies");
    }

    #[test]
    fn when_it_was_first_seen_outlasts_a_new_finding() {
        let (_place, corpus) = corpus();
        let at =
            |day: &str| Finding { first_seen: day.into(), last_seen: day.into(), ..crash("a", json!({})) };
        for day in ["2026-01-02", "2026-01-09", "2026-01-05"] {
            corpus.write(&at(day)).unwrap();
        }
        let stored = &corpus.list().unwrap().findings[0];
        assert_eq!((&*stored.first_seen, &*stored.last_seen), ("2026-01-02", "2026-01-05"));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read() {
        use std::os::unix::fs::PermissionsExt;
        let (_place, corpus) = corpus();
        let path = corpus.write(&full()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        assert_eq!(mode(corpus.directory()), 0o700);
    }

    #[test]
    fn the_errors_of_the_store_say_what_to_do() {
        let (_place, corpus) = corpus();
        for id in ["aaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaa2"] {
            put(&corpus, &format!("search/{id}.json"), "{}");
        }
        let mut errors: Vec<String> = ["", "../x", "b", "aaaa", "aaaaaaaaaaaaaaa1"]
            .iter()
            .map(|prefix| shown(&corpus, corpus.find(prefix).unwrap_err()))
            .collect();
        put(&corpus, "fetch", "a file where a folder is due");
        errors.push(shown(&corpus, corpus.write(&crash("fetch", json!({}))).unwrap_err()));
        insta::assert_snapshot!(errors.join("\n"));
    }
}

mod damage {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_told_and_hides_nothing() {
        let (_place, corpus) = corpus();
        let good = full();
        let path = corpus.write(&good).unwrap();
        put(&corpus, "a/0000000000000001.json", "{ \"id\": ");
        put(&corpus, "a/0000000000000002.json", &("[".repeat(100_000) + &"]".repeat(100_000)));
        put(&corpus, "a/0000000000000003.json", "{}");
        put(&corpus, "a/0000000000000004.json", &fs::read_to_string(path).unwrap());
        put(&corpus, "a/notes.json", "{}");
        put(&corpus, "a/README.md", "not ours");
        put(&corpus, "notes.txt", "not ours");
        fs::create_dir(corpus.directory().join("a/0000000000000005.json")).unwrap();
        let large = File::create(corpus.directory().join("a/0000000000000006.json")).unwrap();
        large.set_len((64 << 20) + 1).unwrap();
        let listing = corpus.list().unwrap();
        assert_eq!(listing.findings, [good]);
        let told = listing.unreadable.iter().map(|it| format!("{}: {}", it.path.display(), it.why));
        insta::assert_snapshot!(shown(&corpus, told.collect::<Vec<_>>().join("\n")));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_corpus_leads_nowhere() {
        let (place, corpus) = corpus();
        let outside = place.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::create_dir(corpus.directory()).unwrap();
        std::os::unix::fs::symlink(&outside, corpus.directory().join("search")).unwrap();
        let error = corpus.write(&crash("search", json!({}))).unwrap_err();
        assert!(matches!(error, CorpusError::NotAFolder { .. }), "{error}");
        let finding = crash("fetch", json!({}));
        let target = outside.join("target");
        fs::write(&target, "untouched").unwrap();
        fs::create_dir(corpus.directory().join("fetch")).unwrap();
        std::os::unix::fs::symlink(&target, corpus.path(&finding)).unwrap();
        corpus.write(&finding).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "untouched");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        let listing = corpus.list().unwrap();
        assert_eq!((listing.findings.len(), &*listing.unreadable[0].why), (1, "it is a symbolic link"));
    }

    #[test]
    fn a_lock_that_was_left_behind_stops_nobody() {
        let (place, corpus) = corpus();
        File::create(place.path().join(".lock")).unwrap();
        put(&corpus, ".lock", "");
        put(&corpus, "search/.lock", "");
        corpus.write(&full()).unwrap();
        assert_eq!(corpus.list().unwrap().findings.len(), 1);
    }

    #[test]
    fn leftovers_are_no_findings_and_go_after_an_hour() {
        let (_place, corpus) = corpus();
        corpus.write(&full()).unwrap();
        put(&corpus, "search/.0123456789abcdef.1.0.tmp", "{ half");
        let listing = corpus.list().unwrap();
        assert_eq!((listing.findings.len(), listing.unreadable.len()), (1, 0));
        let now = SystemTime::now();
        assert_eq!(corpus.clean(now).unwrap(), 0, "it may belong to a run that is at work");
        assert_eq!(corpus.clean(now + Duration::from_secs(4_000)).unwrap(), 1);
        assert_eq!(corpus.list().unwrap().findings.len(), 1);
    }
}

mod company {
    use super::*;

    const WRITES: usize = 50;

    #[test]
    fn runs_that_write_at_once_never_show_half_a_finding() {
        let (_place, corpus) = corpus();
        let write = |number: usize| {
            for round in 0..WRITES {
                let mut finding = crash("search", json!({ "q": round }));
                finding.details = "x".repeat(1_000 * number);
                corpus.write(&finding).unwrap();
                let listing = corpus.list().unwrap();
                assert_eq!((listing.findings.len(), listing.unreadable), (1, vec![]));
            }
        };
        std::thread::scope(|scope| (1..5).for_each(|number| drop(scope.spawn(move || write(number)))));
        assert_eq!(
            fs::read_dir(corpus.directory().join("search")).unwrap().count(),
            1,
            "nothing is left over"
        );
    }

    const PLACE: &str = "WALLFACER_TEST_CORPUS";

    #[test]
    #[ignore = "the writer that another test kills"]
    #[allow(
        clippy::disallowed_methods,
        clippy::print_stdout,
        reason = "a process of its own, told where to write"
    )]
    fn writer() {
        let Some(place) = std::env::var_os(PLACE) else { return };
        let corpus = Corpus::new(place);
        for round in 0.. {
            let mut finding = crash(&format!("tool{}", round % 7), json!({}));
            finding.details = "x".repeat(100_000);
            corpus.write(&finding).unwrap();
            println!("reported {}", finding.id);
            std::io::stdout().flush().unwrap();
        }
    }

    #[test]
    fn a_run_that_is_killed_loses_nothing_that_it_reported_and_blocks_nobody() {
        let (_place, corpus) = corpus();
        for lines in 1..12 {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "findings::corpus::tests::company::writer", "--ignored", "--nocapture"])
                .env(PLACE, corpus.directory())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
            let reported =
                said.filter_map(|line| Some(line.split_once("reported ")?.1.to_owned())).take(lines);
            let reported: Vec<String> = reported.collect();
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(reported.len(), lines);
            let listing = corpus.list().unwrap();
            assert_eq!(listing.unreadable, []);
            assert!(reported.iter().all(|id| corpus.find(id).is_ok()));
        }
        corpus.write(&full()).unwrap();
    }
}

mod peer {
    use super::*;

    fn stored(kind: Value, call: Value) -> Value {
        json!({
            "id": "00112233445566aa", "kind": kind, "severity": "critical", "tool": "login", "message": "it died",
            "details": "text", "repro": { "seed": 17, "tool_call": call, "transport": "stdio" },
            "timestamp": "2025-05-01T00:00:00Z",
        })
    }

    fn loaded(value: &Value) -> Finding {
        let (_place, corpus) = corpus();
        put(&corpus, "login/00112233445566aa.json", &value.to_string());
        let mut listing = corpus.list().unwrap();
        assert_eq!(listing.unreadable, []);
        listing.findings.remove(0)
    }

    #[test]
    fn an_old_finding_loads_with_the_call_that_it_describes() {
        let kinds = [
            json!({ "type": "crash" }),
            json!({ "type": "hang", "ms": 5000 }),
            json!({ "type": "protocol_error" }),
            json!({ "type": "schema_violation" }),
            json!({ "type": "property_failure", "invariant": "auth.whoami" }),
        ];
        for kind in kinds {
            let finding = loaded(&stored(kind.clone(), json!({ "user": "ada" })));
            assert_eq!(json!(finding.kind), kind);
            assert_eq!((finding.severity, finding.seed), (Severity::Critical, 17));
            assert_eq!(
                (finding.tool.as_deref(), &*finding.first_seen),
                (Some("login"), "2025-05-01T00:00:00Z")
            );
            let case = finding.repro.case().unwrap();
            assert_eq!(case.arguments(), Some(&json!({ "user": "ada" })));
        }
    }

    #[test]
    fn an_open_secret_is_asked_for_by_the_name_of_its_key() {
        let mut finding = loaded(&stored(json!({ "type": "crash" }), json!({ "api-key": "<redacted>" })));
        assert_eq!(restore(&mut finding, |_| None), ["WALLFACER_REPLAY_API_KEY"]);
        assert!(restore(&mut finding, |_| Some("hunter2".into())).is_empty());
        assert_eq!(finding.repro.case().unwrap().arguments(), Some(&json!({ "api-key": "hunter2" })));
    }

    #[test]
    fn what_took_several_calls_says_why_it_cannot_be_run_again() {
        let sequence = json!({ "type": "sequence_failure", "sequence": "auth-flow", "step_index": 3, "step_call": "whoami" });
        let finding = loaded(&stored(sequence, json!({})));
        assert!(matches!(finding.kind, Kind::SequenceFailure { step_index: 3, .. }));
        assert_eq!((finding.tool.as_deref(), &finding.subject), (None, &Subject::Server));
        let leak = loaded(&stored(json!({ "type": "state_leak" }), Value::Null));
        let reasons = [finding, leak].map(|finding| finding.repro.case().unwrap_err().to_string());
        insta::assert_snapshot!(reasons.join("\n"));
    }
}
