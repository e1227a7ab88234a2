//! Cuts the text of an expression into tokens.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A number, a text, `true`, `false` or `null`.
    Literal(Value),
    Name(String),
    Symbol(&'static str),
    End,
}

/// The longer ones first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 26] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ",", ".", "(", ")",
    "[", "]", "{", "}", "=", "&",
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if let Some(string) = string(rest)? {
            string
        } else if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit()))
        {
            number(rest)?
        } else if first.is_ascii_alphabetic() || first == '_' {
            word(rest)
        } else {
            let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
            let symbol = symbol.ok_or_else(|| format!("`{first}` has no meaning here"))?;
            (Token::Symbol(symbol), symbol.len())
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    tokens.push(Token::End);
    Ok(tokens)
}

fn word(rest: &str) -> (Token, usize) {
    let length =
        rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
    let token = match &rest[..length] {
        "true" => Token::Literal(Value::Bool(true)),
        "false" => Token::Literal(Value::Bool(false)),
        "null" => Token::Literal(Value::Null),
        name => Token::Name(name.to_owned()),
    };
    (token, length)
}

fn number(rest: &str) -> Result<(Token, usize), String> {
    if let Some(digits) = rest.strip_prefix("0x") {
        let length = digits.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(digits.len());
        let number = i64::from_str_radix(&digits[..length], 16)
            .map_err(|_| "a hexadecimal number is too large or empty")?;
        return Ok((Token::Literal(number.into()), length + 2));
    }
    let mut length = 0;
    let mut is_float = false;
    let bytes = rest.as_bytes();
    while let Some(byte) = bytes.get(length) {
        match byte {
            b'0'..=b'9' => {}
            b'.' if bytes.get(length + 1).is_some_and(u8::is_ascii_digit) && !is_float => is_float = true,
            b'e' | b'E' => {
                is_float = true;
                length += usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
            }
            _ => break,
        }
        length += 1;
    }
    let written = &rest[..length];
    let wrong = || format!("`{written}` is not a number");
    let value = if is_float {
        let float: f64 = written.parse().map_err(|_| wrong())?;
        serde_json::Number::from_f64(float).map(Value::Number).ok_or_else(wrong)?
    } else {
        Value::from(written.parse::<i64>().map_err(|_| wrong())?)
    };
    // `5u` is an unsigned number in CEL; here every integer is one kind of number.
    let suffix = usize::from(!is_float && matches!(bytes.get(length), Some(b'u' | b'U')));
    Ok((Token::Literal(value), length + suffix))
}

/// `'…'`, `"…"`, their threefold forms, and raw ones with an `r` in front.
fn string(rest: &str) -> Result<Option<(Token, usize)>, String> {
    let raw = rest.starts_with(['r', 'R']) && rest[1..].starts_with(['"', '\'']);
    let body = &rest[usize::from(raw)..];
    let Some(quote) = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| body.starts_with(quote)) else {
        return Ok(None);
    };
    let mut text = String::new();
    let mut letters = body[quote.len()..].char_indices();
    while let Some((at, letter)) = letters.next() {
        if body[quote.len() + at..].starts_with(quote) {
            let length = usize::from(raw) + 2 * quote.len() + at;
            return Ok(Some((Token::Literal(Value::String(text)), length)));
        }
        match letter {
            '\\' if !raw => text.push(escape(&mut letters)?),
            letter => text.push(letter),
        }
    }
    Err(format!("the closing {quote} is missing"))
}

fn escape(letters: &mut std::str::CharIndices<'_>) -> Result<char, String> {
    let wrong = || "an unknown escape follows the backslash".to_owned();
    let (_, letter) = letters.next().ok_or_else(wrong)?;
    let digits = match letter {
        'n' => return Ok('\n'),
        'r' => return Ok('\r'),
        't' => return Ok('\t'),
        '\\' | '\'' | '"' | '`' | '?' => return Ok(letter),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return Err(wrong()),
    };
    let code: String = letters.by_ref().take(digits).map(|(_, digit)| digit).collect();
    let code = u32::from_str_radix(&code, 16).ok().filter(|_| code.len() == digits);
    code.and_then(char::from_u32).ok_or_else(wrong)
}
