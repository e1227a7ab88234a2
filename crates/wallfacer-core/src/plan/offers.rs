//! Makes [`Case`]s for what a server offers besides tools: reads resources, gets prompts, completes their arguments,
//! each as it should be done and in ways that must be refused.

use serde_json::{Map, Value, json};

use wallfacer_schema::samples;
use wallfacer_text::lexicon::FieldKind;

use super::case::{Case, Intent, Kept, Step, Subject};
use super::example;
use crate::catalogue::{Catalogue, Prompt, PromptArgument, Template};

/// Entries of each list that are tried; a server that lists thousands has one piece of code for all of them.
const MAX_ENTRIES: usize = 24;
/// Arguments of one prompt that the server is asked for.
const MAX_COMPLETED: usize = 4;
/// What stands in an address where a completion goes.
const PLACE_HOLDER: &str = "wallfacer-example";
/// Longer than any address or argument that is meant.
const LONG: usize = 64 << 10;

/// Texts that are no good address and no good argument, with what they are.
const HOSTILE: [(&str, &str); 9] = [
    ("empty", ""),
    ("quotes", "\"quoted\" 'text' \\ \\\""),
    ("path traversal", "../../../../etc/passwd"),
    ("NUL", "a\0b"),
    ("control characters", "line\r\n\u{1b}[31m"),
    ("unicode", "\u{202e}👩‍👩‍👧‍👦 e\u{301}"),
    ("template", "{{7*7}}${7*7}{name}"),
    ("percent signs", "%00%2e%2e%2f%zz%s%n"),
    ("a prototype's name", "__proto__"),
];

/// All cases, in a fixed order. Completion is tried only where the server claims to have it.
pub fn offer_cases(catalogue: &Catalogue, completes: bool, max_bytes: usize, seed: u64) -> Vec<Case> {
    let maker = Maker { seed, long: "x".repeat(LONG.min(max_bytes)) };
    let mut cases = maker.resources(catalogue);
    let templates = catalogue.templates.entries.iter().take(MAX_ENTRIES);
    cases.extend(templates.clone().flat_map(|template| maker.template(template)));
    let prompts = catalogue.prompts.entries.iter().take(MAX_ENTRIES);
    cases.extend(prompts.clone().flat_map(|prompt| maker.prompt(prompt)));
    if completes {
        cases.extend(prompts.clone().filter_map(|prompt| maker.completed_prompt(prompt)));
        cases.extend(templates.clone().filter_map(|template| maker.completed_template(template)));
        cases.extend(prompts.flat_map(|prompt| maker.completion_of_prompt(prompt)));
        cases.extend(templates.flat_map(|template| maker.completion_of_template(template)));
    }
    cases
}

struct Maker {
    seed: u64,
    long: String,
}

impl Maker {
    fn case(&self, subject: Subject, intent: Intent, method: &str, params: Value) -> Case {
        let params = params.as_object().cloned().unwrap_or_default();
        let steps = vec![Step::Call { method: method.to_owned(), params }];
        Case { subject, intent, prelude: Vec::new(), steps, seed: self.seed, claim: None, measure: None }
    }

    /// The texts that must be borne, with what each is.
    fn hostile(&self) -> impl Iterator<Item = (&'static str, &str)> {
        HOSTILE.into_iter().chain([("long", self.long.as_str())])
    }

    /// Those that are listed, and addresses that nobody listed, which belong to no resource.
    fn resources(&self, catalogue: &Catalogue) -> Vec<Case> {
        let listed = &catalogue.resources.entries;
        if listed.is_empty() && catalogue.templates.entries.is_empty() {
            return Vec::new();
        }
        let read = |subject: Subject, intent: Intent, params: Value| {
            self.case(subject, intent, "resources/read", params)
        };
        let known = listed.iter().take(MAX_ENTRIES).map(|resource| {
            let subject = Subject::Resource(resource.uri.clone());
            read(subject, Intent::Example, json!({ "uri": resource.uri }))
        });
        let near = listed.first().map(|resource| format!("{}-wallfacer-unknown", resource.uri));
        let unknown = near.into_iter().chain(["wallfacer://unknown".into(), "file:///etc/passwd".into()]);
        let unknown = unknown.map(|uri| ("an unknown one", uri));
        let hostile = self.hostile().map(|(kind, text)| (kind, text.to_owned()));
        let strange = unknown.chain(hostile).map(|(kind, uri)| {
            read(Subject::Server, hostile_intent("address of a resource", kind), json!({ "uri": uri }))
        });
        let malformed = [("missing", json!({})), ("a number", json!({ "uri": 5 }))].map(|(kind, params)| {
            read(Subject::Server, hostile_intent("address of a resource", kind), params)
        });
        known.chain(strange).chain(malformed).collect()
    }

