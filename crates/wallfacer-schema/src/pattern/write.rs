//! Writes a string that matches an [`Ast`].

use super::{ast::Ast, class::Class};
use crate::choices::Choices;

/// Repetitions beyond the minimum when nobody asks for more.
const USUAL_EXTRA: usize = 6;

pub(super) fn write(ast: &Ast, choices: &mut Choices, length: usize) -> Option<String> {
    let spare = length.saturating_sub(ast.shortest());
    let limit = length.max(ast.shortest()).saturating_mul(2).saturating_add(64);
    let mut writer = Writer { text: String::new(), captured: Vec::new(), spare, choices, limit };
    writer.put(ast)?;
    Some(writer.text)
}

struct Writer<'c> {
    text: String,
    captured: Vec<(usize, String)>,
    /// Characters still to be spent above the shortest match.
    spare: usize,
    choices: &'c mut Choices,
    /// Bytes at which writing stops: nested repetitions of empty things could go on for ever.
    limit: usize,
}

impl Writer<'_> {
    /// Nothing when the expression cannot be followed, as in an empty class.
    fn put(&mut self, ast: &Ast) -> Option<()> {
        match ast {
            Ast::Literal(character) => self.text.push(*character),
            Ast::Class(class) => {
                let character = pick(class, self.choices)?;
                self.text.push(character);
            }
            Ast::Concat(parts) => {
                for part in parts {
                    self.put(part)?;
                }
            }
            Ast::Alternate(branches) => {
                let index = self.choices.index(branches.len());
                self.put(&branches[index])?;
            }
            Ast::Repeat { inner, min, max, .. } => self.put_repeat(inner, *min as usize, *max)?,
            Ast::Capture { inner, number } => {
                let start = self.text.len();
                self.put(inner)?;
                let captured = self.text[start..].to_owned();
                self.captured.push((*number, captured));
            }
            Ast::BackReference(number) => {
                let known = self.captured.iter().rev().find(|(captured, _)| captured == number);
                if let Some((_, captured)) = known.cloned() {
                    self.text.push_str(&captured);
                }
            }
            Ast::Empty | Ast::Start | Ast::End | Ast::WordBoundary { .. } | Ast::Look { .. } => {}
        }
        Some(())
    }

    fn put_repeat(&mut self, inner: &Ast, min: usize, max: Option<u32>) -> Option<()> {
        let each = inner.shortest().max(1);
        let room = max.map_or(usize::MAX, |max| (max as usize).saturating_sub(min));
        let affordable = room.min(self.spare / each);
        // Either all that the length allows, or a few.
        let extra = if affordable > USUAL_EXTRA { affordable } else { self.choices.index(affordable + 1) };
        self.spare -= extra * each;
        for _ in 0..min.saturating_add(extra) {
            if self.text.len() > self.limit.saturating_mul(4) {
                return None;
            }
            self.put(inner)?;
        }
        Some(())
    }
}

/// Mostly what people type; now and then anything that the class allows.
fn pick(class: &Class, choices: &mut Choices) -> Option<char> {
    const RARE: usize = 16;
    let rare = choices.index(RARE) == RARE - 1;
    let usual = [('a', 'z'), ('0', '9'), ('A', 'Z'), ('!', '~'), (' ', ' ')];
    let typed = usual.iter().map(|&(low, high)| class.within(low, high)).find(|part| !part.is_empty());
    let from = match typed {
        // Password-like demands are met by mixing all that is printable.
        Some(_) if rare => class.within(' ', '~'),
        Some(part) => {
            let second = class.within('0', 'Z');
            if choices.index(4) == 3 && !second.is_empty() { second } else { part }
        }
        None => class.clone(),
    };
    from.nth(choices.below(from.size()))
}
