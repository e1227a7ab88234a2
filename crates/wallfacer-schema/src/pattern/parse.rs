//! Parses ECMA-262 pattern text into an [`Ast`]. Where the two modes of the standard differ, the reading that gives a
//! meaning wins: a lone brace is itself (as without the `u` flag), `\p{…}` is a property (as with it).

use super::{ast::Ast, class::Class};

/// Nesting of groups; deeper ones are written to exhaust a parser.
const MAX_DEPTH: usize = 100;
/// Longest pattern read, in characters.
const MAX_LENGTH: usize = 20_000;
/// Highest count in braces that is still repeated one by one.
const MAX_REPEAT: u32 = 100_000;

pub(super) fn parse(text: &str) -> Result<Ast, String> {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() > MAX_LENGTH {
        return Err(format!("longer than {MAX_LENGTH} characters"));
    }
    let names = group_names(&characters);
    let mut parser = Parser { characters, position: 0, captures: 0, names, depth: 0 };
    let ast = parser.alternation()?;
    match parser.peek() {
        None => Ok(ast),
        Some(extra) => Err(format!("unexpected `{extra}` at {}", parser.position)),
    }
}

/// Names of the capturing groups in order; needed up front, for a name can be referred to before it is defined.
fn group_names(characters: &[char]) -> Vec<Option<String>> {
    let mut names = Vec::new();
    let (mut index, mut in_class) = (0, false);
    while let Some(&character) = characters.get(index) {
        match character {
            '\\' => index += 1,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => match (characters.get(index + 1), characters.get(index + 2)) {
                (Some('?'), Some('<')) if !matches!(characters.get(index + 3), Some('=' | '!')) => {
                    let name = characters[index + 3..].iter().take_while(|&&c| c != '>').collect();
                    names.push(Some(name));
                }
                (Some('?'), _) => {}
                _ => names.push(None),
            },
            _ => {}
        }
        index += 1;
    }
    names
}

struct Parser {
    characters: Vec<char>,
    position: usize,
    captures: usize,
    names: Vec<Option<String>>,
    depth: usize,
}

