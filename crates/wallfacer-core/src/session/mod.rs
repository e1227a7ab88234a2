//! Ties the steps together: the only place where what was seen decides what is done next.
//!
//! A run looks at the server once, then lets probes propose jobs, which a laboratory performs on as many servers as there is
//! work for; what they make suspicious is proven meanwhile.

mod names;

mod options;

mod entrust;

mod lab;

mod look;

mod agenda;

mod rehearse;

mod prove;

mod probes;

mod engine;

mod run;

mod commands;

mod examine;

mod stored;

pub use commands::{
    BehaveError, Behaved, CheckOptions, Foreseen, Taught, against, behave, check, differential, foresee,
    fuzz, inject, learn, property, torture,
};
pub use examine::{examine, machine};
pub use names::{NamePatterns, NoSuchTool};
pub use options::{Feedback, FuzzError, FuzzOptions};
pub use probes::behave::{BehaveOptions, Keep};
pub use probes::rules::{PropertyOptions, RuleSet};
pub use probes::torture::{Load, TortureMode};
pub use stored::{Minimised, Replay, Replayed, minimise, replay, usual_budget};
