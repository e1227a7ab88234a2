//! Makes [`Case`](super::Case)s out of valid calls whose success is an effect that nobody can mistake: a program of
//! ours that runs, a file that only a bug would open, an address of ours that is reached.
//!
//! | file | in → out |
//! |---|---|
//! | `ground` | declared directories and a seed → what is planted, and the ways that lead there |
//! | `landmarks` | the same → what rules may name |
//! | `place` | arguments → the strings in them, and what each is for |
//! | `demand` | a refusal → the arguments that it asks for |
//! | `job` | a tool → what it is for |
//! | `base` | a tool and its valid calls → calls that lead far into it |
//! | `payload` | a place and the ground → what is put there, and what it is after |
//! | `code` | the same, for what is evaluated |
//! | `growth` | the same, for what takes more and more time or memory |
//! | `archive` | a size → a small archive that unpacks to it |
//! | `cases` | all of these → one payload in one place of one call, its rank, and the case for it |
//! | `schedule` | all tools → cases, the likeliest first, made when their turn comes |
//! | `hidden` | what is listed, and said → names that may be there, too |
//! | `offer` | resources and prompts → cases |
//! | `met` | what was seen to work → what need not be tried any more |
//! | `aim` | what one case is after: how its effect is known |

mod aim;
mod archive;
mod base;
mod cases;
mod code;
mod demand;
mod ground;
mod growth;
mod hidden;
mod job;
mod landmarks;
mod met;
mod offer;
mod payload;
mod place;
mod schedule;

pub use aim::{Aim, Escape, Injection};
pub use base::{Known, chosen as function};
pub use cases::{Rank, Ranked};
pub use demand::demanded;
pub use ground::Ground;
pub use hidden::{guesses, is_told_to_only_read, taken_away, unrestricted};
pub use job::{Job, is_about_files};
pub use landmarks::Landmarks;
pub use met::Met;
pub use offer::offer_injections;
pub use place::{Purpose, places};
pub use schedule::InjectionSchedule;
