//! What is left to try, the likeliest first, whichever tool it belongs to.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::worlds::world;
use crate::plan::{Case, InjectionSchedule, Rank, Ranked};
use crate::session::lab::World;

/// What is left to try, in one line for each tool or other subject.
#[derive(Debug, Default)]
pub struct Queue {
    lines: Vec<Line>,
    schedule: InjectionSchedule,
    /// Directories that came to count as declared after the cases were planned.
    stated: BTreeSet<PathBuf>,
}

#[derive(Debug)]
struct Line {
    name: String,
    ready: VecDeque<Ranked>,
    /// Its place among the schedule, whose cases follow those that are ready; none for a subject that is no tool.
    tool: Option<usize>,
    begun: bool,
}

impl Line {
    fn new(name: &str, tool: Option<usize>) -> Line {
        Line { name: name.to_owned(), ready: VecDeque::new(), tool, begun: false }
    }

    fn next(&self, schedule: &InjectionSchedule) -> Option<Rank> {
        self.ready.front().map(|ranked| ranked.rank).or_else(|| schedule.next(self.tool?))
    }
}

impl Queue {
    /// A queue of all cases that can be made of the schedule, and of these others.
    pub fn new(schedule: InjectionSchedule, mut others: Vec<Ranked>) -> Queue {
        let lines = schedule.tools().enumerate().map(|(tool, name)| Line::new(name, Some(tool)));
        let mut queue = Queue { lines: lines.collect(), schedule, stated: BTreeSet::new() };
        others.sort_by_key(|ranked| ranked.rank);
        others.into_iter().for_each(|ranked| queue.add(ranked));
        queue
    }

    /// Adds a case behind those of its tool that are ready.
    pub fn add(&mut self, ranked: Ranked) {
        self.line(super::tool(&ranked.case)).ready.push_back(ranked);
    }

    /// Puts a case before the others of its tool: it was handed out and not tried, or is known late.
    pub fn put_back(&mut self, ranked: Ranked) {
        self.line(super::tool(&ranked.case)).ready.push_front(ranked);
    }

