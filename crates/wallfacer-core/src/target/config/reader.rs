//! Takes typed values out of a parsed TOML table, and gathers what is wrong with them as [`Problem`]s.

use super::keys::{self, Shape};
use crate::target::expand::{self, Dollar};
use crate::target::secret;
use crate::target::source::{Problem, Source};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wallfacer_rules::nearest;

const PLACEHOLDERS: &str =
    "`${NAME}` is a variable, `${NAME:-default}` gives it a default, `$$` is a plain `$`";

/// What one reading of a file is about.
pub(super) struct Reader<'a> {
    pub source: &'a Source,
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    pub problems: RefCell<Vec<Problem>>,
    pub from_environment: RefCell<BTreeSet<String>>,
}

/// One table of the file.
pub(super) struct Section<'a> {
    reader: &'a Reader<'a>,
    name: &'static str,
    table: Option<&'a DeTable<'a>>,
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct At<Value> {
    pub value: Value,
    pub span: Range<usize>,
}

impl<'a> Reader<'a> {
    pub fn report(&self, span: Range<usize>, message: impl Into<String>) {
        self.problems.borrow_mut().push(self.source.problem(span, message));
    }

    pub fn report_with_help(&self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.problems.borrow_mut().push(self.source.problem(span, message).with_help(help));
    }

    /// The table of that name; one that is absent reads like an empty one.
    pub fn section(&'a self, root: &'a DeTable<'a>, name: &'static str) -> Section<'a> {
        let table = root.get(name).and_then(|value| self.table(name, value));
        Section { reader: self, name, table }
    }

    pub fn table(&self, name: &str, value: &'a Spanned<DeValue<'a>>) -> Option<&'a DeTable<'a>> {
        value.get_ref().as_table().or_else(|| self.wrong_type(name, "a table", value))
    }

    /// Says of each key that is not known what was probably meant.
    pub fn check_names(&self, place: &str, table: &DeTable<'_>, known: &[&'static str]) {
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let help = match nearest(key.get_ref(), known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known here: {}", known.join(", ")),
            };
            self.report_with_help(key.span(), format!("unknown key `{}` {place}", key.get_ref()), help);
        }
    }

    pub fn text(&self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) => self.expanded(text, value.span()),
            _ => self.wrong_type(name, "a string", value),
        }
    }

    /// Any value that is one word, as text.
    pub fn scalar(&self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<String> {
        match value.get_ref() {
            DeValue::Integer(number) => Some(number.to_string()),
            DeValue::Float(number) => Some(number.to_string()),
            DeValue::Boolean(flag) => Some(flag.to_string()),
            DeValue::String(_) => self.text(name, value),
            _ => self.wrong_type(name, "a string, a number or a boolean", value),
        }
    }

    fn expanded(&self, text: &str, span: Range<usize>) -> Option<String> {
        let mut lookup = |placeholder: &str| {
            let (name, value) = expand::variable(placeholder, self.variable)?;
            if secret::is_secret_variable(&name, &value) {
                self.from_environment.borrow_mut().insert(value.clone());
            }
            Ok(value)
        };
        match expand::expand(text, Dollar::Escaped, &mut lookup) {
            Ok(filled) => Some(filled),
            Err(unfilled) => {
                let at = self.within(&span, &text[unfilled.at]);
                self.report_with_help(at, unfilled.message, PLACEHOLDERS);
                None
            }
        }
    }

    /// Where `part` stands in the source of a string; escapes may hide it, and then the string is the place.
    fn within(&self, span: &Range<usize>, part: &str) -> Range<usize> {
        let found = self.source.text.get(span.clone()).and_then(|written| written.find(part));
        found.map_or(span.clone(), |offset| span.start + offset..span.start + offset + part.len())
    }

    fn whole(&self, name: &str, value: &Spanned<DeValue<'_>>, least: i64, most: i64) -> Option<u64> {
        let DeValue::Integer(number) = value.get_ref() else {
            return self.wrong_type(name, "a whole number", value);
        };
        match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) if (least..=most).contains(&number) => u64::try_from(number).ok(),
            _ => {
                self.report(value.span(), format!("`{name}` must be between {least} and {most}"));
                None
            }
        }
    }

    /// The one of `known` that is written there, in upper or lower case.
    pub fn choice(
        &self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        known: &[&'static str],
    ) -> Option<&'static str> {
        let text = self.text(name, value)?;
        let found = known.iter().copied().find(|known| known.eq_ignore_ascii_case(&text));
        if found.is_none() {
            let message = format!("`{name}` must be one of {}", known.join(", "));
            match nearest(&text, known.iter().copied()) {
                Some(meant) => {
                    self.report_with_help(value.span(), message, format!("did you mean `{meant}`?"))
                }
                None => self.report(value.span(), message),
            }
        }
        found
    }

    fn wrong_type<Value>(&self, name: &str, wanted: &str, value: &Spanned<DeValue<'_>>) -> Option<Value> {
        let given = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a fraction",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.report(value.span(), format!("`{name}` must be {wanted}, and is {given}"));
        None
    }
}