    fn template(&self, template: &Template) -> Vec<Case> {
        let values = [("a number", "1"), ("a word", "example")].into_iter().chain(self.hostile());
        values
            .map(|(kind, value)| {
                let uri = filled(&template.uri_template, value);
                let subject = Subject::Resource(template.uri_template.clone());
                let intent = hostile_intent("value of a template", kind);
                self.case(subject, intent, "resources/read", json!({ "uri": uri }))
            })
            .collect()
    }

    fn prompt(&self, prompt: &Prompt) -> Vec<Case> {
        let get = |intent: Intent, arguments: Map<String, Value>| {
            let params = json!({ "name": prompt.name, "arguments": arguments });
            self.case(Subject::Prompt(prompt.name.clone()), intent, "prompts/get", params)
        };
        let all = likely(prompt);
        let mut cases = vec![get(Intent::Example, all.clone())];
        for argument in prompt.arguments.iter().take(MAX_ENTRIES) {
            let with = |value: Option<Value>| {
                let mut arguments = all.clone();
                match value {
                    Some(value) => arguments.insert(argument.name.clone(), value),
                    None => arguments.shift_remove(&argument.name),
                };
                arguments
            };
            let at = format!("argument `{}`", argument.name);
            let without = if argument.required { hostile_intent(&at, "missing") } else { Intent::Example };
            cases.push(get(without, with(None)));
            cases.push(get(hostile_intent(&at, "a number"), with(Some(json!(5)))));
            cases.extend(
                self.hostile()
                    .map(|(kind, text)| get(hostile_intent(&at, kind), with(Some(Value::from(text))))),
            );
        }
        let mut unknown = all;
        unknown.insert("wallfacer_unknown".to_owned(), json!("x"));
        cases.push(get(hostile_intent("arguments", "an unknown one"), unknown));
        cases
    }

    /// The prompt with what the server itself proposes for its arguments.
    fn completed_prompt(&self, prompt: &Prompt) -> Option<Case> {
        let arguments = likely(prompt);
        let reference = json!({ "type": "ref/prompt", "name": prompt.name });
        let kept = arguments
            .iter()
            .take(MAX_COMPLETED)
            .flat_map(|(name, value)| [self.asked_for(&reference, name), kept(name, value.clone())]);
        let prelude: Vec<Step> = kept.collect();
        let params = json!({ "name": prompt.name, "arguments": arguments });
        let case = self.case(Subject::Prompt(prompt.name.clone()), Intent::Example, "prompts/get", params);
        (!prelude.is_empty()).then_some(Case { prelude, ..case })
    }

    /// The resource that the server itself proposes, of a template with one variable.
    fn completed_template(&self, template: &Template) -> Option<Case> {
        let [variable] = variables(&template.uri_template)[..] else { return None };
        let reference = json!({ "type": "ref/resource", "uri": template.uri_template });
        let prelude = vec![self.asked_for(&reference, variable), kept("uri", json!(PLACE_HOLDER))];
        let subject = Subject::Resource(template.uri_template.clone());
        let params = json!({ "uri": filled(&template.uri_template, PLACE_HOLDER) });
        // What is proposed may be the beginning of an address, and nothing of that name be there.
        let intent = hostile_intent("value of a template", "one that the server proposes");
        Some(Case { prelude, ..self.case(subject, intent, "resources/read", params) })
    }

    fn asked_for(&self, reference: &Value, argument: &str) -> Step {
        let params = json!({ "ref": reference, "argument": { "name": argument, "value": "" } });
        let params = params.as_object().cloned().unwrap_or_default();
        Step::Call { method: "completion/complete".to_owned(), params }
    }

    fn completion_of_prompt(&self, prompt: &Prompt) -> Vec<Case> {
        let reference = json!({ "type": "ref/prompt", "name": prompt.name });
        let arguments = prompt.arguments.iter().map(|argument| argument.name.as_str());
        self.completion(&prompt.name, &reference, arguments.collect())
    }

    fn completion_of_template(&self, template: &Template) -> Vec<Case> {
        let reference = json!({ "type": "ref/resource", "uri": template.uri_template });
        self.completion(&template.uri_template, &reference, variables(&template.uri_template))
    }

    fn completion(&self, name: &str, reference: &Value, arguments: Vec<&str>) -> Vec<Case> {
        let complete = |intent: Intent, argument: &str, value: &str| {
            let params = json!({ "ref": reference, "argument": { "name": argument, "value": value } });
            self.case(Subject::Completion(name.to_owned()), intent, "completion/complete", params)
        };
        let mut cases = Vec::new();
        for argument in arguments.into_iter().take(MAX_ENTRIES) {
            cases.push(complete(Intent::Example, argument, "a"));
            let begun = format!("what is begun of `{argument}`");
            cases.extend(
                self.hostile().map(|(kind, text)| complete(hostile_intent(&begun, kind), argument, text)),
            );
        }
        if !cases.is_empty() {
            let intent = hostile_intent("argument", "an unknown one");
            cases.push(complete(intent, "wallfacer_unknown", "a"));
        }
        cases
    }
}

