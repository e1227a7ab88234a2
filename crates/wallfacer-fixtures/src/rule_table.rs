//! The sixth table: small servers that break rules of packs, each with a twin that keeps them.
//!
//! They are for rules that judge more than one answer: what a call does, what was planted, or several calls. What a
//! single answer shows is played by `as-written`.

/// A server, the pack that is tried on it, and the rules of that pack that it breaks.
#[derive(Debug, Clone, Copy)]
pub struct RuleServer {
    pub name: &'static str,
    /// The table it is in: `rule`, or `behaviour` where a server of that table will do.
    pub table: &'static str,
    pub pack: &'static str,
    /// Without the name of the tool, where they are about every tool.
    pub breaks: &'static [&'static str],
    pub parameters: &'static [(&'static str, &'static str)],
}

impl RuleServer {
    /// The arguments with which [`server`](crate::server) plays it; `--fixed` and `--root DIRECTORY` may follow.
    pub fn arguments(&self) -> [&'static str; 2] {
        [self.table, self.name]
    }
}

pub fn rule_servers() -> &'static [RuleServer] {
    SERVERS
}

const ARCHIVE: &[(&str, &str)] = &[("shell_tool", "check_archive"), ("shell_field", "name")];

static SERVERS: &[RuleServer] = &[
    row("reads-relative", "path-traversal", &["path.dots", "path.unopened"]),
    row("reads-absolute", "path-traversal", &["path.absolute"]),
    row("decodes-late", "path-traversal", &["path.encoded"]),
    row("follows-links", "path-traversal", &["path.link"]),
    row("compares-beginnings", "path-traversal", &["path.sibling"]),
    row("opens-first", "path-traversal", &["path.unopened"]),
    row("asks-for-share", "path-traversal", &["path.network_share"]),
    row("writes-anywhere", "path-traversal", &["path.write_outside"]),
    RuleServer { parameters: ARCHIVE, ..row("runs-unseen", "injection-shell", &["shell.unseen"]) },
    row("fills-in-variables", "secrets-leakage", &["secrets.variables_are_not_filled_in"]),
    row("fills-in-variables", "auth", &["auth.bearer_does_not_come_back"]),
    row("fills-in-templates", "secrets-leakage", &["secrets.templates_are_not_filled_in"]),
    row("prints-environment", "secrets-leakage", &["secrets.errors_show_no_environment"]),
    row("includes-files", "secrets-leakage", &["secrets.files_are_not_included"]),
    row("passes-text-on", "secrets-leakage", &["secrets.input_is_not_passed_on"]),
    row("tells-variables", "prompt-injection", &["prompt.secrets_stay_inside"]),
    row("writes-one-more", "idempotency", &["idempotent.second_call_leaves_nothing_new"]),
    row("counts-ids-up", "idempotency", &["idempotent.second_call_makes_no_second_thing"]),
    row("breaks-when-there", "idempotency", &["idempotent.second_call_does_not_break"]),
    row("adds-a-count", "determinism", &["determinism.same_answer"]),
    row("changes-form", "determinism", &["determinism.same_answer", "determinism.same_form"]),
    row("refuses-without-time", "rate-limit", &["rate.refusal_says_when"]),
    row("fails-on-long-text", "large-payload", &["large.long_text"]),
    row("fails-on-many-words", "large-payload", &["large.many_words"]),
    row("fails-on-empty-text", "large-payload", &["large.empty_text"]),
    row("fails-on-empty-list", "large-payload", &["large.empty_list"]),
    row("fails-on-long-list", "large-payload", &["large.long_list"]),
    // A refusal, if under the wrong code: that is no rule of size.
    row("refuses-under-another-code", "large-payload", &[]),
    behaviour("read-only-writes", &["effects.read_only_writes_nothing"]),
    behaviour("closed-world-connects", &["effects.closed_world_stays_home"]),
    behaviour("denies-network-connects", &["effects.offline_is_offline"]),
    behaviour("additive-removes", &["effects.harmless_deletes_nothing"]),
    behaviour("leaky-notes", &["effects.secrets_are_left_alone"]),
];

const fn row(name: &'static str, pack: &'static str, breaks: &'static [&'static str]) -> RuleServer {
    RuleServer { name, table: "rule", pack, breaks, parameters: &[] }
}

const fn behaviour(name: &'static str, breaks: &'static [&'static str]) -> RuleServer {
    RuleServer { name, table: "behaviour", pack: "effects", breaks, parameters: &[] }
}
