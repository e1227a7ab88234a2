//! The document that a GraphQL query selects.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::entity::{Things, is_list};
use super::shapes::{Shape, Type};

/// How deep selections and fragments go.
const MAX_DEPTH: usize = 24;
/// Members that are made in all.
const MAX_MEMBERS: usize = 4_000;

/// The data for a query; none where the text is none. What the server missed in earlier answers is known by its name: the
/// errors of programs seldom tell the whole way to it.
pub(super) fn data(query: &str, shape: &Shape, things: &Things<'_>) -> Option<Value> {
    let tokens = tokens(query);
    let mut fragments = BTreeMap::new();
    let mut operation = None;
    let mut at = 0;
    while at < tokens.len() {
        let open = (at..tokens.len()).find(|&place| tokens[place] == "{")?;
        let close = end_of(&tokens, open)?;
        match tokens[at].as_str() {
            "fragment" => drop(fragments.insert(tokens.get(at + 1)?.clone(), (open + 1, close))),
            "query" | "mutation" | "subscription" | "{" => operation = operation.or(Some((open + 1, close))),
            _ => return None,
        }
        at = close + 1;
    }
    let (from, to) = operation?;
    let mut maker = Maker { tokens: &tokens, fragments, shape, things, left: MAX_MEMBERS };
    maker.object(from, to, 0)
}

struct Maker<'a> {
    tokens: &'a [String],
    fragments: BTreeMap<String, (usize, usize)>,
    shape: &'a Shape,
    things: &'a Things<'a>,
    left: usize,
}

impl Maker<'_> {
    fn object(&mut self, from: usize, to: usize, depth: usize) -> Option<Value> {
        let mut members = Map::new();
        self.select(from, to, depth, &mut members)?;
        Some(Value::Object(members))
    }

    fn select(
        &mut self,
        from: usize,
        to: usize,
        depth: usize,
        members: &mut Map<String, Value>,
    ) -> Option<()> {
        if depth > MAX_DEPTH {
            return Some(());
        }
        let mut at = from;
        while at < to {
            self.left = self.left.checked_sub(1)?;
            if self.tokens[at] == "..." {
                at = self.spread(at + 1, to, depth, members)?;
                continue;
            }
            let (shown, mut name) = (self.tokens[at].clone(), &self.tokens[at]);
            at += 1;
            if at < to && self.tokens[at] == ":" {
                name = self.tokens.get(at + 1)?;
                at += 2;
            }
            at = self.skip_extras(at, to)?;
            let mut value = match self.tokens.get(at).filter(|token| *token == "{" && at < to) {
                Some(_) => {
                    let close = end_of(self.tokens, at)?;
                    let object = self.object(at + 1, close, depth + 1)?;
                    at = close + 1;
                    let is_several = match self.shape.type_of(name) {
                        Some(Type::List) => true,
                        Some(Type::Object) => false,
                        _ => is_list(name) && !is_connection(&object),
                    };
                    if is_several { json!([object]) } else { object }
                }
                None if name == "__typename" => json!("Item"),
                None => self.leaf(name),
            };
            if name == "id" && value.is_number() {
                value = json!(value.to_string());
            }
            members.insert(shown, value);
        }
        Some(())
    }

    fn leaf(&self, name: &str) -> Value {
        if let Some(is) = self.shape.type_of(name) {
            return self.things.of_type(name, is);
        }
        match self.things.value(name, MAX_DEPTH) {
            Value::Array(_) => json!([]),
            Value::Object(_) => json!("example"),
            value => value,
        }
    }

    fn spread(
        &mut self,
        at: usize,
        to: usize,
        depth: usize,
        members: &mut Map<String, Value>,
    ) -> Option<usize> {
        let name = self.tokens.get(at)?;
        if let Some(&(from, end)) = self.fragments.get(name) {
            self.select(from, end, depth + 1, members)?;
            return self.skip_extras(at + 1, to);
        }
        // Inline, with or without a type.
        let open = (at..to).find(|&place| self.tokens[place] == "{")?;
        let close = end_of(self.tokens, open)?;
        self.select(open + 1, close, depth + 1, members)?;
        Some(close + 1)
    }

    /// Passes over arguments and directives.
    fn skip_extras(&self, mut at: usize, to: usize) -> Option<usize> {
        while at < to {
            match self.tokens[at].as_str() {
                "(" => at = end_of(self.tokens, at)? + 1,
                "@" => at += 2,
                _ => break,
            }
        }
        Some(at)
    }
}

