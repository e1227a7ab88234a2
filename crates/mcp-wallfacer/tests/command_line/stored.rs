//! Worlds in which something is stored: by a run of the fuzzer, or written down as an older version would.

use crate::world::{World, fixture};

/// A server for the shell with one tool, which ends the server on every second call, and on each where it is named so.
const SERVER: &str = r#"
tool=$1; every=$2
while read -r line; do
    id=${line#*'"id":'}; id=${id%%[,\}]*}
    case "$line" in
    *'"server/discover"'*) body='"error":{"code":-32601,"message":"no"}';;
    *'"initialize"'*) body='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"dice","version":"1"}}';;
    *'"tools/list"'*) body='"result":{"tools":[{"name":"'$tool'","inputSchema":{"type":"object"}}]}';;
    *'"tools/call"'*)
        echo call >> calls
        [ $(( $(wc -l < calls) % every )) = 0 ] && exit 1
        body='"result":{"content":[]}';;
    *'"id":'*) body='"result":{}';;
    *) continue;;
    esac
    echo '{"jsonrpc":"2.0","id":'$id,$body'}'
done"#;

pub const OLD_ID: &str = "0123456789abcdef";

/// With a server `dice TOOL N` that ends on every Nth call, and an old finding of this tool.
pub fn world_with_dice(tool: &str, arguments: &str) -> World {
    let finding = format!(
        r#"{{"id":"{OLD_ID}","kind":{{"type":"crash"}},"severity":"critical","tool":"{tool}","message":"it ended",
            "repro":{{"seed":7,"tool_call":{arguments},"transport":"stdio"}},"timestamp":"2026-01-02T03:04:05Z"}}"#
    );
    World::new()
        .with_program("dice", SERVER)
        .with(&format!(".wallfacer/corpus/{tool}/{OLD_ID}.json"), &finding)
}

/// With what the fuzzer finds in a flawed fixture, and the one id of it.
pub fn fuzzed(flaw: &str, flags: &[&str]) -> (World, String) {
    let world = World::new();
    let server = fixture();
    let fuzz = ["fuzz", "--iterations", "60", "--timeout", "1s", "--format", "json"];
    let outcome = world.run(&[&fuzz, flags, &["--", &server, "flaw", flaw][..]].concat());
    let findings = outcome.json()["findings"].as_array().cloned().unwrap_or_default();
    assert_eq!(findings.len(), 1, "{outcome}");
    let id = findings[0]["id"].as_str().expect("every finding has an id").to_owned();
    (world, id)
}

/// The flawed server, or its twin without the flaw.
pub fn twin<'a>(server: &'a str, flaw: &'a str) -> [&'a str; 5] {
    ["--", server, "flaw", flaw, "--fixed"]
}
