//! Ranks what may be put into the calls of all tools, the likeliest first. Cases are made only when their turn comes, because
//! with many tools most never get one.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::aim::Aim;
use super::base::Known;
use super::cases::{Draft, Rank, Ranked, drafts};
use super::ground::Ground;
use crate::catalogue::Tool;
use crate::plan::case::HEAVY;

/// The most cases of one tool. They come in the order of likelihood, so the rest hardly ever leads anywhere.
const MAX_CASES: usize = 2_000;
/// How many tools are first tried with the same injection into an argument of the same name; the others come later.
const ALIKE: usize = 2;
/// How many waves of payloads are made into cases at the same time.
const WAVES_AT_ONCE: usize = 4;

/// What may be tried with each tool, and how far it has been made into cases.
#[derive(Debug, Clone, Default)]
pub struct InjectionSchedule {
    tools: Vec<ToolSchedule>,
    ground: Option<Ground>,
    seed: u64,
    /// The tools that are tried first with this argument and this way in, with or without a network.
    first: BTreeMap<(String, String, bool), Vec<usize>>,
}

#[derive(Debug, Clone)]
struct ToolSchedule {
    tool: Tool,
    known: Known,
    /// How many drafts there are; at most as many cases are made.
    drafts: usize,
    /// No case that is still to be made has a lower rank; none if no case is left.
    next: Option<Rank>,
    /// How many of those that have their turn now were made already: all of them at once would be too heavy.
    begun: usize,
    /// Hashes of the cases that were made already.
    made: BTreeSet<[u8; 32]>,
}

impl InjectionSchedule {
    pub fn new(
        tools: impl IntoIterator<Item = (Tool, Known)>,
        ground: &Ground,
        seed: u64,
    ) -> InjectionSchedule {
        let mut first: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        let of_tool = |(index, (tool, known)): (usize, (Tool, Known))| {
            let mut count = 0;
            drafts(&tool, &known, ground, |draft| {
                count += 1;
                let tools = first.entry(alike(&draft)).or_default();
                if tools.len() < ALIKE && !tools.contains(&index) {
                    tools.push(index);
                }
            });
            let next = (count > 0).then(Rank::default);
            ToolSchedule { tool, known, drafts: count, next, begun: 0, made: BTreeSet::new() }
        };
        let tools = tools.into_iter().enumerate().map(of_tool).collect();
        InjectionSchedule { tools, ground: Some(ground.clone()), seed, first }
    }

    /// The names of the tools, in their order.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|of| of.tool.name.as_str())
    }

    /// How many cases can be made, at most.
    pub fn most(&self) -> usize {
        self.tools.iter().map(|of| of.drafts.min(MAX_CASES)).sum()
    }

    /// When the next cases of a tool have their turn: none that is still to be made has a lower rank. None if no case is left.
    pub fn next(&self, tool: usize) -> Option<Rank> {
        self.tools[tool].next
    }

    /// Makes the cases that have their turn next, the likeliest first.
    pub fn make(&mut self, tool: usize) -> Vec<Ranked> {
        let of = &self.tools[tool];
        let (Some(turn), Some(ground)) = (of.next.map(turn), &self.ground) else { return Vec::new() };
        let mut ranked = Vec::new();
        let mut next: Option<Rank> = None;
        let (mut begun, mut weight) = (of.begun, 0);
        drafts(&of.tool, &of.known, ground, |draft| {
            let rank = self.rank(tool, &draft);
            match self::turn(rank).cmp(&turn) {
                Ordering::Less => {}
                Ordering::Equal if begun > 0 => begun -= 1,
                Ordering::Equal if weight < HEAVY => {
                    let case = draft.case(&of.tool, &of.known, self.seed);
                    weight += case.weight();
                    ranked.push(Ranked { rank, case });
                }
                Ordering::Equal | Ordering::Greater => next = Some(next.map_or(rank, |next| next.min(rank))),
            }
        });
        ranked.sort_by_key(|ranked| ranked.rank);
        let of = &mut self.tools[tool];
        let goes_on = next.is_some_and(|next| self::turn(next) == turn);
        of.begun = if goes_on { of.begun + ranked.len() } else { 0 };
        ranked.retain(|Ranked { case, .. }| {
            let offline = case.intent.injection().is_some_and(|injection| injection.offline);
            let written = serde_json::to_vec(&(&case.steps, offline)).unwrap_or_default();
            of.made.len() < MAX_CASES && of.made.insert(*blake3::hash(&written).as_bytes())
        });
        of.next = next.filter(|_| of.made.len() < MAX_CASES);
        ranked
    }

    /// An injection that two other tools have first, in an argument of the same name, is put off: such arguments are mostly
    /// handled by the same code. So where many tools take the same arguments, each is first tried with those of its own.
    fn rank(&self, tool: usize, draft: &Draft<'_>) -> Rank {
        let Rank { unlikely, wave, sort } = draft.rank;
        match draft.payload.aim {
            _ if self.first.get(&alike(draft)).is_some_and(|tools| tools.contains(&tool)) => draft.rank,
            Aim::Reach { .. } => Rank { unlikely, wave: wave + 1, sort },
            _ => Rank { unlikely: unlikely.saturating_add(1), wave, sort },
        }
    }
}

