//! What was seen of a step, as JSON: one object for each event and each exchange with the network.

use serde_json::{Value, json};
use wallfacer_process::sink::{Flow, Kind as FlowKind};
use wallfacer_process::trace::{Address, Event, Kind, Location, Outcome};

use super::json::catalogue;
use crate::catalogue::Catalogue;
use crate::wire::Server;
use crate::world::Traced;

/// The lines of one step. `call` is the name of what was asked for where the event belongs to it, else null.
pub fn trace_lines(step: u64, name: &str, traced: &Traced) -> Vec<Value> {
    let whose = |call: Option<u64>| Some(name).filter(|_| call.is_some() && call == traced.call);
    let events = traced.events.iter().map(|event| {
        json!({ "step": step, "during": name, "call": whose(event.call), "pid": event.pid,
            "did": deed(event), "outcome": outcome(event.outcome) })
    });
    let flows = traced
        .flows
        .iter()
        .map(|flow| json!({ "step": step, "during": name, "call": whose(flow.call), "sent": sent(flow) }));
    events.chain(flows).collect()
}

/// What the server declares.
pub fn manifest(server: &Server, listed: &Catalogue) -> Value {
    json!({
        "server": { "name": server.name, "version": server.version, "protocol": server.protocol.as_str() },
        "catalogue": catalogue(listed),
    })
}

fn deed(event: &Event) -> Value {
    match &event.kind {
        Kind::Open { location, access } => json!({ "open": place(location), "read": access.read,
            "write": access.write, "create": access.create, "truncate": access.truncate }),
        Kind::Look { location } => json!({ "look": place(location) }),
        Kind::Unlink { location } => json!({ "unlink": place(location) }),
        Kind::Rename { from, to } => json!({ "rename": place(from), "to": place(to) }),
        Kind::MakeDirectory { location } => json!({ "mkdir": place(location) }),
        Kind::RemoveDirectory { location } => json!({ "rmdir": place(location) }),
        Kind::Link { from, to } => json!({ "link": place(from), "to": place(to) }),
        Kind::Symlink { target, location } => {
            json!({ "symlink": place(location), "target": target.to_string_lossy() })
        }
        Kind::Connect { address, .. } => json!({ "connect": host(address) }),
        Kind::Bind { address, .. } => json!({ "bind": host(address) }),
        Kind::Listen { address, .. } => json!({ "listen": address.as_ref().map(host) }),
        Kind::Send { messages, .. } => {
            let to = messages.iter().filter_map(|message| message.to.as_ref()).map(host);
            json!({ "send": to.collect::<Vec<_>>() })
        }
        Kind::Execute(program) => {
            let words = program.arguments.iter().map(|word| word.to_string_lossy());
            json!({ "execute": place(&program.location), "arguments": words.collect::<Vec<_>>() })
        }
        Kind::Fork { child } => json!({ "fork": child }),
        Kind::Exit { status } => json!({ "exit": status }),
        Kind::System { name } => json!({ "system": name }),
        Kind::MemoryFile { name } => json!({ "memory_file": name.to_string_lossy() }),
        Kind::MakeNode { location, .. } => json!({ "make_node": place(location) }),
        Kind::ChangeMode { location, mode } => json!({ "change_mode": place(location), "mode": mode }),
        Kind::ChangeOwner { location, .. } => json!({ "change_owner": place(location) }),
        Kind::ChangeAttribute { location, .. } => json!({ "change_attribute": place(location) }),
        Kind::Truncate { location, length } => json!({ "truncate": place(location), "length": length }),
    }
}

/// The path that was found, and what was asked for where that reads otherwise.
fn place(location: &Location) -> Value {
    let found = location.path();
    match &location.asked {
        Some(asked) if !asked.is_empty() && found.as_os_str() != asked => {
            json!({ "path": found.to_string_lossy(), "asked": asked.to_string_lossy() })
        }
        _ => json!(found.to_string_lossy()),
    }
}

fn host(address: &Address) -> Value {
    match address {
        Address::Inet(address) => json!(address.to_string()),
        Address::Unix(location) => place(location),
        Address::Abstract(name) => json!({ "abstract": name.to_string_lossy() }),
        Address::Unspecified | Address::Other(_) | Address::Unreadable => Value::Null,
    }
}

fn outcome(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Done(_) => json!("done"),
        Outcome::Failed(error) => json!({ "failed": error }),
        Outcome::Refused(error) => json!({ "refused": error }),
        Outcome::Unfinished => json!("unfinished"),
    }
}

fn sent(flow: &Flow) -> Value {
    let what = match &flow.kind {
        FlowKind::Dns { question, record } => json!({ "dns": question, "record": record }),
        FlowKind::Tcp => json!("tcp"),
        FlowKind::Udp => json!("udp"),
    };
    let request = flow.http.as_ref().map(|http| format!("{} {}", http.method, http.path));
    json!({ "what": what, "name": flow.name, "address": flow.address.to_string(), "tls": flow.tls.is_some(),
        "request": request, "bytes": flow.sent.total, "first": String::from_utf8_lossy(&flow.sent.first) })
}