/// A list that comes with what is needed to page through it.
fn is_connection(object: &Value) -> bool {
    ["nodes", "edges", "pageInfo", "totalCount", "items"].iter().any(|name| object.get(name).is_some())
}

/// The place of the bracket that closes the one at `open`.
fn end_of(tokens: &[String], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(place);
                }
            }
            _ => {}
        }
    }
    None
}

fn tokens(query: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut letters = query.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '#' => while letters.next_if(|letter| *letter != '\n').is_some() {},
            '"' => {
                let mut escaped = false;
                for inner in letters.by_ref() {
                    if inner == '"' && !escaped {
                        break;
                    }
                    escaped = inner == '\\' && !escaped;
                }
                tokens.push("\"".to_owned());
            }
            '.' => {
                while letters.next_if_eq(&'.').is_some() {}
                tokens.push("...".to_owned());
            }
            '{' | '}' | '(' | ')' | '[' | ']' | ':' | '@' | '!' | '=' => tokens.push(letter.to_string()),
            _ if letter.is_alphanumeric() || letter == '_' || letter == '$' => {
                let mut word = letter.to_string();
                while let Some(more) = letters.next_if(|more| more.is_alphanumeric() || *more == '_') {
                    word.push(more);
                }
                tokens.push(word);
            }
            _ => {}
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::super::Mark;
    use super::super::asked::Asked;
    use super::super::shapes::{Hint, Part, Shapes};
    use super::*;

    fn answered(query: &str) -> Option<Value> {
        answered_with(query, &Shapes::default())
    }

    fn answered_with(query: &str, shapes: &Shapes) -> Option<Value> {
        let asked = Asked::new("POST", Some("a.example"), "/graphql");
        data(query, &shapes.of(&asked), &Things::of(&asked, Mark { marker: "m" }))
    }

    #[test]
    fn what_was_missed_is_known_by_its_name_wherever_it_is_selected() {
        let query = "{ shelf { kept { at } places lamps { id } } }";
        let before = answered(query).unwrap();
        assert!(before["shelf"]["kept"].is_object() && before["shelf"]["lamps"].is_array(), "{before}");
        let shapes = Shapes::default();
        let member = |name: &str| vec![Part::Member(name.to_owned())];
        let hints = [
            Hint::At(member("kept"), Type::List),
            Hint::At(member("places"), Type::Number),
            Hint::Named("lamps".to_owned(), Some(Type::Object)),
        ];
        shapes.learn("POST", "a.example", "/graphql", &hints);
        let data = answered_with(query, &shapes).unwrap();
        let shelf = &data["shelf"];
        assert!(shelf["kept"][0]["at"].is_string() && shelf["places"].is_number(), "{data}");
        assert!(shelf["lamps"]["id"].is_string(), "{data}");
    }

    #[test]
    fn a_query_gets_what_it_selects() {
        let query = "query Q($n: Int = 3) { viewer { id name } all: notes(first: $n, by: \"a { b\") @skip(if: false) { \
                     nodes { ...F author { login } } pageInfo { hasNextPage } } tags { title } } \
                     fragment F on Note { title createdAt ... on Other { count } }";
        let data = answered(query).unwrap();
        assert!(data["viewer"]["name"].is_string() && data["viewer"]["id"].is_string(), "{data}");
        let note = &data["all"]["nodes"][0];
        assert!(
            note["title"].is_string() && note["author"]["login"].is_string() && note["count"].is_number(),
            "{data}"
        );
        assert!(data["tags"][0]["title"].is_string());
    }

    #[test]
    fn what_is_no_query_is_none_and_does_no_harm() {
        for text in ["cats and dogs", "", "{", "{ a { b }", "query { ...A } fragment A on B { ...A }", "}{"] {
            let _ = answered(text);
        }
        assert_eq!(answered("cats and dogs"), None);
        assert_eq!(answered("select { from"), None);
    }
}
