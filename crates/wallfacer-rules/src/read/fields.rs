//! Reads the members of a map by name. A key that is not known is reported with the one that was probably meant.

use super::desk::{Desk, LATEST};
use crate::nearest::nearest;
use crate::source::Span;
use crate::yaml::{Data, Entry, Node};

/// The keys that may stand in one kind of map, each with the version that brought it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys {
    /// As in "unknown key in …".
    pub(crate) what: &'static str,
    pub(crate) names: &'static [(&'static str, u32)],
}

#[derive(Debug)]
pub(crate) struct Fields<'n> {
    pub(crate) span: Span,
    what: &'static str,
    entries: &'n [Entry],
}

impl<'n> Fields<'n> {
    pub(crate) fn of(node: &'n Node, keys: &Keys, desk: &mut Desk<'_>) -> Option<Self> {
        let Data::Map(entries) = &node.data else {
            let message = format!("{} must be a map, and is {}", keys.what, node.kind());
            desk.error(
                node.span,
                message,
                format!("write lines of `key: value`, beginning with `{}:`", keys.names[0].0),
            );
            return None;
        };
        for entry in entries {
            check_key(entry, keys, desk);
        }
        Some(Self { span: node.span, what: keys.what, entries })
    }

    /// Null is as good as absent here.
    pub(crate) fn get(&self, name: &str) -> Option<&'n Node> {
        self.even_null(name).filter(|node| node.data != Data::Null)
    }

    pub(crate) fn even_null(&self, name: &str) -> Option<&'n Node> {
        self.entries.iter().find(|entry| entry.key.is(name)).map(|entry| &entry.value)
    }

    /// The place of the key itself.
    pub(crate) fn key_span(&self, name: &str) -> Span {
        self.entries.iter().find(|entry| entry.key.is(name)).map_or(self.span, |entry| entry.key.span)
    }

    pub(crate) fn required(&self, name: &str, desk: &mut Desk<'_>) -> Option<&'n Node> {
        let found = self.even_null(name);
        if found.is_none() {
            desk.error(self.span, format!("{} has no `{name}`", self.what), format!("add `{name}: …` to it"));
        }
        found
    }

    pub(crate) fn text(&self, name: &str, desk: &mut Desk<'_>) -> Option<String> {
        self.get(name).and_then(|node| desk.text(node, name))
    }
}

fn check_key(entry: &Entry, keys: &Keys, desk: &mut Desk<'_>) {
    let written = entry.key.text.to_string();
    let span = entry.key.span;
    let usable = || keys.names.iter().filter(|(_, since)| *since <= desk.version).map(|(name, _)| *name);
    match keys.names.iter().find(|(name, _)| *name == written) {
        Some((_, since)) if *since <= desk.version => {}
        Some(_) => desk.requires_latest(span, &format!("`{written}`")),
        None => {
            let message = format!("unknown key `{written}` in {}", keys.what);
            match nearest(&written, usable()) {
                Some(meant) => desk.error(span, message, format!("did you mean `{meant}`?")),
                None => {
                    let known = format!("known here: {}", usable().collect::<Vec<_>>().join(", "));
                    // Files of the first versions may carry keys that were never read.
                    if desk.version < LATEST {
                        desk.warn(span, format!("{message}; it is ignored"), known);
                    } else {
                        desk.error(span, message, known);
                    }
                }
            }
        }
    }
}
