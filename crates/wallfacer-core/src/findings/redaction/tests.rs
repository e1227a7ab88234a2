use super::*;
use crate::findings::finding::examples::crash;
use crate::findings::{Evidence, restore};
use crate::plan::{Case, Intent, RawFrame, Step};
use serde_json::json;

const SECRET: &str = "hunter2-hunter2";

fn redaction() -> Redaction {
    let mut secrets = Secrets::default();
    secrets.add("x-api-key", SECRET);
    Redaction::new(secrets)
}

fn known(variable: &str) -> Option<String> {
    (variable == "WALLFACER_REPLAY_X_API_KEY").then(|| SECRET.to_owned())
}

fn with_case(case: &Case) -> Finding {
    Finding { repro: Repro::new(case, case), ..crash("search", json!({})) }
}

fn raw(bytes: &[u8]) -> Finding {
    let mut case = Case::tool("search", json!({}), Intent::Stored, 1);
    case.steps = vec![Step::Raw(RawFrame::new(bytes.to_vec(), None))];
    with_case(&case)
}

fn text(finding: &Finding) -> String {
    serde_json::to_string(finding).unwrap()
}

#[test]
fn a_real_secret_is_gone_from_every_part_of_a_finding() {
    let mut finding =
        crash("search", json!({ "q": [SECRET, { SECRET: 1 }], "url": format!("a {SECRET} b") }));
    finding.message = format!("it said {SECRET}");
    finding.details = format!("{{\"x\": \"{SECRET}\"}}");
    finding.evidence.push(Evidence { label: "stderr".into(), text: format!("key {SECRET}!") });
    finding.subject = Subject::Resource(format!("db://{SECRET}/x"));
    finding.tools.push(SECRET.to_owned());
    finding.server.name = Some(SECRET.to_owned());
    finding.protocol = Some(SECRET.to_owned());
    let (tool, way) = (Some(format!("tool {SECRET}").to_uppercase()), format!("in {SECRET}"));
    finding.sightings.push(Sighting { tool, way, ids: Vec::new() });
    let whole = finding.clone();
    redaction().apply(&mut finding);
    assert!(!text(&finding).to_lowercase().contains("hunter2"), "{}", text(&finding));
    assert_eq!(finding.message, "it said <redacted:X_API_KEY>");
    assert_eq!(restore(&mut finding, known), Vec::<String>::new());
    assert_eq!(finding.repro, whole.repro);
    assert!(!finding.message.contains("hunter2"), "a replay puts it back into the payload alone");
}

#[test]
fn a_value_that_we_made_stays_under_whatever_name_it_stands() {
    let arguments = json!({
        "token": "'; DROP TABLE x; --",
        "password": "",
        "api_key": "x".repeat(5_000),
        "auth": { "bearer": "Bearer AAAAAAAA1" },
        "secret": ["ghp_0123456789abcdefghij"],
    });
    let mut finding = crash("login", arguments);
    finding.details = "it failed on token='; DROP TABLE x; --' and ghp_0123456789abcdefghij".to_owned();
    let whole = finding.clone();
    redaction().apply(&mut finding);
    assert_eq!(finding, whole);
}

#[test]
fn a_value_from_elsewhere_is_a_secret_under_the_name_of_one() {
    let learned = ["swordfish", "sesame", "Bearer abc123def", "plain"];
    let arguments = json!({
        "password": "swordfish", "nested": { "password": "sesame" }, "head": "Bearer abc123def", "q": "plain",
    });
    let mut finding = crash("login", arguments);
    finding.details = "login with swordfish failed: password=swordfish, password=open".to_owned();
    let whole = finding.clone();
    finding.learned = learned.map(|value| (value.to_owned(), None)).into();
    redaction().apply(&mut finding);
    let Repro::Replayable { case, .. } = &finding.repro else { panic!("replayable") };
    assert_eq!(
        case["steps"][0]["call"]["params"]["arguments"],
        json!({
            "password": "<redacted:PASSWORD>", "nested": { "password": "<redacted:PASSWORD_2>" },
            "head": "Bearer <redacted:BEARER>", "q": "plain",
        })
    );
    let values = [
        ("WALLFACER_REPLAY_PASSWORD", "swordfish"),
        ("WALLFACER_REPLAY_PASSWORD_2", "sesame"),
        ("WALLFACER_REPLAY_BEARER", "abc123def"),
    ];
    let lookup =
        |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    assert_eq!(restore(&mut finding, lookup), Vec::<String>::new());
    assert_eq!(finding.repro, whole.repro);
    assert!(!finding.details.contains("swordfish"), "{}", finding.details);
}

#[test]
fn a_short_value_of_a_rule_is_gone_where_it_stands_under_its_name() {
    let mut finding = crash("login", json!({ "pin": "4711", "q": "4711", "token": "abc" }));
    redaction().with_foreign(["4711".to_owned()]).apply(&mut finding);
    let Repro::Replayable { case, .. } = &finding.repro else { panic!("replayable") };
    let arguments = &case["steps"][0]["call"]["params"]["arguments"];
    assert_eq!(arguments, &json!({ "pin": "<redacted:PIN>", "q": "4711", "token": "abc" }));
}

