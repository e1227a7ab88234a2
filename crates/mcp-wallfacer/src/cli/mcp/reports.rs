//! The reports of runs that are kept, as resources of this server.

use std::path::PathBuf;

use serde_json::{Value, json};
use wallfacer_core::report::{Document, Format, Look};
use wallfacer_text::page;

use super::super::runs::Runs;
use super::super::target::settings;
use super::Workspace;

const SCHEME: &str = "wallfacer://runs/";

impl Workspace {
    fn runs(&self) -> Option<PathBuf> {
        settings(self.config.as_deref()).ok().map(|settings| Runs::beside(&settings.corpus_directory))
    }

    /// The latest first: that is the one that is asked for.
    pub fn reports(&self) -> Vec<Value> {
        let names = self.runs().map(|runs| Runs::new(&runs).names()).unwrap_or_default();
        let shown = |name: &String| json!({"uri": format!("{SCHEME}{name}"), "name": name, "mimeType": "text/markdown", "description": "The report of a run"});
        names.iter().rev().map(shown).collect()
    }

    /// The text of one. Only a name that is listed is looked for on disk.
    pub fn report(&self, uri: &str) -> Option<Value> {
        let name = uri.strip_prefix(SCHEME)?;
        let directory = self.runs()?;
        let runs = Runs::new(&directory);
        let listed = runs.names().into_iter().find(|listed| listed == name)?;
        let (_, document) = runs.find(Some(&listed)).ok()?;
        let text = page(&Format::Markdown.write_document(&document, None, Look::PLAIN), &[]);
        Some(json!({"contents": [{"uri": uri, "mimeType": "text/markdown", "text": text}]}))
    }

    /// Where the report of a run is that has just been made.
    pub fn report_of(&self, document: &Document) -> Option<String> {
        let directory = self.runs()?;
        let mut kept = Runs::new(&directory).names().into_iter().rev();
        let begins = Runs::name_of(document);
        kept.find(|name| name.starts_with(&begins)).map(|name| format!("{SCHEME}{name}"))
    }
}