/// Cases for which this is equal have their turn at the same time.
fn turn(rank: Rank) -> (u8, usize) {
    (rank.unlikely, rank.wave / WAVES_AT_ONCE)
}

fn alike(draft: &Draft<'_>) -> (String, String, bool) {
    (draft.place.at.clone(), draft.payload.way.clone(), draft.offline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Entry};
    use crate::world::DeclaredBy;
    use serde_json::json;

    fn tool(name: &str) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": { "path": { "type": "string" }, "title": { "type": "string" } },
            "required": ["path"],
        });
        Tool::read(json!({ "name": name, "inputSchema": schema }).as_object().unwrap()).unwrap()
    }

    fn schedule(tools: usize) -> InjectionSchedule {
        let ground =
            Ground::new(&[("/d/r".into(), DeclaredBy::CommandLine)].into(), &Catalogue::default(), 1);
        let known = || Known {
            valid: vec![json!({ "path": "p", "title": "t" })],
            runs_programs: true,
            ..Known::default()
        };
        InjectionSchedule::new(
            (0..tools).map(|number| (tool(&format!("look_{number}")), known())),
            &ground,
            1,
        )
    }

    fn all(schedule: &mut InjectionSchedule, tool: usize) -> Vec<Ranked> {
        std::iter::from_fn(|| schedule.next(tool).map(|_| schedule.make(tool))).flatten().collect()
    }

    #[test]
    fn what_two_tools_had_before_is_put_off_in_the_third() {
        let mut schedule = schedule(3);
        let likeliest = |schedule: &mut InjectionSchedule, tool| {
            let made = schedule.make(tool);
            let commands = made.into_iter().filter(|ranked| {
                let first = ranked.rank.unlikely == 0 && ranked.rank.wave == 0;
                first && ranked.case.intent.injection().is_some_and(|it| it.aim.class() == "command")
            });
            commands.count()
        };
        let counts: Vec<usize> = (0..3).map(|tool| likeliest(&mut schedule, tool)).collect();
        assert!(counts[0] > 0 && counts[1] == counts[0] && counts[2] == 0, "{counts:?}");
    }

    #[test]
    fn what_is_made_bit_by_bit_comes_in_order_once_and_whatever_others_had_before() {
        let mut one_after_another = schedule(3);
        let whole: Vec<Vec<Ranked>> = (0..3).map(|tool| all(&mut one_after_another, tool)).collect();
        for made in &whole {
            assert!(made.len() > 100 && made.windows(2).all(|two| two[0].rank <= two[1].rank));
        }
        let mut in_turns = schedule(3);
        let mut mixed: Vec<Vec<Ranked>> = vec![Vec::new(); 3];
        while (0..3).any(|tool| in_turns.next(tool).is_some()) {
            for tool in [2, 0, 1] {
                mixed[tool].extend(in_turns.make(tool));
            }
        }
        assert_eq!(whole, mixed);
    }

    #[test]
    fn what_is_heavy_is_made_a_part_at_a_time_and_nothing_of_it_is_left_out() {
        let made = |long: usize| -> (usize, BTreeSet<String>) {
            let ground = Ground::new(&BTreeMap::new(), &Catalogue::default(), 1);
            let known =
                Known { valid: vec![json!({ "path": "p", "title": "t".repeat(long) })], ..Known::default() };
            let mut schedule = InjectionSchedule::new([(tool("look"), known)], &ground, 1);
            let (mut turns, mut told) = (0, BTreeSet::new());
            while schedule.next(0).is_some() {
                let made = schedule.make(0);
                let weight: usize = made.iter().map(|ranked| ranked.case.weight()).sum();
                assert!(weight < 2 * HEAVY, "{weight}");
                turns += 1;
                told.extend(made.iter().map(|ranked| format!("{:?}", ranked.case.intent)));
            }
            (turns, told)
        };
        let (few, light) = made(1);
        let (many, heavy) = made(1_000_000);
        assert!(many > few && light.len() > 100, "{many} turns, {few} for {}", light.len());
        assert_eq!(light, heavy);
    }

    #[test]
    fn a_turn_makes_a_small_part_of_what_may_be_tried() {
        let mut schedule = schedule(1);
        let first = schedule.make(0).len();
        assert!(first > 0 && first * 4 < schedule.most(), "{first} of {}", schedule.most());
    }
}