    fn line(&mut self, name: &str) -> &mut Line {
        let place = self.lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            self.lines.push(Line::new(name, None));
            self.lines.len() - 1
        });
        &mut self.lines[place]
    }

    /// Drops a tool: nothing more is tried with it.
    pub fn leave(&mut self, name: &str) {
        self.lines.retain(|line| line.name != name);
    }

    pub fn clear(&mut self) {
        self.lines.clear();
    }

    /// Makes a directory count as declared: from now on, leading out of it counts.
    pub fn declare(&mut self, stated: &Path) {
        let ready = self.lines.iter_mut().flat_map(|line| &mut line.ready);
        ready.for_each(|ranked| ranked.case.intent.declare(stated));
        self.stated.insert(stated.to_owned());
    }

    /// How many cases are left, at most.
    pub fn most(&self) -> usize {
        self.schedule.most() + self.lines.iter().map(|line| line.ready.len()).sum::<usize>()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| line.next(&self.schedule).is_none())
    }

    /// Tools of which nothing was tried.
    pub fn untouched(&self) -> impl Iterator<Item = &str> {
        let left = |line: &&Line| !line.begun && line.next(&self.schedule).is_some();
        self.lines.iter().filter(left).filter(|line| line.tool.is_some()).map(|line| line.name.as_str())
    }

    /// Takes the likeliest cases that are left: all of one tool, one world and the same likelihood, at most as many as `most`
    /// says for the tool. Cases for which `is_worth` is false tell nothing new, and are dropped.
    pub fn next(
        &mut self,
        busy: &BTreeSet<&str>,
        is_worth: impl Fn(&Case) -> bool,
        most: impl Fn(&str) -> usize,
    ) -> Option<(World, Vec<Ranked>)> {
        loop {
            let free = self.lines.iter_mut().enumerate();
            let free = free.filter(|(_, line)| !busy.contains(line.name.as_str()));
            let ranks = free.filter_map(|(place, line)| {
                while line.ready.front().is_some_and(|ranked| !is_worth(&ranked.case)) {
                    line.ready.pop_front();
                }
                Some((line.next(&self.schedule)?, place))
            });
            let (_, place) = ranks.min()?;
            let line = &mut self.lines[place];
            let Some(Ranked { rank, case }) = line.ready.front() else {
                let mut made = line.tool.map(|tool| self.schedule.make(tool)).unwrap_or_default();
                let stated = &self.stated;
                made.iter_mut().for_each(|ranked| {
                    stated.iter().for_each(|stated| ranked.case.intent.declare(stated));
                });
                line.ready.extend(made);
                continue;
            };
            let (rank, world) = (*rank, world(case));
            let most = most(&line.name);
            let mut taken = Vec::new();
            let worth = std::mem::take(&mut line.ready).into_iter().filter(|ranked| is_worth(&ranked.case));
            for ranked in worth {
                // The likeliest cases of all tools come before the rest of any.
                let near = (ranked.rank.unlikely, ranked.rank.wave) == (rank.unlikely, rank.wave);
                match taken.len() < most && near && self::world(&ranked.case) == world {
                    true => taken.push(ranked),
                    false => line.ready.push_back(ranked),
                }
            }
            line.begun = true;
            return Some((world, taken));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::catalogue::{Catalogue, Entry, Tool};
    use crate::plan::{Aim, Ground, Known};
    use crate::world::DeclaredBy;

    fn queue(by: DeclaredBy) -> Queue {
        let scopes = BTreeMap::from([("/d/r".into(), by)]);
        let ground = Ground::new(&scopes, &Catalogue::default(), 1);
        let tool = |name: &str, argument: &str| {
            let properties = json!({ argument: { "type": "string" } });
            let schema = json!({ "type": "object", "properties": properties, "required": [argument] });
            let tool = Tool::read(json!({ "name": name, "inputSchema": schema }).as_object().unwrap());
            let valid = vec![json!({ argument: "x" })];
            (tool.unwrap(), Known { valid, ..Known::default() })
        };
        // Injections into a count that is declared as a string hardly ever lead anywhere.
        let tools = [tool("count", "count"), tool("open", "path"), tool("look", "file_path")];
        Queue::new(InjectionSchedule::new(tools, &ground, 1), Vec::new())
    }

    fn ranks(taken: &[Ranked]) -> Vec<(String, Rank)> {
        taken.iter().map(|ranked| (super::super::tool(&ranked.case).to_owned(), ranked.rank)).collect()
    }

    #[test]
    fn the_likeliest_of_all_tools_comes_before_the_rest_of_any() {
        let mut queue = queue(DeclaredBy::CommandLine);
        let mut order = Vec::new();
        while let Some((_, taken)) = queue.next(&BTreeSet::new(), |_| true, |_| 16) {
            order.extend(ranks(&taken));
        }
        assert!(queue.is_empty());
        let turns: Vec<(u8, usize)> = order.iter().map(|(_, rank)| (rank.unlikely, rank.wave)).collect();
        assert!(turns.is_sorted(), "{turns:?}");
        let first: BTreeSet<&str> =
            order.iter().filter(|(_, rank)| rank.unlikely == 0).map(|(name, _)| name.as_str()).collect();
        assert!(first.contains("open") && first.contains("look"), "{first:?}");
    }

    #[test]
    fn a_short_run_tries_the_beginning_of_what_a_long_one_tries() {
        let run = |jobs: usize| -> Vec<Case> {
            let mut queue = queue(DeclaredBy::CommandLine);
            let mut taken = Vec::new();
            while let Some((_, next)) = queue.next(&BTreeSet::new(), |_| true, |_| 16)
                && taken.len() < jobs
            {
                taken.push(next);
            }
            taken.into_iter().flatten().map(|ranked| ranked.case).collect()
        };
        let (short, long) = (run(3), run(30));
        assert!(short.len() < long.len() && long.starts_with(&short));
    }

    #[test]
    fn a_tool_that_is_busy_or_left_has_no_turn() {
        let mut queue = queue(DeclaredBy::CommandLine);
        let (_, first) = queue.next(&BTreeSet::new(), |_| true, |_| 1).unwrap();
        let name = super::super::tool(&first[0].case).to_owned();
        let (_, other) = queue.next(&BTreeSet::from([name.as_str()]), |_| true, |_| 1).unwrap();
        assert_ne!(super::super::tool(&other[0].case), name);
        queue.put_back(first[0].clone());
        let (_, again) = queue.next(&BTreeSet::new(), |_| true, |_| 1).unwrap();
        assert_eq!(again, first);
        queue.leave(&name);
        while let Some((_, taken)) = queue.next(&BTreeSet::new(), |_| true, |_| 16) {
            assert_ne!(super::super::tool(&taken[0].case), name);
        }
    }

    #[test]
    fn what_the_server_says_meanwhile_counts_for_cases_that_are_not_made_yet() {
        let mut queue = queue(DeclaredBy::WorkingDirectory);
        queue.declare(Path::new("/d/r"));
        let mut reaches = 0;
        while let Some((_, taken)) = queue.next(&BTreeSet::new(), |_| true, |_| 16) {
            for ranked in taken {
                if let Aim::Reach { declared, .. } = &ranked.case.intent.injection().unwrap().aim {
                    assert!(declared);
                    reaches += 1;
                }
            }
        }
        assert!(reaches > 0);
    }
}
