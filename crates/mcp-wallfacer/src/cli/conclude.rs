//! Delivers the report of a finished run and chooses the exit code, in the same way for every command that tests.

use wallfacer_core::findings::Redaction;
use wallfacer_core::report::{Report, document, human, sarif, written};
use wallfacer_core::session::FuzzError;
use wallfacer_core::summary::{Conclusion, Run};
use wallfacer_core::target::Severity;

use super::output::{OutputArgs, RunFormat};
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;

/// Hands the report over, and says what the run means.
pub fn conclude(
    run: &Run,
    threshold: Severity,
    source: Option<String>,
    output: &OutputArgs<RunFormat>,
    redaction: &Redaction,
) -> Result<Exit, Failure> {
    let report = Report { run, threshold, source };
    let text = match output.format {
        RunFormat::Human => human(&report, output.look()),
        RunFormat::Json => written(&document(&report)),
        RunFormat::Sarif => written(&sarif(&report)),
    };
    output.deliver(&redaction.of(&text))?;
    Ok(match run.conclusion(threshold) {
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
