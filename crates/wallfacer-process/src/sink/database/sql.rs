//! Reads SQL as far as it decides what is answered: words, values, and where one statement ends.

/// Pieces of a text that are read; what is longer is refused.
const MAX_TOKENS: usize = 20_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A keyword or a name.
    Word(String),
    /// A name in quotes.
    Name(String),
    Text(String),
    Number(String),
    /// A value that comes apart from the statement, counted from zero.
    Parameter(usize),
    Sign(char),
}

impl Token {
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self, Token::Word(is) if is.eq_ignore_ascii_case(word))
    }

    pub(super) fn is_sign(&self, sign: char) -> bool {
        *self == Token::Sign(sign)
    }

    /// The letters of it.
    pub(super) fn text(&self) -> &str {
        match self {
            Token::Word(text) | Token::Name(text) | Token::Text(text) | Token::Number(text) => text,
            Token::Parameter(_) | Token::Sign(_) => "",
        }
    }

    /// What it is called, where it is a name.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Token::Word(name) | Token::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// How names are quoted, and whether a backslash escapes within texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Postgres,
    Mysql,
}

/// The statements of a text, without empty ones; none where there is too much of it, or a quote is never closed.
pub(super) fn statements(text: &str, dialect: Dialect) -> Option<Vec<Vec<Token>>> {
    let mut all = vec![Vec::new()];
    for token in tokens(text, dialect)? {
        match token {
            Token::Sign(';') => all.push(Vec::new()),
            token => all.last_mut()?.push(token),
        }
    }
    all.retain(|statement| !statement.is_empty());
    Some(all)
}

fn tokens(text: &str, dialect: Dialect) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut marks = 0;
    while let Some(first) = rest.chars().next() {
        if tokens.len() > MAX_TOKENS {
            return None;
        }
        if let Some(after) = comment(rest, dialect) {
            rest = after;
            continue;
        }
        let (token, after) = match first {
            _ if first.is_whitespace() => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            '\'' => quoted(rest, dialect).map(|(text, after)| (Token::Text(text), after))?,
            '"' if dialect == Dialect::Mysql => {
                quoted(rest, dialect).map(|(text, after)| (Token::Text(text), after))?
            }
            '"' | '`' => quoted(rest, dialect).map(|(name, after)| (Token::Name(name), after))?,
            '$' if dialect == Dialect::Postgres => dollar(rest)?,
            '?' if dialect == Dialect::Mysql => {
                marks += 1;
                (Token::Parameter(marks - 1), &rest[1..])
            }
            _ if first.is_ascii_digit() => {
                let (number, after) = span(rest, |letter| letter.is_ascii_digit() || letter == '.');
                (Token::Number(number.to_owned()), after)
            }
            _ if first.is_alphabetic() || first == '_' || first == '@' => {
                let (word, after) =
                    span(rest, |letter| letter.is_alphanumeric() || letter == '_' || letter == '@');
                (Token::Word(word.to_owned()), after)
            }
            sign => (Token::Sign(sign), &rest[sign.len_utf8()..]),
        };
        tokens.push(token);
        rest = after;
    }
    Some(tokens)
}

/// What follows a comment that begins here.
fn comment(text: &str, dialect: Dialect) -> Option<&str> {
    let is_line = text.starts_with("--") || dialect == Dialect::Mysql && text.starts_with('#');
    if is_line {
        return Some(text.find('\n').map_or("", |end| &text[end..]));
    }
    let inner = text.strip_prefix("/*")?;
    Some(inner.find("*/").map_or("", |end| &inner[end + 2..]))
}

fn span(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|letter| !belongs(letter)).unwrap_or(text.len()))
}

/// What stands between quotes, where two of them stand for one.
fn quoted(text: &str, dialect: Dialect) -> Option<(String, &str)> {
    let quote = text.chars().next()?;
    let mut inner = String::new();
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if dialect == Dialect::Mysql => inner.extend(letters.next().map(|(_, letter)| letter)),
            _ if letter == quote => match letters.next_if(|(_, next)| *next == quote) {
                Some(_) => inner.push(quote),
                None => return Some((inner, &text[at + quote.len_utf8()..])),
            },
            letter => inner.push(letter),
        }
    }
    None
}

/// A parameter, or a text between two marks of dollars.
fn dollar(text: &str) -> Option<(Token, &str)> {
    let (digits, after) = span(&text[1..], |letter| letter.is_ascii_digit());
    if let Ok(number) = digits.parse::<usize>() {
        return Some((Token::Parameter(number.saturating_sub(1)), after));
    }
    let (tag, after) = span(&text[1..], |letter| letter.is_alphanumeric() || letter == '_');
    let Some(inner) = after.strip_prefix('$') else { return Some((Token::Sign('$'), &text[1..])) };
    let mark = format!("${tag}$");
    let end = inner.find(&mark)?;
    Some((Token::Text(inner[..end].to_owned()), &inner[end + mark.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_at_semicolons_that_stand_in_no_quotes_and_no_comment() {
        let all = statements("SELECT ';' /* ; */ ; -- ;\n COMMIT;", Dialect::Postgres).unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0][1], Token::Text(";".to_owned()));
        assert!(all[1][0].is("commit"));
    }

    #[test]
    fn quotes_parameters_and_names_are_told_apart() {
        let all = statements("a \"B c\" 'it''s' $2 $x$y;z$x$ 1.5", Dialect::Postgres).unwrap();
        let expected = [
            Token::Word("a".to_owned()),
            Token::Name("B c".to_owned()),
            Token::Text("it's".to_owned()),
            Token::Parameter(1),
            Token::Text("y;z".to_owned()),
            Token::Number("1.5".to_owned()),
        ];
        assert_eq!(all, [expected]);
        let other = statements("`a` \"it\\\"s\" ? ? # end", Dialect::Mysql).unwrap();
        let expected = [
            Token::Name("a".to_owned()),
            Token::Text("it\"s".to_owned()),
            Token::Parameter(0),
            Token::Parameter(1),
        ];
        assert_eq!(other, [expected]);
    }

    #[test]
    fn what_never_ends_is_refused() {
        assert_eq!(statements("SELECT 'x", Dialect::Postgres), None);
        assert_eq!(statements(&"1 ".repeat(MAX_TOKENS + 2), Dialect::Postgres), None);
    }
}
