//! Parses tokens into syntax. Names are looked up here, so that a misspelt one is found when the file is read.

use super::lexer::{Token, tokens};
use super::syntax::{Expr, Function, Macro, MacroKind, Operator};
use crate::library::Library;
use crate::nearest::nearest;
use crate::path::Root;
use serde_json::Value;

/// Parentheses and macros in each other; recursion over the syntax relies on both of these.
const MAX_DEPTH: usize = 24;
const MAX_PARTS: usize = 400;

#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) syntax: Expr,
    pub(super) roots: Vec<Root>,
    pub(super) steps: Vec<String>,
}

pub(super) fn parse(text: &str, library: &mut Library) -> Result<Parsed, String> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        library,
        depth: 0,
        parts: 0,
        locals: Vec::new(),
        roots: Vec::new(),
        steps: Vec::new(),
    };
    let syntax = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(Parsed { syntax, roots: parser.roots, steps: parser.steps }),
        token => Err(format!("{} is not expected", describe(token))),
    }
}

struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    library: &'a mut Library,
    depth: usize,
    parts: usize,
    locals: Vec<String>,
    roots: Vec<Root>,
    steps: Vec<String>,
}

impl Parser<'_> {
    fn expression(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("it is nested more than {MAX_DEPTH} levels deep"));
        }
        let condition = self.or()?;
        let whole = if self.take("?") {
            let then = self.or()?;
            self.expect(":")?;
            let otherwise = self.expression()?;
            Expr::Choice(Box::new(condition), Box::new(then), Box::new(otherwise))
        } else {
            condition
        };
        self.depth -= 1;
        Ok(whole)
    }

    fn or(&mut self) -> Result<Expr, String> {
        let mut left = self.and()?;
        while self.take("||") {
            left = Expr::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expr, String> {
        let mut left = self.relation()?;
        while self.take("&&") {
            left = Expr::And(Box::new(left), Box::new(self.relation()?));
        }
        Ok(left)
    }

    fn relation(&mut self) -> Result<Expr, String> {
        let mut left = self.sum()?;
        loop {
            let operator = match self.peek() {
                Token::Symbol("==") => Operator::Equal,
                Token::Symbol("!=") => Operator::NotEqual,
                Token::Symbol("<") => Operator::Less,
                Token::Symbol("<=") => Operator::AtMost,
                Token::Symbol(">") => Operator::Greater,
                Token::Symbol(">=") => Operator::AtLeast,
                Token::Name(name) if name == "in" => Operator::In,
                Token::Symbol("=") => return Err("`=` is written `==`".into()),
                _ => return Ok(left),
            };
            self.at += 1;
            left = Expr::Binary(operator, Box::new(left), Box::new(self.sum()?));
        }
    }

    fn sum(&mut self) -> Result<Expr, String> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                Token::Symbol("+") => Operator::Add,
                Token::Symbol("-") => Operator::Subtract,
                _ => return Ok(left),
            };
            self.at += 1;
            left = Expr::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Expr, String> {
        let mut left = self.unary()?;
        loop {
            let operator = match self.peek() {
                Token::Symbol("*") => Operator::Multiply,
                Token::Symbol("/") => Operator::Divide,
                Token::Symbol("%") => Operator::Remainder,
                _ => return Ok(left),
            };
            self.at += 1;
            left = Expr::Binary(operator, Box::new(left), Box::new(self.unary()?));
        }
    }

    fn unary(&mut self) -> Result<Expr, String> {
        let mut signs = Vec::new();
        while let Token::Symbol(sign @ ("!" | "-")) = self.peek() {
            signs.push(*sign);
            self.at += 1;
            self.count()?;
        }
        let mut inner = self.member()?;
        while let Some(sign) = signs.pop() {
            inner = if sign == "!" { Expr::Not(Box::new(inner)) } else { Expr::Negative(Box::new(inner)) };
        }
        Ok(inner)
    }

    fn member(&mut self) -> Result<Expr, String> {
        let mut value = self.primary()?;
        loop {
            self.count()?;
            if self.take(".") {
                let name = self.name()?;
                value = if self.take("(") { self.method(value, &name)? } else { self.field(value, name) };
            } else if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                value = Expr::Item(Box::new(value), Box::new(index));
            } else {
                return Ok(value);
            }
        }
    }

    fn field(&mut self, of: Expr, name: String) -> Expr {
        if matches!(of, Expr::Root(Root::Steps)) {
            self.steps.push(name.clone());
        }
        Expr::Field(Box::new(of), name)
    }

    fn primary(&mut self) -> Result<Expr, String> {
        match self.next() {
            Token::Literal(value) => Ok(Expr::Literal(value)),
            Token::Symbol("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Symbol("[") => Ok(Expr::List(self.arguments("]")?)),
            Token::Symbol("{") => self.map(),
            Token::Name(name) if self.take("(") => self.function(&name),
            Token::Name(name) => self.variable(&name),
            token => Err(format!("{} is not expected", describe(&token))),
        }
    }

    fn variable(&mut self, name: &str) -> Result<Expr, String> {
        if self.locals.iter().any(|local| local == name) {
            return Ok(Expr::Local(name.to_owned()));
        }
        if let Some(root) = Root::named(name) {
            self.roots.push(root);
            return Ok(Expr::Root(root));
        }
        let known = Root::ALL.map(Root::name);
        Err(match nearest(name, known) {
            Some(meant) => format!("there is no `{name}`; did you mean `{meant}`?"),
            None => format!("there is no `{name}`; known are {}", known.join(", ")),
        })
    }

    fn map(&mut self) -> Result<Expr, String> {
        let mut members = Vec::new();
        while !self.take("}") {
            let key = self.expression()?;
            self.expect(":")?;
            members.push((key, self.expression()?));
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Expr::Map(members))
    }

    fn arguments(&mut self, end: &'static str) -> Result<Vec<Expr>, String> {
        let mut arguments = Vec::new();
        while !self.take(end) {
            arguments.push(self.expression()?);
            if !self.take(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(arguments)
    }

    fn function(&mut self, name: &str) -> Result<Expr, String> {
        let mut arguments = self.arguments(")")?;
        match name {
            "has" => match (arguments.pop(), arguments.is_empty()) {
                (Some(Expr::Field(of, field)), true) => Ok(Expr::Has(of, field)),
                _ => Err("has(…) takes one field, as in has(response.structuredContent)".into()),
            },
            "matches" => self.matches(arguments),
            _ => call(name, arguments, false),
        }
    }

    fn method(&mut self, of: Expr, name: &str) -> Result<Expr, String> {
        if let Some((_, kind)) = MacroKind::ALL.into_iter().find(|(known, _)| *known == name) {
            return self.macro_call(kind, name, of);
        }
        let mut arguments = vec![of];
        arguments.extend(self.arguments(")")?);
        if name == "matches" { self.matches(arguments) } else { call(name, arguments, true) }
    }

    fn macro_call(&mut self, kind: MacroKind, name: &str, over: Expr) -> Result<Expr, String> {
        let variable = self
            .name()
            .map_err(|_| format!("{name}(…) begins with a name for the item, as in {name}(x, …)"))?;
        self.locals.push(variable.clone());
        self.expect(",")?;
        let mut arguments = self.arguments(")")?;
        self.locals.pop();
        let most = if kind == MacroKind::Map { 2 } else { 1 };
        if arguments.is_empty() || arguments.len() > most {
            return Err(format!("{name}(…) takes a name and one expression"));
        }
        let last = arguments.pop();
        let (condition, result) = if kind == MacroKind::Map { (arguments.pop(), last) } else { (last, None) };
        Ok(Expr::Macro(Box::new(Macro { kind, over, variable, condition, result })))
    }

    fn matches(&mut self, mut arguments: Vec<Expr>) -> Result<Expr, String> {
        match (arguments.pop(), arguments.pop(), arguments.is_empty()) {
            (Some(Expr::Literal(Value::String(pattern))), Some(of), true) => {
                let pattern =
                    self.library.regex(&pattern).map_err(|why| format!("the pattern is not valid: {why}"))?;
                Ok(Expr::Matches(Box::new(of), pattern))
            }
            _ => Err("matches(…) takes a pattern written as text, so that it is compiled once".into()),
        }
    }

    fn name(&mut self) -> Result<String, String> {
        match self.next() {
            Token::Name(name) => Ok(name),
            token => Err(format!("a name is missing before {}", describe(&token))),
        }
    }

    fn peek(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn take(&mut self, symbol: &'static str) -> bool {
        let found = *self.peek() == Token::Symbol(symbol);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), String> {
        if self.take(symbol) {
            Ok(())
        } else {
            Err(format!("`{symbol}` is missing before {}", describe(self.peek())))
        }
    }

    fn count(&mut self) -> Result<(), String> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(format!("it has more than {MAX_PARTS} parts; write several assertions"));
        }
        Ok(())
    }
}

fn call(name: &str, arguments: Vec<Expr>, as_method: bool) -> Result<Expr, String> {
    let known = Function::ALL.into_iter().find(|(known, ..)| *known == name);
    let Some((_, function, count, method, plain)) = known else {
        let names =
            Function::ALL.map(|(name, ..)| name).into_iter().chain(MacroKind::ALL.map(|(name, _)| name));
        return Err(match nearest(name, names.chain(["has", "matches"])) {
            Some(meant) => format!("there is no function `{name}`; did you mean `{meant}`?"),
            None => format!("there is no function `{name}`"),
        });
    };
    if arguments.len() != count || (as_method && !method) || (!as_method && !plain) {
        let form = if method {
            format!("x.{name}({})", if count == 2 { "y" } else { "" })
        } else {
            format!("{name}(x)")
        };
        return Err(format!("`{name}` is written as {form}"));
    }
    Ok(Expr::Call(function, arguments))
}

fn describe(token: &Token) -> String {
    match token {
        Token::Literal(value) => format!("`{value}`"),
        Token::Name(name) => format!("`{name}`"),
        Token::Symbol(symbol) => format!("`{symbol}`"),
        Token::End => "the end".into(),
    }
}
