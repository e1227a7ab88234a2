//! Loads inputs that got a new kind of answer in earlier runs, and stores those of this run, where flags ask for it.

use std::path::{Path, PathBuf};

use wallfacer_core::findings::{InputStore, Redaction};
use wallfacer_core::plan::Input;
use wallfacer_core::session::Feedback;
use wallfacer_core::target::Settings;

use super::target::Chosen;
use crate::exit::Failure;
use crate::terminal;

#[derive(Debug, clap::Args)]
pub struct FeedbackArgs {
    /// Try inputs that got a new kind of answer again with changes, and keep them for later runs
    #[arg(long, help_heading = "Effort")]
    corpus_feedback: bool,
    /// Where such inputs are kept [default: .wallfacer/inputs]
    #[arg(long, value_name = "DIR", requires = "corpus_feedback", help_heading = "Effort")]
    corpus_dir: Option<PathBuf>,
    /// How many of the random cases are made of such inputs, from 0 to 1
    #[arg(long, value_name = "R", default_value_t = 0.9, value_parser = ratio, requires = "corpus_feedback", help_heading = "Effort")]
    mutate_ratio: f64,
}

impl FeedbackArgs {
    /// What earlier runs kept, where it is asked for. What cannot be used is told and left out.
    pub fn feedback(&self, chosen: &Chosen) -> Result<Option<Feedback>, Failure> {
        if !self.corpus_feedback {
            return Ok(None);
        }
        let known = self.store(&chosen.settings).read().map_err(|error| Failure::usage(&error))?;
        for unreadable in &known.unreadable {
            terminal::note(&format!("{} is left out: {}", unreadable.path.display(), unreadable.why));
        }
        Ok(Some(Feedback { ratio: self.mutate_ratio, known: known.inputs }))
    }

    /// Keeps what brought news, where that is asked for. That it cannot be kept takes nothing from the run.
    pub fn keep_or_say<'a>(
        &self,
        news: impl Iterator<Item = &'a Input>,
        settings: &Settings,
        redaction: &Redaction,
    ) {
        if let Err(failure) = self.keep(news, settings, redaction) {
            terminal::note(&format!("inputs with a new kind of answer are not kept: {}", failure.message));
        }
    }

    fn keep<'a>(
        &self,
        news: impl Iterator<Item = &'a Input>,
        settings: &Settings,
        redaction: &Redaction,
    ) -> Result<(), Failure> {
        if !self.corpus_feedback {
            return Ok(());
        }
        let store = self.store(settings);
        for input in news {
            store.write(input, redaction).map_err(|error| Failure::usage(&error))?;
        }
        Ok(())
    }

    fn store(&self, settings: &Settings) -> InputStore {
        let usual: &Path = &settings.inputs_directory;
        InputStore::new(self.corpus_dir.as_deref().unwrap_or(usual)).within(&settings.repository)
    }
}

fn ratio(text: &str) -> Result<f64, String> {
    let ratio = text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
    ratio.ok_or_else(|| format!("`{text}` is no part of a whole; write a number from 0 to 1, such as 0.5"))
}
