//! Finds out whether a request is only too large or too deep for a server, whatever it asks for.

use std::fmt;

use serde_json::{Map, Value};

use crate::plan::{Case, Intent, Step, Subject, depth, params_size};
use crate::target::Era;

/// The names of requests that are nothing but large or deep, and what makes them so.
const LARGE_REQUEST: &str = "large request";
const DEEP_REQUEST: &str = "deep request";
const PADDING: &str = "padding";

/// What a reader may have too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    /// Bytes of its parameters.
    Large(usize),
    /// Levels that its parameters are nested.
    Deep(usize),
}

impl Extreme {
    pub fn measure(self) -> usize {
        match self {
            Extreme::Large(measure) | Extreme::Deep(measure) => measure,
        }
    }

    pub fn halved(self) -> Extreme {
        match self {
            Extreme::Large(bytes) => Extreme::Large(bytes / 2),
            Extreme::Deep(levels) => Extreme::Deep(levels / 2),
        }
    }

    /// A request that asks for nothing, and is as extreme.
    pub fn request(self, era: Era, seed: u64) -> Case {
        let method = match era {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        };
        let (name, padding) = match self {
            Extreme::Large(bytes) => (LARGE_REQUEST, Value::from("x".repeat(bytes))),
            Extreme::Deep(levels) => {
                (DEEP_REQUEST, (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner])))
            }
        };
        let params = Map::from_iter([(PADDING.to_owned(), padding)]);
        let steps = vec![Step::Call { method: method.to_owned(), params }];
        let intent = Intent::Frame(name.to_owned());
        Case {
            subject: Subject::Server,
            intent,
            prelude: Vec::new(),
            steps,
            seed,
            claim: None,
            measure: None,
        }
    }
}

impl Extreme {
    /// How extreme a request is that asks for nothing; none where it asks for something.
    pub fn of_request(case: &Case) -> Option<Extreme> {
        let (_, params) = case.single_call()?;
        match &case.intent {
            Intent::Frame(name) if name == LARGE_REQUEST => {
                Some(Extreme::Large(params.get(PADDING)?.as_str()?.len()))
            }
            // The place of the padding is a level of its own.
            Intent::Frame(name) if name == DEEP_REQUEST => Some(Extreme::Deep(depth(params) - 1)),
            _ => None,
        }
    }

    /// Whether a request is as extreme, whatever it asks for.
    pub fn is_reached_by(self, case: &Case) -> bool {
        case.single_call().is_some_and(|(_, params)| match self {
            Extreme::Large(bytes) => params_size(params) >= bytes,
            Extreme::Deep(levels) => depth(params) >= levels,
        })
    }
}

impl fmt::Display for Extreme {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extreme::Large(bytes) => write!(out, "{bytes} bytes"),
            Extreme::Deep(levels) => write!(out, "{levels} nested levels"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_is_as_deep_as_it_was_measured() {
        let case = Extreme::Deep(200).request(Era::Legacy, 0);
        let (_, params) = case.single_call().unwrap();
        assert_eq!(depth(params), 201);
    }

    #[test]
    fn a_request_that_asks_for_nothing_is_known_by_what_it_is_too_much_of() {
        for extreme in [Extreme::Large(5_000), Extreme::Deep(200)] {
            let case = extreme.request(Era::Modern, 0);
            assert_eq!(Extreme::of_request(&case), Some(extreme));
            assert!(extreme.is_reached_by(&case));
            assert!(extreme.halved().is_reached_by(&case));
            assert!(!extreme.is_reached_by(&extreme.halved().request(Era::Modern, 0)));
        }
    }

    #[test]
    fn depth_counts_the_longest_way_down() {
        let params = json!({ "a": 1, "b": { "c": [[2]] } });
        assert_eq!(depth(params.as_object().unwrap()), 4);
    }
}
