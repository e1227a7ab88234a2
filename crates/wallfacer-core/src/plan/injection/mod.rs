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
//! | `archive` | a size → a small archive that unpacks to it |
//! | `cases` | all of these → cases, the likeliest first |
//! | `met` | what was seen to work → what need not be tried any more |
//! | `aim` | what one case is after: how its effect is known |

mod aim;
mod archive;
mod base;
mod cases;
mod demand;
mod ground;
mod job;
mod landmarks;
mod met;
mod payload;
mod place;

pub use aim::{Aim, Escape, Injection};
pub use base::Known;
pub use cases::{Ranked, injection_cases};
pub use demand::demanded;
pub use ground::Ground;
pub use job::{Job, is_about_files};
pub use landmarks::Landmarks;
pub use met::Met;
pub use place::{Purpose, places};
