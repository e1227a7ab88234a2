//! What an expression consists of.

use crate::path::Root;
use regex::Regex;
use serde_json::Value;
use std::sync::Arc;

#[derive(Debug)]
pub(super) enum Expr {
    Literal(Value),
    Root(Root),
    /// A name bound by a macro around it.
    Local(String),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Field(Box<Expr>, String),
    /// `has(x.name)`.
    Has(Box<Expr>, String),
    Item(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    Call(Function, Vec<Expr>),
    Matches(Box<Expr>, Arc<Regex>),
    Macro(Box<Macro>),
}

#[derive(Debug)]
pub(super) struct Macro {
    pub(super) kind: MacroKind,
    pub(super) over: Expr,
    pub(super) variable: String,
    /// The condition; what `map` keeps of an item, if it was given three arguments.
    pub(super) condition: Option<Expr>,
    /// What `map` makes of an item.
    pub(super) result: Option<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MacroKind {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    Int,
    Double,
    String,
}

impl Function {
    /// Name, number of arguments with the receiver, and whether it is called as `x.name()`, `name(x)` or both.
    pub(super) const ALL: [(&'static str, Function, usize, bool, bool); 7] = [
        ("size", Function::Size, 1, true, true),
        ("contains", Function::Contains, 2, true, false),
        ("startsWith", Function::StartsWith, 2, true, false),
        ("endsWith", Function::EndsWith, 2, true, false),
        ("int", Function::Int, 1, false, true),
        ("double", Function::Double, 1, false, true),
        ("string", Function::String, 1, false, true),
    ];
}

impl MacroKind {
    pub(super) const ALL: [(&'static str, MacroKind); 5] = [
        ("all", MacroKind::All),
        ("exists", MacroKind::Exists),
        ("exists_one", MacroKind::ExistsOne),
        ("filter", MacroKind::Filter),
        ("map", MacroKind::Map),
    ];
}
