//! The flag that names another place for the corpus, for every command that writes to it or reads from it.

use std::path::{Path, PathBuf};

use wallfacer_core::findings::Corpus;
use wallfacer_core::target::Settings;

use super::target::{Chosen, settings};
use crate::exit::Failure;

#[derive(Debug, Clone, clap::Args)]
pub struct CorpusArgs {
    /// Where findings are kept [default: .wallfacer/corpus, or what the configuration says]
    #[arg(long = "corpus", value_name = "DIR", help_heading = "Output")]
    pub directory: Option<PathBuf>,
}

impl CorpusArgs {
    /// What was chosen, with this place for its findings.
    pub fn placed(&self, mut chosen: Chosen) -> Chosen {
        chosen.settings.corpus_directory = self.directory.clone().unwrap_or(chosen.settings.corpus_directory);
        chosen
    }

    /// The corpus that is meant.
    pub fn corpus(&self, config: Option<&Path>) -> Result<Corpus, Failure> {
        Ok(self.of(&settings(config)?))
    }

    /// The place that the user names may be a link; the one in a repository is not followed out of it.
    pub fn of(&self, settings: &Settings) -> Corpus {
        match &self.directory {
            Some(directory) => Corpus::new(directory),
            None => Corpus::new(&settings.corpus_directory).within(&settings.repository),
        }
    }
}
