//! The five tools: what each is for, what it takes, and the command that it stands for.

use serde_json::{Map, Value, json};
use wallfacer_schema::Schema;

use super::Workspace;

/// A tool of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Check,
    Findings,
    Explain,
    Replay,
    Doctor,
}

type Arguments = Map<String, Value>;

/// How long a check may be asked to take, in seconds.
const LONGEST_CHECK: u64 = 3_600;
const USUAL_CHECK: u64 = 60;

impl Tool {
    pub const ALL: [Tool; 5] = [Tool::Check, Tool::Findings, Tool::Explain, Tool::Replay, Tool::Doctor];

    pub fn name(self) -> &'static str {
        match self {
            Tool::Check => "check",
            Tool::Findings => "findings",
            Tool::Explain => "explain",
            Tool::Replay => "replay",
            Tool::Doctor => "doctor",
        }
    }

    pub fn named(name: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    fn title(self) -> &'static str {
        match self {
            Tool::Check => "Test an MCP server",
            Tool::Findings => "List stored findings",
            Tool::Explain => "Explain a finding",
            Tool::Replay => "See whether a finding is fixed",
            Tool::Doctor => "Look at an MCP server",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Tool::Check => {
                "Runs an MCP server of this workspace in a sandbox, tests every tool of it, and reports proven bugs \
                 with what to change. Takes as long as its budget, a minute unless told otherwise; ask for progress. \
                 Findings are stored, for `replay`."
            }
            Tool::Findings => "Lists the findings that earlier checks of this workspace have stored.",
            Tool::Explain => {
                "Says what a kind of finding, a rule or one stored finding means, and what to change."
            }
            Tool::Replay => {
                "Tries one stored finding again on fresh servers. The verdict is fixed, still_fails, flaky or \
                 not_replayable. Use it after a change, to see whether the change mends the bug."
            }
            Tool::Doctor => {
                "Starts an MCP server of this workspace in a sandbox and shows what it says about itself: version, \
                 protocol, tools and their schemas, and how long it takes to start."
            }
        }
    }

    /// The tool as a client sees it.
    pub fn shown(self, workspace: &Workspace) -> Value {
        let only_reads = matches!(self, Tool::Findings | Tool::Explain);
        json!({
            "name": self.name(),
            "title": self.title(),
            "description": self.description(),
            "inputSchema": self.input(workspace),
            "outputSchema": self.output(),
            "annotations": {
                "title": self.title(),
                "readOnlyHint": only_reads,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": !only_reads,
            },
        })
    }

    /// The schema of the arguments.
    pub fn input(self, workspace: &Workspace) -> Value {
        let (mut properties, required): (Value, &[&str]) = match self {
            Tool::Check => (
                json!({
                    "tools": {
                        "type": "array",
                        "items": {"type": "string", "minLength": 1, "maxLength": 200},
                        "maxItems": 100,
                        "description": "Only these tools of the server; a name or a pattern such as get_*"
                    },
                    "budget_seconds": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": LONGEST_CHECK,
                        "default": USUAL_CHECK,
                        "description": "How long the check may take"
                    },
                    "seed": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": u32::MAX,
                        "description": "Another seed tries other values"
                    }
                }),
                &[],
            ),
            Tool::Explain => (
                json!({"what": {
                    "type": "string",
                    "pattern": "^[A-Za-z0-9_.:-]{1,200}$",
                    "description": "A kind such as crash, the name of a rule, or the id of a stored finding"
                }}),
                &["what"],
            ),
            Tool::Replay => (
                json!({"id": {
                    "type": "string",
                    "pattern": "^[0-9a-f]{4,64}$",
                    "description": "The id of the finding, or its first digits"
                }}),
                &["id"],
            ),
            Tool::Findings | Tool::Doctor => (json!({}), &[]),
        };
        if self.takes_server() {
            properties["server"] = json!({
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
                "description": "The server's name in .mcp.json or another client file of this workspace; without it, the server of wallfacer.toml"
            });
        }
        if self.takes_server() && workspace.allow_any_server {
            properties["command"] = json!({
                "type": "array",
                "items": {"type": "string", "maxLength": 10_000},
                "minItems": 1,
                "maxItems": 100,
                "description": "The command that starts the server, in place of `server`"
            });
            properties["url"] = json!({
                "type": "string",
                "minLength": 1,
                "maxLength": 2_000,
                "description": "The URL of the server, in place of `server`"
            });
        }
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    /// The schema of the structured answer.
    pub fn output(self) -> Value {
        let text = json!({"type": "string"});
        let list = json!({"type": "array", "items": {"type": "object"}});
        let (properties, required): (Value, &[&str]) = match self {
            Tool::Check => (
                json!({
                    "verdict": {"enum": ["passed", "failed", "stale", "interrupted", "not_tested"]},
                    "summary": text,
                    "warning": {"type": ["string", "null"], "description": "Whether a file of the project opened the sandbox"},
                    "findings": list,
                    "not_tested": {"type": "array", "items": {"type": "string"}},
                    "report": {"type": ["string", "null"], "description": "The resource that has the whole report"}
                }),
                &["verdict", "summary", "findings", "not_tested", "report"],
            ),
            Tool::Findings => (json!({"findings": list}), &["findings"]),
            Tool::Explain => (json!({"text": text}), &["text"]),
            Tool::Replay => (
                json!({
                    "id": text,
                    "verdict": {"enum": ["fixed", "still_fails", "flaky", "not_replayable"]},
                    "why": text
                }),
                &["id", "verdict", "why"],
            ),
            Tool::Doctor => (
                json!({"server": {"type": "object"}, "catalogue": {"type": "object"}}),
                &["server", "catalogue"],
            ),
        };
        json!({"type": "object", "properties": properties, "required": required})
    }

    /// Whether a server is started, and not only what is stored is read.
    pub fn starts_a_server(self) -> bool {
        matches!(self, Tool::Check | Tool::Replay | Tool::Doctor)
    }

    fn takes_server(self) -> bool {
        matches!(self, Tool::Check | Tool::Doctor)
    }

    /// What a person would type, or what is wrong with the arguments.
    pub fn words(self, arguments: &Arguments, workspace: &Workspace) -> Result<Vec<String>, String> {
        let schema = Schema::compile(&self.input(workspace)).map_err(|error| error.to_string())?;
        let wrong = schema.violations(&Value::Object(arguments.clone()));
        if !wrong.is_empty() {
            let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            return Err(format!("the arguments do not fit: {}", wrong.join("; ")));
        }
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let mut words: Vec<String> = match self {
            Tool::Check => {
                let budget = arguments.get("budget_seconds").and_then(whole).unwrap_or(USUAL_CHECK);
                let mut words = typed(&["check", "--format=json", "--events=/dev/stdout"]);
                words.push(format!("--budget={budget}s"));
                words.extend(arguments.get("seed").and_then(whole).map(|seed| format!("--seed={seed}")));
                words.extend(texts(arguments, "tools").map(|tool| format!("--include={tool}")));
                words
            }
            Tool::Findings => typed(&["corpus", "list", "--format=json"]),
            Tool::Explain => typed(&["explain", "--", text("what").unwrap_or_default()]),
            Tool::Replay => typed(&["replay", "--format=json", text("id").unwrap_or_default()]),
            Tool::Doctor => typed(&["doctor", "--format=json"]),
        };
        let named = ["server", "command", "url"].into_iter().filter(|name| arguments.contains_key(*name));
        if named.count() > 1 {
            return Err("give one of `server`, `command` and `url`".to_owned());
        }
        words.extend(text("server").map(|server| format!("--server={server}")));
        words.extend(text("url").map(|url| format!("--url={url}")));
        if arguments.contains_key("command") {
            words.push("--".to_owned());
            words.extend(texts(arguments, "command").map(str::to_owned));
        }
        Ok(words)
    }
}

fn typed(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn texts<'a>(arguments: &'a Arguments, name: &str) -> impl Iterator<Item = &'a str> {
    arguments.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// JSON Schema counts 60.0 among the integers.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))
}
