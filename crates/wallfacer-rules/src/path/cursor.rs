//! Walks over the text of a path, one piece of syntax after the other.

#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    pub(super) fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(self.wanted(&format!("`{token}`"))) }
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(super) fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|letter| !fits(letter)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    pub(super) fn skip_blanks(&mut self) {
        self.take_while(|letter| matches!(letter, ' ' | '\t' | '\n' | '\r'));
    }

    /// `expected … at "rest of the text"`.
    pub(super) fn wanted(&self, what: &str) -> String {
        let rest: String = self.rest().chars().take(20).collect();
        if rest.is_empty() {
            format!("{what} is missing at its end")
        } else {
            format!("{what} is missing before `{rest}`")
        }
    }

    /// A name as it may stand after a dot.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_' || !letter.is_ascii();
        if !self.peek().is_some_and(is_first) {
            return None;
        }
        Some(self.take_while(|letter| is_first(letter) || letter.is_ascii_digit()))
    }

    /// A string in single or double quotes.
    pub(super) fn string(&mut self) -> Result<String, String> {
        let quote = self.next().filter(|quote| matches!(quote, '\'' | '"')).ok_or("a quote is missing")?;
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err(format!("the closing {quote} is missing")),
                Some(end) if end == quote => return Ok(text),
                Some('\\') => text.push(self.escape(quote)?),
                Some(letter) if letter < ' ' => {
                    return Err("a control character must be written as \\u…".into());
                }
                Some(letter) => text.push(letter),
            }
        }
    }

    fn escape(&mut self, quote: char) -> Result<char, String> {
        match self.next() {
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some(same @ ('/' | '\\')) => Ok(same),
            Some(same) if same == quote => Ok(same),
            Some('u') => self.unicode(),
            _ => Err("an unknown escape follows the backslash".into()),
        }
    }

    fn unicode(&mut self) -> Result<char, String> {
        let first = self.hexadecimal()?;
        let code = match first {
            0xd800..=0xdbff => {
                if !self.take("\\u") {
                    return Err("half of a \\u pair is missing".into());
                }
                let second = self.hexadecimal()?;
                if !(0xdc00..=0xdfff).contains(&second) {
                    return Err("half of a \\u pair is missing".into());
                }
                0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            code => code,
        };
        char::from_u32(code).ok_or_else(|| "\\u must be followed by the code of a character".into())
    }

    fn hexadecimal(&mut self) -> Result<u32, String> {
        let digits =
            self.rest().get(..4).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let digits = digits.ok_or("\\u must be followed by four hexadecimal digits")?;
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|error| error.to_string())
    }
}
