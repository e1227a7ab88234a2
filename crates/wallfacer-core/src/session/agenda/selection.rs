//! Chooses the tools that are called, and says of each other one why it is not.

use crate::catalogue::{Catalogue, Tool};
use crate::plan::held_back;
use crate::session::names::NamePatterns;
use crate::session::options::FuzzOptions;
use crate::shard::Shard;
use crate::summary::NotTested;
use crate::target::Destructive;
use crate::wire::Server;

/// What the user wants to be called.
#[derive(Debug, Clone)]
pub struct Wishes {
    pub include: Option<NamePatterns>,
    pub exclude: Option<NamePatterns>,
    pub max_tools: Option<usize>,
    pub shard: Shard,
    pub destructive: Destructive,
}

impl Wishes {
    /// Whether a tool is among those that somebody wants to hear of.
    pub fn wants(&self, tool: &str) -> bool {
        self.refuses(tool).is_none()
    }

    fn refuses(&self, tool: &str) -> Option<&'static str> {
        let included = self.include.as_ref().is_none_or(|include| include.is_match(tool));
        let excluded = self.exclude.as_ref().is_some_and(|exclude| exclude.is_match(tool));
        match (included, excluded) {
            (false, _) => Some("it is not among --include"),
            (true, true) => Some("it is among --exclude"),
            (true, false) => None,
        }
    }
}

impl From<&FuzzOptions> for Wishes {
    fn from(options: &FuzzOptions) -> Wishes {
        Wishes {
            include: options.include.clone(),
            exclude: options.exclude.clone(),
            max_tools: options.max_tools,
            shard: options.shard,
            destructive: options.destructive.clone(),
        }
    }
}

/// The tools that are called.
#[derive(Debug, Clone)]
pub struct Selection {
    pub tools: Vec<Tool>,
    pub left_out: Vec<NotTested>,
    wishes: Wishes,
}

impl Selection {
    pub fn new(catalogue: &Catalogue, server: &Server, wishes: Wishes) -> Selection {
        let mut left_out = Vec::new();
        let mut tools = Vec::new();
        for tool in &catalogue.tools.entries {
            match why_not(tool, &wishes, server) {
                Some(why) => left_out.push(NotTested { what: tool.name.clone(), why }),
                None => tools.push(tool.clone()),
            }
        }
        for tool in tools.drain(wishes.max_tools.unwrap_or(usize::MAX).min(tools.len())..) {
            left_out.push(NotTested { what: tool.name, why: "it is beyond --max-tools".to_owned() });
        }
        for broken in &catalogue.tools.broken {
            let what = broken.name.clone().unwrap_or_else(|| format!("tool number {}", broken.index + 1));
            left_out.push(NotTested { what, why: broken.why.clone() });
        }
        left_out.extend(NotTested::cut(catalogue));
        Selection { tools, left_out, wishes }
    }

    pub fn may_call(&self, tool: &str) -> bool {
        self.tools.iter().any(|chosen| chosen.name == tool)
    }

    /// Whether a tool is among those that somebody wants to hear of, called or not.
    pub fn wants(&self, tool: &str) -> bool {
        self.wishes.wants(tool)
    }

    /// The part of the plan that is done here.
    pub fn shard(&self) -> Shard {
        self.wishes.shard
    }

    pub fn destructive(&self) -> &Destructive {
        &self.wishes.destructive
    }

    /// A tool is not called after all.
    pub fn do_without(&mut self, tool: &str, why: &str) {
        self.tools.retain(|chosen| chosen.name != tool);
        self.left_out.push(NotTested { what: tool.to_owned(), why: why.to_owned() });
    }
}

/// Why a tool is not called; none where it is.
fn why_not(tool: &Tool, wishes: &Wishes, server: &Server) -> Option<String> {
    if let Some(why) = wishes.refuses(&tool.name) {
        return Some(why.to_owned());
    }
    if server.standing.is_harmless() {
        return None;
    }
    let held = held_back(tool, &wishes.destructive)?;
    Some(format!("{held}, and its effects would be real; [allow_destructive] tools lifts this"))
}
