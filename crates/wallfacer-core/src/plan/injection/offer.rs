//! Makes cases of resources and prompts: what a tool may do with a path or a name, a resource's address may do too.

use serde_json::{Map, Value, json};

use super::aim::{Aim, Escape, Injection};
use super::base::Known;
use super::cases::{Rank, Ranked};
use super::ground::Ground;
use super::job::Job;
use super::payload::{self, Payload};
use super::place::{Place, Purpose};
use crate::catalogue::{Catalogue, Prompt};
use crate::plan::case::{Case, Intent, Step, Subject};
use crate::plan::offers::{filled, variables};

/// Resources, templates and prompts that are tried; more would be the same again.
const MAX_ENTRIES: usize = 12;
/// Payloads of one place.
const MAX_PAYLOADS: usize = 24;

/// Cases of all resources, templates and prompts.
pub fn offer_injections(catalogue: &Catalogue, ground: &Ground, seed: u64) -> Vec<Ranked> {
    let maker = Maker { ground, seed };
    let templates =
        catalogue.templates.entries.iter().take(MAX_ENTRIES).map(|template| &template.uri_template);
    let templates = templates.filter(|template| !variables(template).is_empty());
    let templates = templates.flat_map(|template| maker.resource(template, |value| filled(template, value)));
    let resources = catalogue.resources.entries.iter().take(MAX_ENTRIES).filter_map(|resource| {
        let (parent, last) = resource.uri.rsplit_once('/')?;
        let named = !last.is_empty();
        named.then(|| maker.resource(&resource.uri, |value| format!("{parent}/{value}")))
    });
    let prompts = catalogue.prompts.entries.iter().take(MAX_ENTRIES).flat_map(|prompt| maker.prompt(prompt));
    templates.chain(resources.flatten()).chain(prompts).collect()
}

struct Maker<'a> {
    ground: &'a Ground,
    seed: u64,
}

impl Maker<'_> {
    /// Ways out and commands, as they are and encoded: whoever reads an address may decode it, or take steps up out of it.
    fn resource(&self, uri: &str, write: impl Fn(&str) -> String) -> Vec<Ranked> {
        let mut cases = Vec::new();
        for (wave, payload) in self.payloads("path", Purpose::File).into_iter().enumerate() {
            for (more, encode) in [encoded as fn(&str) -> String, str::to_owned].into_iter().enumerate() {
                let uris: Vec<String> = payload.values.iter().map(|value| write(&encode(value))).collect();
                let steps = uris.into_iter().map(|uri| ("resources/read", json!({ "uri": uri })));
                let case = self.case(Subject::Resource(uri.to_owned()), "/uri", &payload, steps.collect());
                cases.push(ranked(wave + more, case));
            }
        }
        cases
    }

    fn prompt(&self, prompt: &Prompt) -> Vec<Ranked> {
        let all: Map<String, Value> =
            prompt.arguments.iter().map(|argument| (argument.name.clone(), json!("example"))).collect();
        let mut cases = Vec::new();
        for argument in prompt.arguments.iter().take(MAX_ENTRIES) {
            let at = format!("/arguments/{}", argument.name);
            for (wave, payload) in
                self.payloads(&argument.name, Purpose::of(&argument.name)).into_iter().enumerate()
            {
                let with = |value: &String| {
                    let mut arguments = all.clone();
                    arguments.insert(argument.name.clone(), json!(value));
                    ("prompts/get", json!({ "name": prompt.name, "arguments": arguments }))
                };
                let steps = payload.values.iter().map(with).collect();
                let case = self.case(Subject::Prompt(prompt.name.clone()), &at, &payload, steps);
                cases.push(ranked(wave, case));
            }
        }
        cases
    }

    fn payloads(&self, name: &str, purpose: Purpose) -> Vec<Payload> {
        let place = Place { at: String::new(), name: name.to_owned(), value: "example".to_owned(), purpose };
        let escapes = [Escape::Relative, Escape::Outside, Escape::Prefix, Escape::Symlink];
        let escapes = escapes.map(|escape| payload::escapes(&place, self.ground, escape, "", Job::default()));
        let commands = payload::commands(&place, &Known::default(), self.ground, "", false);
        payload::in_turn(escapes.into_iter().chain([commands]).collect())
            .into_iter()
            .take(MAX_PAYLOADS)
            .collect()
    }

    fn case(&self, subject: Subject, at: &str, payload: &Payload, steps: Vec<(&str, Value)>) -> Case {
        let Payload { way, aim, openly_first, .. } = payload.clone();
        let injection = Injection { at: at.to_owned(), way, aim, offline: false, openly_first };
        let step = |(method, params): (&str, Value)| Step::Call {
            method: method.to_owned(),
            params: params.as_object().cloned().unwrap_or_default(),
        };
        Case {
            subject,
            intent: Intent::Injection(Box::new(injection)),
            prelude: Vec::new(),
            steps: steps.into_iter().map(step).collect(),
            seed: self.seed,
            claim: None,
            measure: None,
        }
    }
}

fn ranked(wave: usize, case: Case) -> Ranked {
    let reads = matches!(case.intent.injection().map(|injection| &injection.aim), Some(Aim::Reach { .. }));
    Ranked { rank: Rank { unlikely: u8::from(!reads), wave, sort: 0 }, case }
}

/// As a part of an address, with nothing in it that addresses give a meaning.
fn encoded(text: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Entry, Template};
    use crate::world::DeclaredBy;

    #[test]
    fn templates_get_ways_out_as_they_are_and_encoded() {
        let listed = json!({ "uriTemplate": "pages://{name}", "name": "page" });
        let mut catalogue = Catalogue::default();
        catalogue.templates.entries.push(Template::read(listed.as_object().unwrap()).unwrap());
        let scopes = [("/d/r".into(), DeclaredBy::CommandLine)].into();
        let ground = Ground::new(&scopes, &catalogue, 1);
        let cases = offer_injections(&catalogue, &ground, 1);
        let uris: Vec<String> = cases
            .iter()
            .filter_map(|ranked| Some(ranked.case.single_call()?.1["uri"].as_str()?.to_owned()))
            .collect();
        assert!(uris.iter().any(|uri| uri.starts_with("pages://../")), "{uris:?}");
        assert!(uris.iter().any(|uri| uri.starts_with("pages://%2E%2E%2F")), "{uris:?}");
    }
}
