//! Prepares a stored finding to be tried once more: puts its secrets back, and asks before it starts a command that was
//! not recorded here.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use wallfacer_core::findings::{Finding, Redaction, restore, stored_target, typed_target};
use wallfacer_core::target::{Destructive, Inherit, Shown, secret_values};
use wallfacer_core::wire::Connector;

use super::target::{Chosen, TargetArgs, settings, working_directory};
use super::{key, redaction, store};
use crate::environment;
use crate::exit::Failure;

/// A longer command cannot be looked over, so it is not offered.
const MOST_SHOWN: usize = 4_096;

/// Ready to be tried.
pub struct Rerun {
    /// With its secrets; never shown.
    pub finding: Finding,
    pub connector: Connector,
    /// The server that it was held against.
    pub other: Option<Connector>,
    pub destructive: Destructive,
    /// For all that is printed and stored.
    pub redaction: Redaction,
}

#[derive(Debug, clap::Args)]
pub struct TrustArgs {
    /// Start the stored command even if it was not recorded by you on this machine
    #[arg(long)]
    trust: bool,
    /// In the middle of a run nobody is asked.
    #[arg(skip)]
    never_ask: bool,
}

impl TrustArgs {
    /// Nothing is started that was not recorded here or named anew.
    pub fn untrusting() -> TrustArgs {
        TrustArgs { trust: false, never_ask: true }
    }
}

/// All that is needed, or why the finding cannot be tried.
pub fn prepare(
    finding: &Finding,
    target: &TargetArgs,
    trust: &TrustArgs,
    config: Option<&Path>,
) -> Result<Result<Rerun, String>, Failure> {
    let chosen = match choose(finding, target, trust, config)? {
        Ok(chosen) => chosen,
        Err(why) => return Ok(Err(why)),
    };
    let other = match other(finding, target, trust, config)? {
        Ok(other) => other,
        Err(why) => return Ok(Err(why)),
    };
    let redaction = redaction::of_target(chosen.connector.target());
    let mut finding = finding.clone();
    let lookup = |name: &str| environment::variable(name).or_else(|| redaction.secrets().by_variable(name));
    let unset = unset(&finding, &chosen);
    if !unset.is_empty() {
        let names = unset.join(" and ");
        return Ok(Err(format!(
            "it shows the secret of a variable that is not set; set {names} to a secret of its kind"
        )));
    }
    let missing = restore(&mut finding, lookup);
    if !missing.is_empty() {
        return Ok(Err(format!("a secret was taken out of its payload; set {}", missing.join(" and "))));
    }
    Ok(Ok(Rerun {
        finding,
        redaction,
        destructive: chosen.settings.destructive,
        connector: chosen.connector,
        other,
    }))
}

/// Variables that a finding shows with, and that the server would not have.
fn unset(finding: &Finding, chosen: &Chosen) -> Vec<String> {
    let Some(command) = chosen.connector.target().reach.command() else { return Vec::new() };
    let has = |name: &str| {
        let given = &command.environment;
        let inherits = match &given.inherit {
            Inherit::All => true,
            Inherit::Only(names) => names.iter().any(|passed| passed == name),
        };
        let set = environment::variable(name).filter(|_| inherits);
        given.set.get(name).cloned().or(set).is_some_and(|value| !secret_values(name, &value).is_empty())
    };
    finding.variables().filter(|name| !has(name)).map(str::to_owned).collect()
}

/// The server that a finding was held against, as it is stored.
fn other(
    finding: &Finding,
    target: &TargetArgs,
    trust: &TrustArgs,
    config: Option<&Path>,
) -> Result<Result<Option<Connector>, String>, Failure> {
    let Some(stored) = &finding.other else { return Ok(Ok(None)) };
    let typed = match typed_target(stored, environment::variable) {
        Ok(typed) => typed,
        Err(missing) => return Ok(Err(format!("of the server that it was held against: {missing}"))),
    };
    if !is_trusted(finding, stored, trust) {
        return Ok(Err(foreign(stored)));
    }
    let chosen = target.choose_stored(&typed, config)?;
    Ok(Ok(Some(chosen.connector)))
}