/// The first value of a completion goes where this one stands.
fn kept(into: &str, value: Value) -> Step {
    Step::Keep(Kept { field: "values".to_owned(), nth: 0, into: into.to_owned(), value })
}

/// What the arguments of a prompt may be, by what they are called and how they are described.
fn likely(prompt: &Prompt) -> Map<String, Value> {
    let value = |argument: &PromptArgument| {
        let about = argument.description.as_deref().unwrap_or_default();
        let shown = example::examples(about).into_iter().find(Value::is_string);
        let usual = FieldKind::of(&argument.name, about).and_then(|kind| samples::strings(kind).first());
        shown.or_else(|| usual.map(|text| json!(text))).unwrap_or_else(|| json!("example"))
    };
    prompt.arguments.iter().map(|argument| (argument.name.clone(), value(argument))).collect()
}

fn hostile_intent(what: &str, kind: &str) -> Intent {
    Intent::Adversarial { kind: format!("{what}: {kind}"), valid: false }
}

/// The template with one value for all of its variables.
pub(super) fn filled(template: &str, value: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        match after.split_once('}') {
            Some((_, behind)) => {
                out.push_str(value);
                rest = behind;
            }
            None => return out + "{" + after,
        }
    }
    out + rest
}

/// The names between the braces, without the signs that say how they are written out.
pub(super) fn variables(template: &str) -> Vec<&str> {
    let inside =
        template.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(inside, _)| inside));
    let names =
        inside.flat_map(|inside| inside.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']).split(','));
    names.map(|name| name.trim_end_matches('*').split(':').next().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Entry, Resource};

    fn read<T: Entry>(value: Value) -> T {
        T::read(value.as_object().unwrap()).unwrap()
    }

    fn catalogue() -> Catalogue {
        let mut catalogue = Catalogue::default();
        catalogue.resources.entries.push(read::<Resource>(json!({ "uri": "page://first" })));
        catalogue
            .templates
            .entries
            .push(read::<Template>(json!({ "uriTemplate": "page://{name}/{?q*,r:3}" })));
        let arguments = json!([{ "name": "topic", "required": true }, { "name": "style" }]);
        catalogue.prompts.entries.push(read::<Prompt>(json!({ "name": "summary", "arguments": arguments })));
        catalogue
    }

    #[test]
    fn everything_that_is_offered_is_asked_for_once_as_it_should_be() {
        let cases = offer_cases(&catalogue(), true, 1 << 20, 1);
        let good: Vec<&Subject> =
            cases.iter().filter(|case| case.intent == Intent::Example).map(|case| &case.subject).collect();
        for subject in [
            Subject::Resource("page://first".into()),
            Subject::Prompt("summary".into()),
            Subject::Completion("summary".into()),
        ] {
            assert!(good.contains(&&subject), "{subject:?}");
        }
    }

    #[test]
    fn what_the_server_proposes_is_asked_for_first() {
        let cases = offer_cases(&catalogue(), true, 1 << 20, 1);
        let behind = cases.iter().find(|case| !case.prelude.is_empty()).unwrap();
        assert_eq!(behind.subject, Subject::Prompt("summary".into()));
        let [Step::Call { method, .. }, Step::Keep(kept), ..] = &behind.prelude[..] else {
            panic!("{:?}", behind.prelude)
        };
        assert_eq!((method.as_str(), kept.into.as_str()), ("completion/complete", "topic"));
        let without = offer_cases(&catalogue(), false, 1 << 20, 1);
        assert!(without.iter().all(|case| case.prelude.is_empty()));
    }

    #[test]
    fn an_address_that_nobody_listed_is_a_matter_of_the_server() {
        let cases = offer_cases(&catalogue(), true, 1 << 20, 1);
        let unknown = cases.iter().find(|case| match &case.steps[..] {
            [Step::Call { params, .. }] => params.get("uri") == Some(&json!("wallfacer://unknown")),
            _ => false,
        });
        assert_eq!(unknown.unwrap().subject, Subject::Server);
    }

    #[test]
    fn a_server_that_offers_nothing_is_asked_for_nothing() {
        assert!(offer_cases(&Catalogue::default(), true, 1 << 20, 1).is_empty());
    }

    #[test]
    fn templates_are_filled_and_their_variables_known() {
        assert_eq!(filled("page://{name}/x{?q}", "1"), "page://1/x1");
        assert_eq!(filled("page://{name", "1"), "page://{name");
        assert_eq!(variables("page://{name}/{?q*,r:3}"), ["name", "q", "r"]);
    }
}
