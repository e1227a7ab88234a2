//! Writes one rule, with its parameters filled in, as a file that holds nothing else. So a rule can be kept beside what
//! it found, and be read again without the file it came from.

use crate::text::Text;
use crate::yaml::{self, Data, Entry, Key, Node};
use std::sync::Arc;

/// Fixtures are left behind: they are about the rule, not part of what it says.
pub(crate) fn written(section: &str, item: &Node, version: u32) -> Arc<str> {
    let entry = |name: &str, data: Data| Entry {
        key: Key { span: item.span, text: Text::literal(name) },
        value: Node { span: item.span, data },
    };
    let entries = vec![
        entry("version", Data::Number(version.into())),
        entry(section, Data::List(vec![without_fixtures(item)])),
    ];
    yaml::print(&Node { span: item.span, data: Data::Map(entries) }).into()
}

fn without_fixtures(node: &Node) -> Node {
    let Data::Map(entries) = &node.data else { return node.clone() };
    let kept = entries.iter().filter(|entry| !entry.key.is("test_fixtures")).map(|entry| {
        let value = if entry.key.is("apply") { without_fixtures(&entry.value) } else { entry.value.clone() };
        Entry { key: entry.key.clone(), value }
    });
    Node { span: node.span, data: Data::Map(kept.collect()) }
}
