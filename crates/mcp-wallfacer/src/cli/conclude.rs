//! A finished run in, its report delivered and its exit code out: the same for every command that tests.

use wallfacer_core::report::{Report, document, human, sarif};
use wallfacer_core::session::FuzzError;
use wallfacer_core::summary::{Conclusion, Run};
use wallfacer_core::target::Severity;

use super::output::{OutputArgs, RunFormat};
use super::redaction::Redaction;
use crate::exit::{Exit, Failure};

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
        RunFormat::Json => format!("{:#}\n", document(&report)),
        RunFormat::Sarif => format!("{:#}\n", sarif(&report)),
    };
    output.deliver(&redaction.of(&text))?;
    Ok(match run.conclusion(threshold) {
        Conclusion::Broken | Conclusion::Stale => Exit::Findings,
        Conclusion::NotTested => Exit::NotTested,
        Conclusion::Clean => Exit::Clean,
    })
}

/// Why nothing could be tested.
pub fn failure(error: FuzzError) -> Failure {
    match error {
        FuzzError::Connect(error) => error.into(),
        FuzzError::Runtime(error) => Failure { exit: Exit::OurFault, message: error.to_string() },
    }
}
