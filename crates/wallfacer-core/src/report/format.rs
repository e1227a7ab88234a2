//! The formats that the report of a run can have. A new one is a file beside this one, and a row in each list here.

use super::agent::agent;
use super::behaved::behaved;
use super::github::{self, github};
use super::gitlab::gitlab;
use super::html::{Comparison, html};
use super::human::human;
use super::junit::junit;
use super::markdown::markdown;
use super::sarif::sarif;
use super::{Document, Look, Report, written};

/// What `--format` and `--report` name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Human,
    Json,
    Sarif,
    Junit,
    Markdown,
    Github,
    Gitlab,
    Html,
    Agent,
}

impl Format {
    pub const ALL: &[Format] = &[
        Format::Human,
        Format::Json,
        Format::Sarif,
        Format::Junit,
        Format::Markdown,
        Format::Github,
        Format::Gitlab,
        Format::Html,
        Format::Agent,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Format::Human => "human",
            Format::Json => "json",
            Format::Sarif => "sarif",
            Format::Junit => "junit",
            Format::Markdown => "markdown",
            Format::Github => "github",
            Format::Gitlab => "gitlab",
            Format::Html => "html",
            Format::Agent => "agent",
        }
    }

    /// The report as text; `look` is for those formats that people read.
    pub fn write(self, report: &Report<'_>, look: Look) -> String {
        let mut text = self.write_document(&report.document(), None, look);
        if let Some(behaviour) = report.behaviour.filter(|_| report.run.server.standing.observed.calls)
            && self == Format::Human
        {
            text += &behaved(behaviour, report.show_noise, look);
        }
        text
    }

    /// The same of a run that was stored, beside earlier ones where the format can show that.
    pub fn write_document(self, document: &Document, earlier: Option<&Comparison>, look: Look) -> String {
        match self {
            Format::Human => human(document, look),
            Format::Json => written(&document.value()),
            Format::Sarif => written(&sarif(document)),
            Format::Junit => junit(document),
            Format::Markdown => markdown(document),
            Format::Github => github(document),
            Format::Gitlab => written(&gitlab(document)),
            Format::Html => html(document, earlier),
            Format::Agent => agent(document),
        }
    }

    /// Whether a program reads it as a whole, so that nothing else may stand beside it.
    pub fn is_document(self) -> bool {
        !matches!(self, Format::Human | Format::Markdown | Format::Github | Format::Agent)
    }

    /// The beginnings of lines in it that a CI system is meant to act on.
    pub fn commands(self) -> &'static [&'static str] {
        if self == Format::Github { &github::COMMANDS } else { &[] }
    }
}
