//! Asks a [`Connection`](crate::wire::Connection) for everything that the server claims to have, and gives the
//! [`Catalogue`].

mod discover;
mod entry;
mod prompt;
mod resource;
mod tool;

pub use discover::{discover, discover_until};
pub use entry::{Broken, Entry};
pub use prompt::{Prompt, PromptArgument};
pub use resource::{Resource, Template};
pub use tool::{Annotations, Argument, Tool};

/// Everything that a server lists.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    pub tools: Listing<Tool>,
    pub resources: Listing<Resource>,
    pub templates: Listing<Template>,
    pub prompts: Listing<Prompt>,
}

/// One list, as far as it could be read.
#[derive(Debug, Clone)]
pub struct Listing<T> {
    pub entries: Vec<T>,
    /// Entries that cannot be used; one of them does not lose the others.
    pub broken: Vec<Broken>,
    pub pages: usize,
    pub end: End,
}

/// Why a list ends where it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Complete,
    /// The server does not say that it has such a list, and was not asked or did not know.
    NotClaimed,
    /// The server gave a cursor that it had given before.
    RepeatedCursor {
        cursor: String,
    },
    /// More pages or entries than anyone would list, or pages that take too long. The rest was not taken in.
    TooMany {
        /// Entries on the pages that were read.
        listed: usize,
        /// Whether there are further pages.
        more: bool,
    },
    /// A page did not come, or was none.
    Failed {
        why: String,
    },
}

impl<T> Listing<T> {
    /// What of a list was not taken in, where it was cut.
    pub fn cut(&self, noun: &str) -> Option<String> {
        let End::TooMany { listed, more } = self.end else { return None };
        let first = self.entries.len() + self.broken.len();
        Some(match more {
            true => format!("only the first {first} {noun} are tested: the list does not seem to end"),
            false => format!("only the first {first} of {listed} {noun} are tested"),
        })
    }
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Listing { entries: Vec::new(), broken: Vec::new(), pages: 0, end: End::NotClaimed }
    }
}
