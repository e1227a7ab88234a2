//! A look at a server as one JSON document.

use serde_json::{Value, json};
use wallfacer_process::jail::Offer;
use wallfacer_process::{Ended, Rung, Status};

use crate::catalogue::{Catalogue, End, Listing, Prompt, Resource, Template, Tool};
use crate::observe::Examination;
use crate::wire::{Remark, Server, sample};

/// The whole examination; keys stand in a fixed order.
pub fn examination(seen: &Examination) -> Value {
    let standing = &seen.server.standing;
    json!({
        "wallfacer": env!("CARGO_PKG_VERSION"),
        "run": { "command": "doctor" },
        "machine": machine(seen),
        "sandbox": {
            "rung": standing.to_string(),
            "observed": standing.watched(),
            "remarks": standing.remarks,
            "access": standing.access,
        },
        "target": seen.target,
        "server": server(&seen.server, seen.transport),
        "round_trip_us": seen.round_trips.iter().map(|time| time.as_micros() as u64).collect::<Vec<_>>(),
        "not_seen": seen.not_seen,
        "catalogue": catalogue(&seen.catalogue),
        "strays": {
            "counts": seen.strays.counts.iter().map(|(fault, count)| {
                json!({ "fault": fault.to_string(), "count": count })
            }).collect::<Vec<_>>(),
            "examples": seen.strays.examples.iter().map(|stray| sample(&stray.head)).collect::<Vec<_>>(),
        },
        "ended": seen.ended.as_ref().map(ended),
    })
}

fn machine(seen: &Examination) -> Value {
    let rung = |offer: &Offer<Rung>| json!({ "rung": offer.what.to_string(), "refused": offer.refused, "advice": offer.advice });
    let watching = &seen.offers.observation;
    json!({
        "ends": seen.machine.kind.to_string(),
        "confines": seen.offers.confinement.iter().map(rung).collect::<Vec<_>>(),
        "watches": { "refused": watching.refused, "advice": watching.advice },
    })
}

fn server(server: &Server, transport: &str) -> Value {
    json!({
        "name": server.name,
        "version": server.version,
        "title": server.title,
        "protocol": server.protocol.as_str(),
        "era": server.era().as_str(),
        "transport": transport,
        "capabilities": server.capabilities,
        "instructions": server.instructions,
        "supported_versions": server.supported,
        "startup_ms": server.startup.as_millis() as u64,
        "remarks": server.remarks.iter().map(remark).collect::<Vec<_>>(),
    })
}

fn remark(remark: &Remark) -> Value {
    match remark {
        Remark::SilentOnProbe => json!("silent on `server/discover`"),
        Remark::EndedOnProbe { .. } => json!("ended on `server/discover`"),
        Remark::AmbiguousProbe => json!("answered `server/discover` with 404 and a JSON-RPC error"),
    }
}

pub(super) fn catalogue(catalogue: &Catalogue) -> Value {
    json!({
        "tools": listing(&catalogue.tools, tool),
        "resources": listing(&catalogue.resources, resource),
        "resource_templates": listing(&catalogue.templates, template),
        "prompts": listing(&catalogue.prompts, prompt),
    })
}

fn listing<T>(listing: &Listing<T>, entry: impl Fn(&T) -> Value) -> Value {
    let (end, why) = match &listing.end {
        End::Complete => ("complete", None),
        End::NotClaimed => ("not_claimed", None),
        End::RepeatedCursor { cursor } => ("repeated_cursor", Some(cursor.clone())),
        End::TooMany { .. } => ("too_many", None),
        End::Failed { why } => ("failed", Some(why.clone())),
    };
    json!({
        "entries": listing.entries.iter().map(entry).collect::<Vec<_>>(),
        "broken": listing.broken.iter().map(|broken| {
            json!({ "index": broken.index, "name": broken.name, "why": broken.why })
        }).collect::<Vec<_>>(),
        "pages": listing.pages,
        "end": end,
        "why": why,
    })
}

fn tool(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema(),
        "outputSchema": tool.output_schema(),
        "annotations": tool.annotations,
        "_meta": tool.listed.get("_meta"),
    })
}

fn resource(resource: &Resource) -> Value {
    json!({
        "uri": resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
    })
}

fn template(template: &Template) -> Value {
    json!({
        "uriTemplate": template.uri_template,
        "name": template.name,
        "description": template.description,
        "mimeType": template.mime_type,
    })
}

fn prompt(prompt: &Prompt) -> Value {
    let arguments = prompt.arguments.iter().map(|argument| {
        json!({ "name": argument.name, "description": argument.description, "required": argument.required })
    });
    json!({
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": arguments.collect::<Vec<_>>(),
    })
}

fn ended(ended: &Ended) -> Value {
    let status = ended.ending.map(|ending| match ending.status {
        Status::Exited(code) => json!({ "exited": code }),
        Status::Signalled { signal, .. } => json!({ "signal": signal }),
        Status::Unknown => json!("unknown"),
    });
    let left = ended
        .left_behind
        .as_ref()
        .map(|left| left.iter().map(|one| json!({ "pid": one.pid, "name": one.name })).collect::<Vec<_>>());
    let mut ended_as = json!({ "status": status, "left_behind": left });
    if ended.keeper_killed {
        ended_as["keeper_killed"] = true.into();
    }
    ended_as
}
