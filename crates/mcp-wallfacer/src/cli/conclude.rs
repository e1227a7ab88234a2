//! Delivers the report of a finished run and chooses the exit code, in the same way for every command that tests.

use wallfacer_core::findings::Redaction;
use wallfacer_core::report::Report;
use wallfacer_core::session::FuzzError;
use wallfacer_core::summary::Conclusion;

use super::output::RunOutput;
use super::runs::Runs;
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;
use crate::terminal;

/// Hands the report over, and says what the run means.
pub fn conclude(report: &Report<'_>, output: &RunOutput, redaction: &Redaction) -> Result<Exit, Failure> {
    let (document, run) = (report.document(), report.run);
    let redaction = &redaction.with_tokens(&run.tokens);
    // The table of what a watched server did is no part of the document.
    output.deliver_all(&|format, look| redaction.of(&format.write(report, look)))?;
    if let Some(runs) = run.keep_in.as_ref().filter(|_| !output.no_record)
        && let Err(error) = Runs::new(runs).keep(&document, redaction)
    {
        terminal::note(&format!("this run is not kept for `wallfacer report`: {error}"));
    }
    Ok(exit(document.verdict.conclusion))
}

/// The exit code of a run that ended so.
pub fn exit(conclusion: Conclusion) -> Exit {
    match conclusion {
        Conclusion::Broken | Conclusion::Stale => Exit::Findings,
        Conclusion::NotTested | Conclusion::Interrupted => Exit::NotTested,
        Conclusion::Clean => Exit::Clean,
    }
}

/// Why nothing could be tested.
pub fn failure(error: FuzzError, watch: &Watch) -> Failure {
    match error {
        FuzzError::Connect(error) => error.into(),
        FuzzError::Stopped(_) => watch.broken_off(),
        FuzzError::NoSuchTool(error) => Failure::usage(&error),
        FuzzError::Runtime(error) => Failure { exit: Exit::OurFault, message: error.to_string() },
    }
}
