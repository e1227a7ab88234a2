//! Reads the members of a map by name. A key that is not known is reported with the one that was probably meant.

use super::reader::{LATEST, Reader};
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
    pub(crate) fn of(node: &'n Node, keys: &Keys, reader: &mut Reader<'_>) -> Option<Self> {
        let Data::Map(entries) = &node.data else {
            let message = format!("{} must be a map, and is {}", keys.what, node.kind());
            reader.error(
                node.span,
                message,
                format!("write lines of `key: value`, beginning with `{}:`", keys.names[0].0),
            );
            return None;
        };
        for entry in entries {
            check_key(entry, keys, reader);
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

    pub(crate) fn required(&self, name: &str, reader: &mut Reader<'_>) -> Option<&'n Node> {
        let found = self.even_null(name);
        if found.is_none() {
            reader.error(
                self.span,
                format!("{} has no `{name}`", self.what),
                format!("add `{name}: …` to it"),
            );
        }
        found
    }

    pub(crate) fn text(&self, name: &str, reader: &mut Reader<'_>) -> Option<String> {
        self.get(name).and_then(|node| reader.text(node, name))
    }
}

fn check_key(entry: &Entry, keys: &Keys, reader: &mut Reader<'_>) {
    let written = entry.key.text.to_string();
    let span = entry.key.span;
    let usable = || keys.names.iter().filter(|(_, since)| *since <= reader.version).map(|(name, _)| *name);
    match keys.names.iter().find(|(name, _)| *name == written) {
        Some((_, since)) if *since <= reader.version => {}
        Some(_) => reader.requires_latest(span, &format!("`{written}`")),
        None => {
            let message = format!("unknown key `{written}` in {}", keys.what);
            match nearest(&written, usable()) {
                Some(meant) => reader.error(span, message, format!("did you mean `{meant}`?")),
                None => {
                    let known = format!("known here: {}", usable().collect::<Vec<_>>().join(", "));
                    // Files of the first versions may carry keys that were never read.
                    if reader.version < LATEST {
                        reader.warn(span, format!("{message}; it is ignored"), known);
                    } else {
                        reader.error(span, message, known);
                    }
                }
            }
        }
    }
}
