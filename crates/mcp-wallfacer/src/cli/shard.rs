//! Which part of a plan this machine does: `--shard 2/8`, or what the scheduler says that started us.

use clap::Args;
use wallfacer_core::shard::Shard;
use wallfacer_core::summary::Part;

use crate::environment;
use crate::exit::{Exit, Failure};

/// More parts than this are smaller than a start of the server.
const MOST: u32 = 10_000;
/// The number of parts, for schedulers that tell only which part it is.
const COUNT: &str = "WALLFACER_SHARDS";

#[derive(Debug, Clone, Args)]
pub struct ShardArgs {
    /// Do one part of the plan, as 2/8, and leave the others to other machines; `auto` takes both numbers from Kubernetes, GitLab or Slurm
    #[arg(long, value_name = "I/N", value_parser = Wanted::read, help_heading = "Effort")]
    shard: Option<Wanted>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Part(Shard),
    Auto,
}

impl Wanted {
    fn read(text: &str) -> Result<Wanted, String> {
        if text == "auto" {
            return Ok(Wanted::Auto);
        }
        let numbers = text.split_once('/').and_then(|(index, count)| Some((number(index)?, number(count)?)));
        let wrong = || format!("`{text}` is no part of a whole; write 1/4 for the first of four, or auto");
        numbers.and_then(|(index, count)| part(index, count)).map(Wanted::Part).ok_or_else(wrong)
    }
}

impl ShardArgs {
    /// The part that is meant; all of the plan where nobody says otherwise.
    pub fn shard(&self) -> Result<Shard, Failure> {
        match self.shard {
            None => Ok(Shard::WHOLE),
            Some(Wanted::Part(shard)) => Ok(shard),
            Some(Wanted::Auto) => {
                of_scheduler(&environment::variable).map_err(|message| Failure { exit: Exit::Usage, message })
            }
        }
    }

    /// The same with what all parts must have in common; none where nothing is divided.
    pub fn part(&self, asked: &str) -> Result<Option<Part>, Failure> {
        self.shard.map(|_| self.shard().map(|shard| Part::new(shard, asked))).transpose()
    }
}

/// What a scheduler says in variables.
fn of_scheduler(variable: &dyn Fn(&str) -> Option<String>) -> Result<Shard, String> {
    let read = |name: &str| variable(name).and_then(|text| number(&text));
    let (index, count, names) = if let Some(index) = read("JOB_COMPLETION_INDEX") {
        (Some(index + 1), read(COUNT), format!("JOB_COMPLETION_INDEX and {COUNT}"))
    } else if let Some(id) = read("SLURM_ARRAY_TASK_ID") {
        let first = read("SLURM_ARRAY_TASK_MIN").unwrap_or(1);
        let index = id.checked_sub(first).map(|index| index + 1);
        (index, read("SLURM_ARRAY_TASK_COUNT"), "SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT".to_owned())
    } else if let Some(index) = read("CI_NODE_INDEX") {
        (Some(index), read("CI_NODE_TOTAL"), "CI_NODE_INDEX and CI_NODE_TOTAL".to_owned())
    } else {
        return Err(format!(
            "--shard auto finds no scheduler: none of JOB_COMPLETION_INDEX (Kubernetes), SLURM_ARRAY_TASK_ID and \
             CI_NODE_INDEX (GitLab) is set; write --shard I/N{}",
            if variable(COUNT).is_some() { "" } else { ", or set them" }
        ));
    };
    let found = index.zip(count).and_then(|(index, count)| part(index, count));
    found.ok_or_else(|| format!("--shard auto cannot tell the part and the number of parts from {names}"))
}

fn number(text: &str) -> Option<u32> {
    text.trim().parse().ok().filter(|number| *number <= MOST)
}

fn part(index: u32, count: u32) -> Option<Shard> {
    (1 <= index && index <= count).then_some(Shard { index, count })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(variables: &[(&str, &str)]) -> Result<Shard, String> {
        of_scheduler(&|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn each_scheduler_counts_in_its_own_way() {
        let second = Ok(Shard { index: 2, count: 8 });
        assert_eq!(by(&[("JOB_COMPLETION_INDEX", "1"), ("WALLFACER_SHARDS", "8")]), second);
        assert_eq!(by(&[("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "8")]), second);
        let slurm =
            [("SLURM_ARRAY_TASK_COUNT", "8"), ("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_MIN", "0")];
        assert_eq!(by(&slurm), second);
        assert_eq!(by(&[("SLURM_ARRAY_TASK_COUNT", "8"), ("SLURM_ARRAY_TASK_ID", "2")]), second);
    }

    #[test]
    fn what_no_scheduler_says_is_asked_for() {
        assert!(by(&[]).unwrap_err().starts_with("--shard auto finds no scheduler"));
        assert!(
            by(&[("JOB_COMPLETION_INDEX", "1")])
                .unwrap_err()
                .ends_with("JOB_COMPLETION_INDEX and WALLFACER_SHARDS")
        );
        assert!(by(&[("CI_NODE_INDEX", "9"), ("CI_NODE_TOTAL", "8")]).is_err());
    }

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!(Wanted::read("8/8"), Ok(Wanted::Part(Shard { index: 8, count: 8 })));
        for text in ["0/8", "9/8", "1", "1/0", "a/b", "1/99999"] {
            assert!(Wanted::read(text).is_err(), "{text}");
        }
    }
}
