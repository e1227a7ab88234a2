//! Merges the string rules of all schemas of a goal into one set.

use super::{flat::Flat, item::Item, item::Part};
use crate::{
    field::samples,
    format::Format,
    node::{Node, StringRules},
    pattern::Pattern,
};
use std::sync::Arc;
use wallfacer_text::lexicon::FieldKind;

#[derive(Debug, Default)]
pub(crate) struct StringShape {
    pub min: usize,
    pub max: Option<usize>,
    pub patterns: Vec<Arc<Pattern>>,
    pub formats: Vec<Format>,
    /// Realistic strings for the kind of field that satisfy the rules.
    pub words: Vec<&'static str>,
}

impl StringShape {
    pub(super) fn merge(flat: &Flat, nodes: &[Node]) -> StringShape {
        let mut shape = StringShape::default();
        for item in flat.iter() {
            match item {
                Item::Leaf(id) => {
                    if let Some(rules) = &id.of(nodes).string {
                        shape.add(rules);
                    }
                }
                Item::Break(id, part) => {
                    let rules = id.of(nodes).string.as_deref();
                    match (part, rules) {
                        (Part::MinLength, Some(rules)) => {
                            shape.shorten(rules.min_length.map(|length| length.saturating_sub(1)))
                        }
                        (Part::MaxLength, Some(rules)) => {
                            shape.lengthen(rules.max_length.map(|length| length.saturating_add(1)))
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        shape
    }

    pub(super) fn add_words(&mut self, kind: Option<FieldKind>) {
        let words = kind.map_or(&[][..], samples::strings);
        self.words = words.iter().copied().filter(|word| self.fits(word)).collect();
    }

    fn add(&mut self, rules: &StringRules) {
        self.lengthen(rules.min_length);
        self.shorten(rules.max_length);
        self.patterns.extend(rules.pattern.clone());
        for format in rules.formats() {
            if !self.formats.contains(&format) {
                self.formats.push(format);
            }
        }
    }

    fn lengthen(&mut self, least: Option<usize>) {
        self.min = self.min.max(least.unwrap_or(0));
    }

    fn shorten(&mut self, most: Option<usize>) {
        self.max = [self.max, most].into_iter().flatten().min();
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.patterns.is_empty() && self.formats.is_empty()
    }

    pub(crate) fn fits(&self, string: &str) -> bool {
        let length = string.chars().count();
        length >= self.min
            && self.max.is_none_or(|max| length <= max)
            && self.formats.iter().all(|format| !format.asserted || format.fits(string))
            && self.patterns.iter().all(|pattern| pattern.matches(string) == Some(true))
    }
}
