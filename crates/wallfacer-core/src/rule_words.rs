//! Says in plain words what it means that a rule of a built-in pack is broken: what happened, and what to change.
//!
//! The rule itself is a path and a pattern, which nobody wants to read first. Rules that users write have their own
//! description.

/// Beginnings of the names of rules; the longest that fits holds. `{tool}` stands for the tool.
const WORDS: &[(&str, &str, &str)] = &[
    (
        "annotations.harmless_has_a_harmless_name",
        "{tool} says `destructiveHint: false`, and its name says that it destroys something",
        "Correct `destructiveHint` or rename the tool.",
    ),
    (
        "annotations.hints_are_booleans",
        "an annotation of {tool} is not true or false",
        "Give every hint in `annotations` the value `true` or `false`.",
    ),
    (
        "annotations.read_only_destroys_nothing",
        "{tool} says that it only reads and that it destroys, which contradict each other",
        "Leave out `destructiveHint` where `readOnlyHint` is true, or correct `readOnlyHint`.",
    ),
    (
        "annotations.read_only_has_a_reading_name",
        "{tool} says that it only reads, and its name says that it changes something",
        "Correct `readOnlyHint` or rename the tool.",
    ),
    (
        "auth.bearer_does_not_come_back",
        "{tool} gives away the token that the server signs in with",
        "Do not expand variables in arguments, and keep the token out of answers.",
    ),
    (
        "auth.only_administrators_see_administration",
        "{tool} shows what is for administrators to a caller who is none",
        "Check the role of the caller before anything is listed.",
    ),
    (
        "auth.user_has_no_session",
        "{tool} shows the session or the password of a user",
        "Leave credentials, hashed or not, out of what is told about a user.",
    ),
    (
        "auth.whoami_believes_no_claim",
        "{tool} believes a caller who says in an argument who they are",
        "Take the identity from the connection or the token, never from an argument.",
    ),
    (
        "auth.whoami_shows_no_credential",
        "{tool} shows a credential of the caller",
        "Answer with the name of the caller, not with the token.",
    ),
    (
        "auth_flow.a_wrong_password_opens_nothing",
        "a wrong password is accepted",
        "Refuse the call when the password is wrong.",
    ),
    (
        "auth_flow.sessions_are_apart",
        "signing in as one client opens the server for another",
        "Keep who is signed in by session, not in the process.",
    ),
    (
        "auth_flow.signing_out_ends_the_session",
        "what needs a sign-in still works after signing out",
        "End the session on the server when the user signs out.",
    ),
    (
        "authz.the_role_is_the_one_asked_for",
        "{tool} acts in another role than the one that was asked for",
        "Use the role of the request, and refuse it if the caller does not have it.",
    ),
    (
        "authz.undeclared_arguments_lift_no_role",
        "an argument that {tool} does not declare changes what the caller may do",
        "Ignore or refuse arguments that the schema does not name.",
    ),
    (
        "authz.users_may_not_administrate",
        "{tool} does for an ordinary user what only administrators may do",
        "Check the role of the caller before the work is done.",
    ),
    (
        "authz.users_see_no_administration",
        "{tool} shows an ordinary user what only administrators may see",
        "Check the role of the caller before anything is listed.",
    ),
    (
        "determinism.same_answer",
        "{tool} answers the same call differently the second time",
        "Make the answer depend on nothing but the arguments.",
    ),
    (
        "determinism.same_form",
        "{tool} returns structured content for one call and none for the same call again",
        "Return `structuredContent` always or never.",
    ),
    (
        "effects.closed_world_stays_home",
        "{tool} says that it reaches nothing outside (`openWorldHint: false`), and reaches the network",
        "Set `openWorldHint: true`, or do without the network.",
    ),
    (
        "effects.harmless_deletes_nothing",
        "{tool} says that it destroys nothing (`destructiveHint: false`), and deletes something",
        "Set `destructiveHint: true`, or delete nothing.",
    ),
    (
        "effects.offline_is_offline",
        "{tool} says that it works offline, and reaches the network",
        "Correct the description, or do without the network.",
    ),
    (
        "effects.read_only_writes_nothing",
        "{tool} says that it only reads (`readOnlyHint: true`), and writes",
        "Set `readOnlyHint: false`, or write nothing.",
    ),
    (
        "effects.secrets_are_left_alone",
        "{tool} opens files with secrets that nobody asked it to open",
        "Open only the files that the call is about.",
    ),
    (
        "error.failure_is_flagged",
        "an error of {tool} is not flagged: `isError` is missing",
        "Set `isError: true` in the result of a call that failed.",
    ),
    (
        "error.shows_no_home",
        "an error of {tool} shows directories of the machine",
        "Leave paths of the machine out of error messages.",
    ),
    (
        "error.shows_no_stack",
        "an error of {tool} shows a stack trace",
        "Log the trace to standard error, and answer with one sentence that says what to do.",
    ),
    (
        "error.unknown_tool",
        "calling a tool that does not exist is not refused as it should be",
        "Answer with the JSON-RPC error -32602 and name the tool.",
    ),
    (
        "error_quality.error_has_no_stack",
        "an error of {tool} shows a stack trace",
        "Log the trace to standard error, and answer with one sentence that says what to do.",
    ),
    (
        "error_quality.error_says_something",
        "an error of {tool} says nothing",
        "Say in the error what was wrong and what is expected.",
    ),
    (
        "error_quality.failure_is_no_success",
        "{tool} reports an error as a success: `isError` is missing",
        "Set `isError: true` in the result of a call that failed.",
    ),
    (
        "error_quality.missing_argument_is_named",
        "{tool} does not say which argument is missing",
        "Name the missing argument in the error.",
    ),
    (
        "error_quality.refusal_is_no_success",
        "{tool} refuses a call without arguments and reports it as a success: `isError` is missing",
        "Set `isError: true`, or answer with the JSON-RPC error -32602.",
    ),
    (
        "idempotent.",
        "{tool} says that calling it twice is the same as once (`idempotentHint: true`), and it is not",
        "Set `idempotentHint: false`, or make the second call change nothing.",
    ),
    (
        "large.",
        "{tool} does not cope with the size of an argument",
        "Bound the size of what is accepted, and refuse what is larger with an error.",
    ),
    (
        "pagination.a_limit_of_nothing",
        "{tool} returns items although none were asked for",
        "Treat a limit of 0 as no items, or refuse it.",
    ),
    (
        "pagination.cursor_is_text",
        "the cursor of {tool} is not text",
        "Return `nextCursor` as a string, or leave it out on the last page.",
    ),
    (
        "pagination.items_are_each_there_once",
        "{tool} returns an item more than once",
        "Make pages that do not overlap.",
    ),
    (
        "pagination.limit_is_kept",
        "{tool} returns more items than were asked for",
        "Keep to the limit of the request.",
    ),
    (
        "pagination.next_page_is_another",
        "{tool} returns the same page again for its own cursor",
        "Start at the cursor that the request gives.",
    ),
    (
        "path.write_outside",
        "an argument makes {tool} write outside the directory that it works in",
        "Resolve the path, links included, and check that it is inside the allowed directory before opening it.",
    ),
    (
        "path.",
        "an argument makes {tool} read outside the directory that it works in",
        "Resolve the path, links included, and check that it is inside the allowed directory before opening it.",
    ),
    (
        "poison.answer_",
        "an answer of {tool} gives orders to the model",
        "Leave instructions to the model out of results, and mark text from elsewhere as data.",
    ),
    (
        "poison.description_is_visible",
        "the description of {tool} has characters that people cannot see and models read",
        "Remove the invisible characters from the description.",
    ),
    (
        "poison.description_",
        "the description of {tool} gives orders to the model",
        "Describe what the tool does, and nothing else.",
    ),
    (
        "prompt.secrets_stay_inside",
        "{tool} can be talked into telling a secret of the server",
        "Keep secrets out of anything that arguments are put together with.",
    ),
    (
        "prompt",
        "{tool} follows instructions that are hidden in its arguments",
        "Treat arguments as data, and never put them beside instructions of your own.",
    ),
    (
        "quality.arguments_can_be_given",
        "the schema of {tool} has an argument that no value fits",
        "Correct the bounds or the choices of the argument.",
    ),
    (
        "quality.is_described",
        "{tool} has no description that a model could use",
        "Describe in a sentence what the tool does and when to use it.",
    ),
    (
        "quality.required_arguments_exist",
        "{tool} requires an argument that its schema does not describe",
        "Add the argument to `properties`, or take it out of `required`.",
    ),
    (
        "quality.sizes_are_moderate",
        "the name or the description of {tool} is longer than clients take",
        "Shorten it.",
    ),
    (
        "rate.no_more_is_left_than_there_is",
        "{tool} says that more calls are left than there are",
        "Correct the numbers of the quota.",
    ),
    (
        "rate.quota_is_in_numbers",
        "{tool} tells its quota in something other than numbers",
        "Give limit and remaining calls as numbers.",
    ),
    (
        "rate.refusal_says_when",
        "{tool} refuses because of too many calls and does not say when to try again",
        "Say in the error after how many seconds to try again.",
    ),
    (
        "secrets.errors_show_no_environment",
        "an error of {tool} shows variables of the server's environment",
        "Leave the environment out of error messages.",
    ),
    (
        "secrets.files_are_not_included",
        "{tool} puts the content of a file into its answer because an argument names it",
        "Do not expand references to files in arguments.",
    ),
    (
        "secrets.input_is_not_passed_on",
        "{tool} sends a password that was in its arguments to somebody else",
        "Send arguments only where the tool says that it does.",
    ),
    (
        "secrets.",
        "{tool} fills in secrets of the server where an argument names them",
        "Do not expand variables or templates in arguments.",
    ),
    (
        "shell.",
        "an argument makes {tool} run a shell command",
        "Start programs with a list of arguments, without a shell.",
    ),
    (
        "spec.content_is_a_list",
        "the result of {tool} has no list of content",
        "Return `content` as a list, even if it is empty.",
    ),
    (
        "spec.content_items_are_whole",
        "an item in the content of {tool} lacks what its type requires",
        "Give every item of `content` its `type` and the fields of that type.",
    ),
    (
        "spec.declared_output_is_there",
        "{tool} declares an output schema and returns no structured content",
        "Return `structuredContent`, or leave out `outputSchema`.",
    ),
    (
        "spec.is_error_is_a_boolean",
        "`isError` in a result of {tool} is not true or false",
        "Give `isError` the value `true` or `false`.",
    ),
    (
        "spec.structured_content_is_an_object",
        "the structured content of {tool} is not an object",
        "Return an object in `structuredContent`.",
    ),
    (
        "sql.",
        "an argument of {tool} reaches the database as SQL",
        "Bind values in queries instead of putting them into the text.",
    ),
    ("stateful.", "what {tool} deleted is still there", "Make deleting take effect before it is answered."),
    (
        "unicode.",
        "{tool} changes or loses characters of its arguments",
        "Treat text as Unicode throughout, and do not end it at a NUL.",
    ),
];

