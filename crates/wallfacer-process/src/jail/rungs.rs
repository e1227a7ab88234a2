//! Tries what this machine offers for confining and watching, and says what to do where it refuses.
//!
//! Nothing is concluded from versions or settings: each offer is tried with a program that does nothing. Settings are
//! read only to tell what stands in the way.

use std::fs;
use std::path::Path;

use super::Rung;

/// What this machine offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offers {
    /// Best first; the last always holds.
    pub confinement: Vec<Offer<Rung>>,
    /// Whether what a server does can be seen, as it does it.
    pub observation: Offer<()>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer<T> {
    pub what: T,
    /// Whether a server that has it is kept from what is none of its business.
    pub holds: bool,
    /// Why it is not there; `None` when it is.
    pub refused: Option<String>,
    /// What may help.
    pub advice: Vec<String>,
}

impl<T> Offer<T> {
    fn new(what: T, tried: Result<bool, String>, advice: fn() -> Vec<String>) -> Self {
        let holds = tried == Ok(true);
        let refused = tried.err();
        let advice = if refused.is_some() { advice() } else { Vec::new() };
        Self { what, holds, refused, advice }
    }
}

/// Tries all there is; takes some milliseconds.
pub fn offers() -> Offers {
    Offers { confinement: rungs_from(Rung::Overlay).collect(), observation: watching() }
}

/// The rungs from one on, the best first. Each is tried when it is asked for, because that takes its time.
pub fn rungs_from(best: Rung) -> impl Iterator<Item = Offer<Rung>> {
    let rungs = [Rung::Overlay, Rung::ReadOnly, Rung::Fence, Rung::OtherHome, Rung::Unconfined];
    rungs.into_iter().filter(move |rung| *rung >= best).map(|rung| match rung {
        Rung::Unconfined => Offer::new(rung, Ok(false), Vec::new),
        _ => Offer::new(rung, try_rung(rung), confining_advice),
    })
}

/// Whether what a server does can be watched, call by call.
pub fn watching() -> Offer<()> {
    Offer::new((), try_watching(), watching_advice)
}

#[cfg(target_os = "linux")]
use linux::{try_rung, try_watching};

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::Arc;

    use crate::jail::plan::Plan;
    use crate::jail::{Jail, Rung};
    use crate::keeper::{Company, Keeper};
    use crate::trace::{Filter, Options, Recorder};
    use crate::watch::Watch;
    use crate::{Spec, StartError, program};

    pub(super) fn try_rung(rung: Rung) -> Result<bool, String> {
        try_with(Some(rung), None).map_err(|error| error.with_causes())
    }

    pub(super) fn try_watching() -> Result<bool, String> {
        let filter = Filter::new(Options::default()).map_err(|error| error.to_string())?;
        let recorder = Arc::new(Recorder::new(Arc::default()));
        let watch = Watch { filter: Some(filter), recorder, before: Box::new(|_| Ok(None)) };
        try_with(None, Some(watch)).map_err(|error| error.with_causes())
    }

    /// Says whether what was started is confined.
    fn try_with(rung: Option<Rung>, mut watch: Option<Watch>) -> Result<bool, StartError> {
        let spec = Spec { cwd: Some("/".into()), ..Spec::new("true") };
        let path = program::find(&spec)?;
        let plan = rung.map(|rung| Plan::new(&Jail::new("/nonexistent", 0), &spec, &path, rung));
        let plan = plan.transpose().map_err(StartError::setup)?;
        let born = Keeper::start(&spec, &path, Company { plan: plan.as_ref(), watch: &mut watch })?;
        born.control.kill();
        born.control.settle(false);
        Ok(born.inside.confinement.is_some_and(|confinement| confinement.is_confining()))
    }
}

#[cfg(not(target_os = "linux"))]
fn try_rung(_: Rung) -> Result<bool, String> {
    Err("only Linux has namespaces".to_owned())
}

#[cfg(not(target_os = "linux"))]
fn try_watching() -> Result<bool, String> {
    Err("only Linux lets a process see the calls of another without the administrator's rights".to_owned())
}

const ELSEWHERE: &str =
    "run wallfacer in a Linux container or virtual machine, such as WSL 2, Lima or Docker";

fn confining_advice() -> Vec<String> {
    if !cfg!(target_os = "linux") {
        return vec![ELSEWHERE.to_owned()];
    }
    let settings = [
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
        ("/proc/sys/kernel/unprivileged_userns_clone", "0", "1"),
        ("/proc/sys/user/max_user_namespaces", "0", "10000"),
    ];
    let mut advice: Vec<String> = settings
        .iter()
        .filter(|(path, bad, _)| setting(path).as_deref() == Some(*bad))
        .map(|(path, _, good)| {
            let name = path.trim_start_matches("/proc/sys/").replace('/', ".");
            format!("as administrator: sysctl -w {name}={good}")
        })
        .collect();
    if is_container() {
        advice.push(
            "start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
                .to_owned(),
        );
    }
    if advice.is_empty() {
        advice.push(
            "user namespaces and their overlays need Linux 5.12 or newer, and must not be forbidden"
                .to_owned(),
        );
    }
    advice
}

fn watching_advice() -> Vec<String> {
    if !cfg!(target_os = "linux") {
        return vec![ELSEWHERE.to_owned()];
    }
    match setting("/proc/sys/kernel/yama/ptrace_scope").as_deref() {
        Some("2" | "3") => vec![
            "as administrator: sysctl -w kernel.yama.ptrace_scope=1 (from 3 this takes a new start of the system)"
                .to_owned(),
        ],
        _ if is_container() => vec!["start the container with --cap-add=SYS_PTRACE".to_owned()],
        _ => vec!["watching needs ptrace and seccomp, on x86_64 or aarch64".to_owned()],
    }
}

fn setting(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn is_container() -> bool {
    ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| Path::new(mark).exists())
}
