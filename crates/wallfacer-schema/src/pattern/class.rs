//! A set of characters as sorted ranges of code points, and the named sets of ECMA-262.

use regex_syntax::hir::{Class as HirClass, HirKind};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    ranges: Vec<(char, char)>,
}

impl Class {
    pub(super) fn of_ranges(ranges: impl IntoIterator<Item = (char, char)>) -> Class {
        let mut sorted: Vec<(char, char)> = ranges.into_iter().collect();
        sorted.sort_unstable();
        let mut merged: Vec<(char, char)> = Vec::with_capacity(sorted.len());
        for (low, high) in sorted {
            match merged.last_mut() {
                Some(last) if low as u32 <= last.1 as u32 + 1 => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Class { ranges: merged }
    }

    pub(super) fn digits() -> Class {
        Class::of_ranges([('0', '9')])
    }

    pub(super) fn word() -> Class {
        Class::of_ranges([('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')])
    }

    pub(super) fn space() -> Class {
        Class::of_ranges([
            ('\t', '\r'),
            (' ', ' '),
            ('\u{a0}', '\u{a0}'),
            ('\u{1680}', '\u{1680}'),
            ('\u{2000}', '\u{200a}'),
            ('\u{2028}', '\u{2029}'),
            ('\u{202f}', '\u{202f}'),
            ('\u{205f}', '\u{205f}'),
            ('\u{3000}', '\u{3000}'),
            ('\u{feff}', '\u{feff}'),
        ])
    }

    /// What a dot matches: all but the line terminators.
    pub(super) fn dot() -> Class {
        Class::of_ranges([('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')]).negated()
    }

    pub(super) fn any() -> Class {
        Class { ranges: vec![('\0', char::MAX)] }
    }

    /// `\p{name}` with the names of Unicode.
    pub(super) fn property(name: &str) -> Option<Class> {
        let hir = regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?;
        match hir.kind() {
            HirKind::Class(HirClass::Unicode(class)) => {
                Some(Class::of_ranges(class.iter().map(|range| (range.start(), range.end()))))
            }
            _ => None,
        }
    }

    pub(super) fn negated(&self) -> Class {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = Some('\0');
        for &(low, high) in &self.ranges {
            if let (Some(start), Some(end)) = (next, before(low))
                && start <= end
            {
                ranges.push((start, end));
            }
            next = after(high);
        }
        ranges.extend(next.map(|start| (start, char::MAX)));
        Class { ranges }
    }

    pub(super) fn ranges(&self) -> &[(char, char)] {
        &self.ranges
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(super) fn size(&self) -> u64 {
        self.ranges.iter().map(|&range| width(range)).sum()
    }

    /// The character at a position, counted over all ranges.
    pub(super) fn nth(&self, mut position: u64) -> Option<char> {
        for &(low, high) in &self.ranges {
            if position < width((low, high)) {
                // Counting steps over the surrogates, which are no characters.
                let code = low as u32 + position as u32;
                let code = if (low as u32) < 0xD800 && code >= 0xD800 { code + 0x800 } else { code };
                return char::from_u32(code);
            }
            position -= width((low, high));
        }
        None
    }

    /// The part of this class inside another.
    pub(super) fn within(&self, low: char, high: char) -> Class {
        let cut = self.ranges.iter().map(|&(from, to)| (from.max(low), to.min(high)));
        Class { ranges: cut.filter(|(from, to)| from <= to).collect() }
    }
}

fn width((low, high): (char, char)) -> u64 {
    let codes = u64::from(high as u32 - low as u32) + 1;
    if (low as u32) < 0xD800 && high as u32 > 0xDFFF { codes - 0x800 } else { codes }
}

fn before(character: char) -> Option<char> {
    match character {
        '\0' => None,
        '\u{E000}' => Some('\u{D7FF}'),
        other => char::from_u32(other as u32 - 1),
    }
}

fn after(character: char) -> Option<char> {
    match character {
        char::MAX => None,
        '\u{D7FF}' => Some('\u{E000}'),
        other => char::from_u32(other as u32 + 1),
    }
}