/// One member of a class: a character can open a range, a set cannot.
enum Member {
    Character(char),
    Set(Class),
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.position).copied()
    }

    fn eat(&mut self, expected: &str) -> bool {
        let ahead = self.characters[self.position..].iter().copied();
        let found =
            expected.chars().count() <= ahead.len() && ahead.zip(expected.chars()).all(|(a, b)| a == b);
        if found {
            self.position += expected.chars().count();
        }
        found
    }

    fn next(&mut self) -> Result<char, String> {
        let character = self.peek().ok_or("it ends too early")?;
        self.position += 1;
        Ok(character)
    }

    fn alternation(&mut self) -> Result<Ast, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("groups nest deeper than {MAX_DEPTH}"));
        }
        let mut branches = vec![self.sequence()?];
        while self.eat("|") {
            branches.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(if branches.len() == 1 { branches.remove(0) } else { Ast::Alternate(branches) })
    }

    fn sequence(&mut self) -> Result<Ast, String> {
        let mut parts = Vec::new();
        while let Some(character) = self.peek() {
            if matches!(character, '|' | ')') {
                break;
            }
            let atom = self.atom()?;
            parts.push(self.repetition(atom)?);
        }
        Ok(match parts.len() {
            0 => Ast::Empty,
            1 => parts.remove(0),
            _ => Ast::Concat(parts),
        })
    }

    fn repetition(&mut self, atom: Ast) -> Result<Ast, String> {
        let Some((min, max)) = self.quantifier()? else { return Ok(atom) };
        if matches!(atom, Ast::Start | Ast::End | Ast::WordBoundary { .. }) {
            return Err("nothing to repeat".to_owned());
        }
        if max.is_some_and(|max| max < min) {
            return Err(format!("{{{min},…}} counts down"));
        }
        if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT) {
            return Err(format!("repeats more than {MAX_REPEAT} times"));
        }
        let greedy = !self.eat("?");
        if self.quantifier()?.is_some() {
            return Err("two quantifiers in a row".to_owned());
        }
        Ok(Ast::Repeat { inner: Box::new(atom), min, max, greedy })
    }

    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>)>, String> {
        match self.peek() {
            Some('*') => self.position += 1,
            Some('+') => {
                self.position += 1;
                return Ok(Some((1, None)));
            }
            Some('?') => {
                self.position += 1;
                return Ok(Some((0, Some(1))));
            }
            Some('{') => return Ok(self.counted()),
            _ => return Ok(None),
        }
        Ok(Some((0, None)))
    }

    /// `{3}`, `{3,}` or `{3,5}`; any other brace is a literal and nothing is consumed.
    fn counted(&mut self) -> Option<(u32, Option<u32>)> {
        let start = self.position;
        self.position += 1;
        let counts = self.count().and_then(|min| {
            let max = if self.eat(",") { self.count() } else { Some(min) };
            self.eat("}").then_some((min, max))
        });
        if counts.is_none() {
            self.position = start;
        }
        counts
    }

    fn count(&mut self) -> Option<u32> {
        let mut count: Option<u32> = None;
        while let Some(digit) = self.peek().and_then(|character| character.to_digit(10)) {
            count = Some(count.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            self.position += 1;
        }
        count
    }

    fn atom(&mut self) -> Result<Ast, String> {
        match self.next()? {
            '^' => Ok(Ast::Start),
            '$' => Ok(Ast::End),
            '.' => Ok(Ast::Class(Class::dot())),
            '(' => self.group(),
            '[' => self.class(),
            '\\' => self.escape(),
            character @ ('*' | '+' | '?') => Err(format!("nothing before `{character}`")),
            character => Ok(Ast::Literal(character)),
        }
    }

    fn group(&mut self) -> Result<Ast, String> {
        let look = [("?=", true, false), ("?!", true, true), ("?<=", false, false), ("?<!", false, true)];
        for (opening, ahead, negated) in look {
            if self.eat(opening) {
                let inner = Box::new(self.closed()?);
                return Ok(Ast::Look { inner, ahead, negated });
            }
        }
        if self.eat("?:") {
            return self.closed();
        }
        if self.eat("?<") {
            while self.next()? != '>' {}
        } else if self.peek() == Some('?') {
            return Err("a group of unknown kind".to_owned());
        }
        self.captures += 1;
        let number = self.captures;
        Ok(Ast::Capture { inner: Box::new(self.closed()?), number })
    }

    fn closed(&mut self) -> Result<Ast, String> {
        let inner = self.alternation()?;
        if self.eat(")") { Ok(inner) } else { Err("a group is not closed".to_owned()) }
    }

    fn escape(&mut self) -> Result<Ast, String> {
        match self.peek() {
            Some('b') => self.position += 1,
            Some('B') => {
                self.position += 1;
                return Ok(Ast::WordBoundary { negated: true });
            }
            Some('k') if self.names.iter().any(Option::is_some) => {
                self.position += 1;
                return self.named_reference();
            }
            Some('1'..='9') => return self.numbered_reference(),
            _ => {
                return Ok(match self.escaped(false)? {
                    Member::Character(character) => Ast::Literal(character),
                    Member::Set(class) => Ast::Class(class),
                });
            }
        }
        Ok(Ast::WordBoundary { negated: false })
    }

    fn named_reference(&mut self) -> Result<Ast, String> {
        if !self.eat("<") {
            return Err("`\\k` without a name".to_owned());
        }
        let mut name = String::new();
        loop {
            match self.next()? {
                '>' => break,
                character => name.push(character),
            }
        }
        let number = self.names.iter().position(|known| known.as_deref() == Some(&name));
        number.map(|index| Ast::BackReference(index + 1)).ok_or(format!("no group is named `{name}`"))
    }

    fn numbered_reference(&mut self) -> Result<Ast, String> {
        let number = self.count().unwrap_or(0) as usize;
        if number > self.names.len() {
            return Err(format!("there is no group {number}"));
        }
        Ok(Ast::BackReference(number))
    }

    /// What follows a backslash, for an atom or (`in_class`) for a member of a class.
    fn escaped(&mut self, in_class: bool) -> Result<Member, String> {
        let character = self.next()?;
        Ok(match character {
            'd' => Member::Set(Class::digits()),
            'D' => Member::Set(Class::digits().negated()),
            'w' => Member::Set(Class::word()),
            'W' => Member::Set(Class::word().negated()),
            's' => Member::Set(Class::space()),
            'S' => Member::Set(Class::space().negated()),
            'p' => Member::Set(self.property()?),
            'P' => Member::Set(self.property()?.negated()),
            'b' if in_class => Member::Character('\u{8}'),
            't' => Member::Character('\t'),
            'n' => Member::Character('\n'),
            'v' => Member::Character('\u{b}'),
            'f' => Member::Character('\u{c}'),
            'r' => Member::Character('\r'),
            '0' => Member::Character('\0'),
            'c' => Member::Character(self.control()?),
            'x' => Member::Character(self.hexadecimal(2)?),
            'u' => Member::Character(self.code_point()?),
            letter if letter.is_ascii_alphabetic() => return Err(format!("`\\{letter}` has no meaning")),
            other => Member::Character(other),
        })
    }

    fn control(&mut self) -> Result<char, String> {
        let letter = self.next()?;
        if !letter.is_ascii_alphabetic() {
            return Err("`\\c` without a letter".to_owned());
        }
        Ok(char::from(letter as u8 % 32))
    }

    fn digits(&mut self, count: usize) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..count {
            let digit = self.next()?.to_digit(16).ok_or("a hexadecimal digit is missing")?;
            code = code * 16 + digit;
        }
        Ok(code)
    }

    fn hexadecimal(&mut self, count: usize) -> Result<char, String> {
        char::from_u32(self.digits(count)?).ok_or("no such character".to_owned())
    }

    /// `\u{1F432}`, `\u0041`, or a pair of surrogates.
    fn code_point(&mut self) -> Result<char, String> {
        if self.eat("{") {
            let mut code: u32 = 0;
            loop {
                match self.next()? {
                    '}' => break,
                    digit => {
                        let digit = digit.to_digit(16).ok_or("a hexadecimal digit is missing")?;
                        code = code.saturating_mul(16).saturating_add(digit);
                    }
                }
            }
            return char::from_u32(code).ok_or("no such character".to_owned());
        }
        let first = self.digits(4)?;
        if (0xD800..0xDC00).contains(&first) && self.eat("\\u") {
            let second = self.digits(4)?;
            let code = 0x10000 + ((first - 0xD800) << 10) + second.wrapping_sub(0xDC00);
            return char::from_u32(code).ok_or("no such character".to_owned());
        }
        char::from_u32(first).ok_or("half of a surrogate pair".to_owned())
    }

    fn property(&mut self) -> Result<Class, String> {
        if !self.eat("{") {
            return Err("`\\p` without a name".to_owned());
        }
        let mut name = String::new();
        loop {
            match self.next()? {
                '}' => break,
                character => name.push(character),
            }
        }
        Class::property(&name).ok_or(format!("unknown property `{name}`"))
    }

    fn class(&mut self) -> Result<Ast, String> {
        let negated = self.eat("^");
        let mut ranges = Vec::new();
        while !self.eat("]") {
            let low = self.member()?;
            let dash = self.peek() == Some('-') && self.characters.get(self.position + 1) != Some(&']');
            match low {
                Member::Character(low) if dash => {
                    self.position += 1;
                    match self.member()? {
                        Member::Character(high) if low <= high => ranges.push((low, high)),
                        Member::Character(high) => {
                            return Err(format!("the range {low}-{high} runs backwards"));
                        }
                        Member::Set(class) => {
                            ranges.extend([(low, low), ('-', '-')]);
                            ranges.extend_from_slice(class.ranges());
                        }
                    }
                }
                Member::Character(single) => ranges.push((single, single)),
                Member::Set(class) => ranges.extend_from_slice(class.ranges()),
            }
        }
        let class = Class::of_ranges(ranges);
        Ok(Ast::Class(match (negated, class.is_empty()) {
            (true, true) => Class::any(),
            (true, false) => class.negated(),
            (false, _) => class,
        }))
    }

    fn member(&mut self) -> Result<Member, String> {
        match self.next()? {
            '\\' => self.escaped(true),
            character => Ok(Member::Character(character)),
        }
    }
}