fn row(rule: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    WORDS.iter().filter(|(start, ..)| rule.starts_with(start)).max_by_key(|(start, ..)| start.len())
}

/// What happened, in words, where a rule of a built-in pack is broken by this tool.
pub fn what_broke(rule: &str, tool: &str) -> Option<String> {
    row(rule).map(|(_, what, _)| what.replace("{tool}", &format!("`{tool}`")))
}

/// What to change where a rule of a built-in pack is broken.
pub fn change_for(rule: &str) -> Option<&'static str> {
    row(rule).map(|(.., change)| *change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_built_in_packs_has_words() {
        let packs = concat!(env!("CARGO_MANIFEST_DIR"), "/../wallfacer-rules/packs");
        let name = regex::Regex::new(r#"(?m)^  - name: "?([a-z_0-9]+\.[a-z_0-9]+)"#).unwrap();
        let mut seen = 0;
        for entry in std::fs::read_dir(packs).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for found in name.captures_iter(&text) {
                seen += 1;
                assert!(what_broke(&found[1], "add").is_some(), "{}", &found[1]);
            }
        }
        assert!(seen > 50, "{seen} rules were read");
    }

    #[test]
    fn the_longest_beginning_holds() {
        assert!(what_broke("path.write_outside", "save").unwrap().contains("`save` write outside"));
        assert!(what_broke("path.dots", "load").unwrap().contains("`load` read outside"));
        assert_eq!(what_broke("my own rule", "load"), None);
    }
}