/// The server that is named anew, else the one of the configuration where it is the same, else the stored one.
fn choose(
    finding: &Finding,
    target: &TargetArgs,
    trust: &TrustArgs,
    config: Option<&Path>,
) -> Result<Result<Chosen, String>, Failure> {
    if target.names_a_server() {
        return target.choose(config).map(Ok);
    }
    // A file that is broken is told of when its settings are read.
    if let Ok(chosen) = target.choose(config)
        && (config.is_some() || finding.target.as_ref().is_none_or(|stored| is_the_same(&chosen, stored)))
    {
        return Ok(Ok(chosen));
    }
    let Some(stored) = &finding.target else {
        settings(config)?;
        return Ok(Err("it does not say which server it is about; name the server (`-- COMMAND`, `--url`, \
                       `--server`)"
            .to_owned()));
    };
    let typed = match typed_target(stored, environment::variable) {
        Ok(typed) => typed,
        Err(missing) => return Ok(Err(missing.to_string())),
    };
    if !is_trusted(finding, stored, trust) {
        return Ok(Err(foreign(stored)));
    }
    target.choose_stored(&typed, config).map(Ok)
}

fn is_the_same(chosen: &Chosen, stored: &Shown) -> bool {
    let target = chosen.connector.target();
    let redaction = redaction::of_target(target);
    working_directory().is_ok_and(|here| stored_target(target, &redaction, &here) == *stored)
}

fn is_trusted(finding: &Finding, stored: &Shown, trust: &TrustArgs) -> bool {
    trust.trust
        || key::read().is_some_and(|key| key.knows(finding))
        || !trust.never_ask && is_confirmed(stored)
}

/// Asks, where somebody is there to answer.
fn is_confirmed(stored: &Shown) -> bool {
    let whole = whole(stored);
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() || whole.len() > MOST_SHOWN {
        return false;
    }
    let question = format!("This finding was not recorded by you on this machine. Use {whole}? [y/N] ");
    let asked = write!(io::stderr(), "{question}").and_then(|()| io::stderr().flush());
    let mut answer = String::new();
    asked.is_ok() && io::stdin().lock().read_line(&mut answer).is_ok() && answer.trim() == "y"
}

fn foreign(stored: &Shown) -> String {
    let whole = whole(stored);
    let which =
        if whole.len() > MOST_SHOWN { "a command too long to be looked over".to_owned() } else { whole };
    format!(
        "it was not recorded by you on this machine, and would use {which}; look at that, then add --trust, or name \
         the server yourself (`-- COMMAND`, `--url`, `--server`)"
    )
}

/// The whole target, with nothing in it that steers a terminal.
fn whole(stored: &Shown) -> String {
    let words: Vec<String> = stored.command.iter().map(|word| store::quoted(word)).collect();
    let roots: Vec<String> = stored.roots.iter().map(|root| store::quoted(root)).collect();
    let kept: Vec<String> = stored.keep.iter().map(|path| store::quoted(path)).collect();
    let parts = [
        stored.url.clone(),
        (!words.is_empty()).then(|| format!("`{}`", words.join(" "))),
        stored.cwd.as_ref().map(|cwd| format!("in {}", store::quoted(cwd))),
        (!roots.is_empty()).then(|| format!("with the roots {}", roots.join(", "))),
    ];
    let mut text = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    if !kept.is_empty() {
        text += &format!(", keeping {}", kept.join(", "));
    }
    wallfacer_text::shown(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_whole_and_steers_no_terminal() {
        let stored = Shown {
            command: ["rm", "-rf", "a b", "\u{1b}[2K\u{202e}x"].map(str::to_owned).to_vec(),
            cwd: Some("/tmp".to_owned()),
            env: vec![],
            env_only: None,
            env_pass: vec![],
            protocol: None,
            roots: vec!["/data".to_owned()],
            keep: vec!["/home/ada/.config".to_owned()],
            url: None,
            headers: vec![],
        };
        assert_eq!(
            whole(&stored),
            "`rm -rf 'a b' '\\x1b[2K\\u{202e}x'` in /tmp with the roots /data, keeping /home/ada/.config"
        );
    }
}
