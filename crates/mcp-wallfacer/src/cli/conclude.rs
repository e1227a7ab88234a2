//! Delivers the report of a finished run and chooses the exit code, in the same way for every command that tests.

use wallfacer_core::findings::Redaction;
use wallfacer_core::report::Report;
use wallfacer_core::session::FuzzError;
use wallfacer_core::summary::Conclusion;

use super::output::{OutputArgs, RunFormat};
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;

/// Hands the report over, and says what the run means.
pub fn conclude(
    report: &Report<'_>,
    output: &OutputArgs<RunFormat>,
    redaction: &Redaction,
) -> Result<Exit, Failure> {
    let text = output.format.0.write(report, output.look());
    output.deliver(&redaction.of(&text))?;
    Ok(match report.run.conclusion(report.threshold) {
        Conclusion::Broken | Conclusion::Stale => Exit::Findings,
        Conclusion::NotTested | Conclusion::Interrupted => Exit::NotTested,
        Conclusion::Clean => Exit::Clean,
    })
}

/// Why nothing could be tested.
pub fn failure(error: FuzzError, watch: &Watch) -> Failure {
    match error {
        FuzzError::Connect(error) => error.into(),
        FuzzError::Stopped(_) => watch.broken_off(),
        FuzzError::Runtime(error) => Failure { exit: Exit::OurFault, message: error.to_string() },
    }
}
