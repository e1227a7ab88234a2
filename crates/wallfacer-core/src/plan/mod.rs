//! Decides what to try on a [`Catalogue`](crate::catalogue::Catalogue): [`Case`]s, in which order, and why.

mod case;
mod claim;
mod declared;
mod described;
mod disturbance;
mod example;
mod extent;
mod failure;
mod field;
mod first_calls;
mod foothold;
mod form;
mod frame;
mod groups;
mod guard;
mod harvest;
mod injection;
mod input;
mod knowledge;
mod lesson;
mod measure;
mod member;
mod mutation;
mod offers;
mod payload;
mod planner;
mod prelude;
mod producer;
mod protocol;
mod refusal;
mod rule;
mod schedule;
mod tool_plan;

pub use case::{Case, Intent, Kept, Step, Subject, rows};
pub use claim::{Claim, Law};
pub use declared::{Closed, Declared};
pub use disturbance::{Disk, Disturbance, Request, Trouble};
pub use extent::{DEEP, LARGE, depth, is_extreme, params_size};
pub use failure::failure_in_words;
pub use first_calls::FirstCalls;
pub use foothold::Footholds;
pub use frame::RawFrame;
pub use guard::{held_back, takes_away};
pub use harvest::harvest;
pub use injection::{
    Aim, Escape, Ground, Injection, InjectionSchedule, Job, Known, Landmarks, Met, Purpose, Rank, Ranked,
    demanded, function, guesses, is_about_files, is_told_to_only_read, offer_injections, places, taken_away,
    unrestricted,
};
pub use input::{Input, Inputs};
pub use lesson::{Lesson, Teaching, as_type_of, said};
pub use measure::{Carrier, Measure};
pub use offers::offer_cases;
pub use payload::{compact, expand};
pub use planner::{Mode, Options, Phase, Planner, Round};
pub use prelude::unready;
pub use protocol::protocol_cases;
pub use rule::{
    NotMade, RulePlan, common_arguments, put_over, rule_cases, sequence_case, static_case, with_arguments,
};
pub use schedule::{Ask, Part, Question, Schedule, mark, marks_in, replace};
pub use wallfacer_text::lexicon::words;