#[test]
fn a_token_that_a_sequence_was_given_is_gone_and_not_asked_for() {
    let mut finding = crash(
        "login",
        json!({ "token": "f00dcafe", "marker": "wfm0123456789abc", "secret": "wfm0123456789abc" }),
    );
    let Repro::Replayable { case, .. } = &mut finding.repro else { panic!("replayable") };
    case["claim"] = json!({ "rule": "r", "written": "version: 4\nsequences:\n  - name: r\n" });
    finding.details = "f00dcafe is still valid".to_owned();
    redaction().apply(&mut finding);
    let Repro::Replayable { case, .. } = &finding.repro else { panic!("replayable") };
    let arguments = &case["steps"][0]["call"]["params"]["arguments"];
    assert_eq!(
        arguments,
        &json!({ "token": "<redacted:TOKEN>", "marker": "wfm0123456789abc", "secret": "wfm0123456789abc" })
    );
    assert_eq!(finding.details, "<redacted:TOKEN> is still valid");
    assert_eq!(restore(&mut finding, |_| None), Vec::<String>::new());
}

#[test]
fn a_secret_in_another_form_is_gone_from_names_too() {
    let hex: String = SECRET.bytes().map(|byte| format!("{byte:02X}")).collect();
    let basic = STANDARD.encode(format!("ada:{SECRET}"));
    let mut finding = crash(&format!("tool-{hex}"), json!({}));
    finding.message = format!("login with Basic {basic} failed");
    finding.server.name = Some(SECRET.to_uppercase());
    finding.replay = Some(format!("wallfacer replay 1 -- {SECRET}"));
    finding.kind = Kind::PropertyFailure { invariant: format!("described.tool-{hex}") };
    redaction().apply(&mut finding);
    let shown = text(&finding);
    for form in [&hex, &basic[8..16], &SECRET.to_uppercase()[..], SECRET] {
        assert!(!shown.contains(form), "{form}: {shown}");
    }
    assert!(finding.repro.case().is_err(), "the name of the tool cannot be put back");
}

#[test]
fn what_a_server_says_is_searched_for_what_looks_like_a_secret() {
    let shown = redaction().text("Authorization: Bearer abc123def, password=letmein, again password=letmein");
    let wanted = "Authorization: Bearer <redacted:BEARER>, password=<redacted:PASSWORD>, again password=<redacted:PASSWORD>";
    assert_eq!(shown, wanted);
}

#[test]
fn what_we_planted_is_proof_and_stays() {
    let canary = "ghp_canary0123456789abcd";
    let redaction = redaction().with_own([canary.to_owned()]);
    assert_eq!(redaction.text(&format!("it sent {canary}")), format!("it sent {canary}"));
}

#[test]
fn a_secret_is_found_in_other_forms_too() {
    let mut secrets = Secrets::default();
    secrets.add("key", "a\"b c/d");
    let redaction = Redaction::new(secrets);
    for form in [r#"{"x":"a\"b c/d"}"#, "?x=a%22b%20c%2Fd", "YSJiIGMvZA"] {
        let shown = redaction.text(form);
        assert!(shown.contains("<redacted:KEY>"), "{shown}");
    }
}

#[test]
fn a_payload_that_hides_a_secret_is_given_up_rather_than_stored() {
    let encoded = STANDARD.encode(SECRET);
    let mut bytes = SECRET.as_bytes().to_vec();
    bytes.push(0xff);
    for mut finding in [crash("search", json!({ "q": encoded })), raw(&bytes)] {
        redaction().apply(&mut finding);
        let reason = finding.repro.case().unwrap_err().to_string();
        assert_eq!(reason, "its payload holds a secret in a form that cannot be left open");
        assert!(!text(&finding).contains(&encoded));
    }
    let mut secrets = Secrets::default();
    secrets.add("pin", "12345678");
    let mut finding = crash("search", json!({ "pin": 12_345_678 }));
    Redaction::new(secrets).apply(&mut finding);
    assert!(finding.repro.case().is_err());
}

#[test]
fn a_raw_frame_comes_back_with_its_secret() {
    let frame = format!("{{\"id\":1,\"key\":\"{SECRET}\"");
    let mut finding = raw(frame.as_bytes());
    let whole = finding.clone();
    redaction().apply(&mut finding);
    assert!(!text(&finding).contains("hunter2"));
    restore(&mut finding, known);
    assert_eq!(finding, whole);
}

#[test]
fn what_is_missing_for_a_replay_is_told_by_its_variable() {
    let mut finding = crash("search", json!({ "q": SECRET, "r": SECRET }));
    redaction().apply(&mut finding);
    assert_eq!(restore(&mut finding, |_| None), ["WALLFACER_REPLAY_X_API_KEY"]);
}

#[test]
fn taking_secrets_out_twice_is_like_once() {
    let mut once = crash("search", json!({ "q": SECRET }));
    once.details = format!("token={SECRET} password=letmein Bearer abc123def");
    redaction().apply(&mut once);
    let mut twice = once.clone();
    redaction().apply(&mut twice);
    assert_eq!(once, twice);
}

#[test]
fn a_secret_that_is_a_word_of_ours_does_not_break_a_finding() {
    let mut secrets = Secrets::default();
    for word in ["critical", "crash", "tools/call", "arguments", "search", "replayable", "redacted", "MODE_2"]
    {
        secrets.add("mode", word);
    }
    let mut finding = crash("search", json!({ "q": "x" }));
    let whole = finding.clone();
    Redaction::new(secrets.clone()).apply(&mut finding);
    let mut read: Finding = serde_json::from_str(&text(&finding)).unwrap();
    assert_eq!(restore(&mut read, |variable| secrets.by_variable(variable)), Vec::<String>::new());
    assert_eq!(read.repro.case().unwrap(), whole.repro.case().unwrap());
    assert_eq!(read.id, whole.id);
}