impl<'a> Section<'a> {
    pub fn check_names(&self) {
        if let Some(table) = self.table {
            self.reader.check_names(
                &format!("in [{}]", self.name),
                table,
                &keys::names(self.name).collect::<Vec<_>>(),
            );
        }
    }

    /// Where the key stands, if it is there.
    pub fn span(&self, name: &str) -> Option<Range<usize>> {
        Some(self.table?.get_key_value(name)?.0.span())
    }

    pub fn text(&self, name: &'static str) -> Option<At<String>> {
        let value = self.value(name)?;
        Some(At { value: self.reader.text(name, value)?, span: value.span() })
    }

    pub fn flag(&self, name: &'static str) -> Option<bool> {
        let value = self.value(name)?;
        value.get_ref().as_bool().or_else(|| self.reader.wrong_type(name, "true or false", value))
    }

    pub fn whole(&self, name: &'static str) -> Option<u64> {
        let Shape::Whole(least, most) = self.shape(name) else { unreachable!("`{name}` is no number") };
        self.reader.whole(name, self.value(name)?, least, most)
    }

    pub fn choice(&self, name: &'static str) -> Option<&'static str> {
        let Shape::Choice(known) = self.shape(name) else { unreachable!("`{name}` is no choice") };
        self.reader.choice(name, self.value(name)?, known)
    }

    pub fn texts(&self, name: &'static str) -> Option<Vec<At<String>>> {
        let value = self.value(name)?;
        let Some(list) = value.get_ref().as_array() else {
            return self.reader.wrong_type(name, "a list of strings", value);
        };
        let text = |(index, value): (usize, &Spanned<DeValue<'_>>)| {
            Some(At { value: self.reader.text(&format!("{name}[{index}]"), value)?, span: value.span() })
        };
        Some(list.iter().enumerate().filter_map(text).collect())
    }

    /// Names and strings, in the order they are written, with the place of each name.
    pub fn text_table(&self, name: &'static str) -> Option<Vec<(At<String>, String)>> {
        self.entries(name, |label, value| self.reader.text(label, value))
    }

    pub fn whole_table(&self, name: &'static str) -> Option<BTreeMap<String, u64>> {
        let Shape::WholeTable(least, most) = self.shape(name) else { unreachable!("`{name}` is no table") };
        let entries = self.entries(name, |label, value| self.reader.whole(label, value, least, most))?;
        Some(entries.into_iter().map(|(name, number)| (name.value, number)).collect())
    }

    fn entries<Value>(
        &self,
        name: &'static str,
        read: impl Fn(&str, &Spanned<DeValue<'_>>) -> Option<Value>,
    ) -> Option<Vec<(At<String>, Value)>> {
        let table = self.reader.table(name, self.value(name)?)?;
        let mut entries: Vec<_> = table
            .iter()
            .filter_map(|(key, value)| {
                let label = format!("{name}.{}", key.get_ref());
                Some((At { value: key.get_ref().to_string(), span: key.span() }, read(&label, value)?))
            })
            .collect();
        entries.sort_by_key(|(key, _)| key.span.start);
        Some(entries)
    }

    fn value(&self, name: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table?.get(name)
    }

    fn shape(&self, name: &str) -> Shape {
        keys::key(self.name, name).shape
    }
}
