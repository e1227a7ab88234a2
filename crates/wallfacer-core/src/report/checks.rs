//! Says in one sentence what each check asks of a server, and which kinds of finding it leads to.

/// The name of a check, what it asks, and the kinds of its findings.
const CHECKS: &[(&str, &str, &[&str])] = &[
    ("no-crash", "The server must outlive every request.", &["crash"]),
    ("no-hang", "Every request must be answered within the time limit.", &["hang"]),
    (
        "stays-healthy",
        "A call that worked must go on working, whatever was called since.",
        &["internal_error", "race"],
    ),
    (
        "no-injection",
        "What stands in an argument must stay data, and not decide what the server does.",
        &["injection"],
    ),
    ("keeps-secrets", "A secret that the server was given must not show in what it sends.", &["secret_leak"]),
    (
        "keeps-what-is-planted",
        "What stands in a planted secret must not come back or be sent away.",
        &["secret_leak"],
    ),
    (
        "leaves-secrets-alone",
        "A tool must not open files with secrets that nobody asked it to open.",
        &["undeclared_behaviour"],
    ),
    (
        "only-reads",
        "A tool that says it only reads must leave every file as it was.",
        &["undeclared_behaviour"],
    ),
    (
        "stays-inside",
        "A tool that says it reaches nothing outside must not reach the network.",
        &["undeclared_behaviour"],
    ),
    (
        "takes-nothing-away",
        "A tool that says it destroys nothing must leave what was there.",
        &["undeclared_behaviour"],
    ),
    (
        "changes-once",
        "The same call a second time must change nothing more, where a tool says so.",
        &["undeclared_behaviour"],
    ),
    ("takes-clients", "A server that serves one client must serve a second one beside it.", &["race"]),
    ("answers-in-company", "A call must be answered beside others as it is alone.", &["race"]),
    (
        "keeps-what-is-written",
        "What was written and acknowledged must show in what is read, whatever was written at the same time.",
        &["race"],
    ),
    ("keeps-sessions-apart", "What one session wrote must not show in another.", &["state_leak"]),
    (
        "keeps-what-is-stored",
        "What was acknowledged must still be there when the server was killed and started again.",
        &["data_loss"],
    ),
    (
        "foreign-pages-are-refused",
        "A web page of another origin must not reach a server on the user's machine.",
        &["conformance"],
    ),
    (
        "sessions-of-processes-are-apart",
        "A session that another process of the server has begun must be refused or served, and never be taken for somebody else's.",
        &["state_leak", "hang"],
    ),
    (
        "bears-failing-services",
        "When a service fails that a tool asks, the call must end in time with an error, and the server must live on.",
        &["crash", "hang", "internal_error"],
    ),
    (
        "session-ids-cannot-be-guessed",
        "The ids of sessions must be too many and too random to be guessed.",
        &["conformance"],
    ),
    ("takes-a-second-instance", "A second server must start while the first one runs.", &["race"]),
    (
        "waits-for-readers",
        "A client that reads nothing for a while must be answered once it reads again.",
        &["hang"],
    ),
    (
        "reads-messages-in-pieces",
        "A message that comes in two pieces must be answered like any other.",
        &["protocol_error"],
    ),
    (
        "connections-outlive-a-refusal",
        "A request that is refused must not spoil the next one on the same connection.",
        &["protocol_error"],
    ),
    (
        "keeps-to-the-protocol",
        "What the server sends must be messages, and answers to what was asked.",
        &["protocol_error"],
    ),
    (
        "no-internal-error",
        "An input may be refused, but must not lead to an internal error or a stack trace.",
        &["internal_error"],
    ),
    (
        "keeps-its-output-schema",
        "A result must match the output schema that its tool declares.",
        &["schema_violation"],
    ),
    (
        "keeps-its-form",
        "A tool without an output schema must answer in the form that was learned.",
        &["schema_violation"],
    ),
    (
        "keeps-its-declaration",
        "What a tool declares of its answers must be what was written down before.",
        &["drift"],
    ),
    (
        "no-growth",
        "What a server holds must not go on growing with the number of calls.",
        &["resource_growth"],
    ),
    ("ends-when-told", "A server must end when its client does.", &["resource_growth"]),
    (
        "stops-when-cancelled",
        "A call that was cancelled must not go on, and must not be answered.",
        &["resource_growth", "conformance"],
    ),
    (
        "stale-sessions-are-not-found",
        "Who goes on with a session that a restart has ended must be answered with 404.",
        &["conformance"],
    ),
    (
        "bears-slow-clients",
        "A client that sends its request slowly must not keep the others waiting.",
        &["hang"],
    ),
    (
        "progress-rises-until-the-answer",
        "Progress must rise from message to message, and end with the answer.",
        &["conformance"],
    ),
    (
        "lists-are-stable",
        "Two starts of a server must list the same tools in the same order and words.",
        &["conformance"],
    ),
    ("no-blow-up", "Twice the input must not take many times the time or the memory.", &["resource_growth"]),
    ("refuses-invalid", "What the declared input schema forbids must be refused.", &["accepted_invalid"]),
    ("keeps-its-rule", "The rules of packs and of your own files must hold.", &["property_failure"]),
];

/// What a check asks, and what to read on; none where no check has this name.
pub fn check_text(name: &str) -> Option<String> {
    let (name, asks, kinds) = CHECKS.iter().find(|(check, ..)| *check == name)?;
    let further: Vec<String> = kinds.iter().map(|kind| format!("`wallfacer explain {kind}`")).collect();
    Some(format!("{name}  a check\n\n{asks}\nWhy it matters and what to change: {}\n", further.join(", ")))
}

/// The names of all checks.
pub fn check_names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::About;

    #[test]
    fn every_check_is_explained() {
        let judging: Vec<&str> = crate::judge::all().iter().map(|(_, check)| check.name()).collect();
        assert_eq!(check_names().collect::<Vec<_>>(), judging);
        assert!(CHECKS.iter().all(|(.., kinds)| kinds.iter().all(|kind| About::of(kind).is_some())));
    }

    #[test]
    fn a_check_is_explained_in_words() {
        insta::assert_snapshot!(check_text("bears-failing-services").unwrap());
        assert_eq!(check_text("crash"), None);
    }
}
