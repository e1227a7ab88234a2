//! Answers requests as the small server that is played.

use super::names::Names;
use super::offers::Offers;
use super::scene::{Call, Entry, Frame, Scene, Tool, World};
use crate::answer::Answer;
use crate::behaviours;
use crate::message::Failure;
use crate::methods;
use crate::options::Part;
use crate::outlet::Outlet;
use crate::request::Request;
use crate::tools;
use serde_json::{Map, Value, json};
use std::sync::atomic::Ordering;
use wallfacer_fixtures::Renaming;

pub struct Stage {
    scene: Scene,
    /// The tools of the scene, in the same order, as clients see them.
    shown: Vec<Value>,
    flawed: bool,
    names: Names,
    world: World,
}

impl Stage {
    /// # Panics
    /// When the flaw has no scene; a test looks that each has.
    pub fn new(part: &Part) -> Stage {
        let scene = super::find(&part.flaw)
            .or_else(|| behaviours::find(&part.flaw))
            .expect("every flaw of the table has its scene");
        let names = Names(part.rename.map(Renaming::new));
        let declared = |tool: &Tool| match &tool.later {
            Some(later) if !part.fixed => names.tool(later),
            _ => names.tool(&tool.declared),
        };
        let shown = scene.tools.iter().map(declared).collect();
        Stage { scene, shown, flawed: !part.fixed, names, world: World::default() }
    }

    /// Whether a message is dealt with here, before the protocol sees it.
    pub fn intercepts(&self, bytes: &[u8], parsed: &serde_json::Result<Value>, outlet: &dyn Outlet) -> bool {
        let frame = Frame { bytes, parsed, outlet, world: &self.world };
        let done = self.scene.frames.is_some_and(|frames| self.flawed && frames(&frame));
        if self.world.is_silent() {
            outlet.hold();
        }
        done || self.world.is_silent()
    }

    /// There is nothing more to read.
    pub fn end(&self) {
        self.world.end();
    }

    pub fn may_wait(&self, params: &Map<String, Value>) -> bool {
        self.find(params.get("name")).is_some_and(|(_, tool)| tool.waits)
    }

    /// None: the method has nothing to do with what a server offers, and is the same for all.
    pub fn answer(&self, request: &Request) -> Option<Answer> {
        let offers = Offers { trouble: self.scene.offers, flawed: self.flawed, names: &self.names };
        match request.method.as_str() {
            "tools/list" => Some(methods::only_page(request).map(|()| self.list(request)).into()),
            "tools/call" => Some(self.call(request).unwrap_or_else(Answer::Refusal)),
            _ => offers.answer(request),
        }
    }

    fn list(&self, request: &Request) -> Value {
        let listed = self.shown.iter().zip(&self.scene.tools).filter(|(_, tool)| !tool.unlisted);
        let listed = listed.map(|(shown, _)| shown.clone()).collect();
        json!({"tools": tools::as_seen_by(request.client.version, listed)})
    }

    fn find(&self, name: Option<&Value>) -> Option<(&Value, &Tool)> {
        self.shown.iter().zip(&self.scene.tools).find(|(shown, _)| Some(&shown["name"]) == name)
    }

    fn call(&self, request: &Request) -> Result<Answer, Failure> {
        let arguments = Value::Object(request.object("arguments")?);
        let found = self.find(request.params.get("name"));
        let (shown, tool) = found.ok_or_else(|| Failure::params("there is no such tool"))?;
        self.world.calls.fetch_add(1, Ordering::SeqCst);
        if let (true, Some(before_each)) = (self.flawed, self.scene.before_each) {
            before_each(&self.world);
        }
        let entry = if self.flawed { tool.entry } else { Entry::Strict };
        match entry.admit(&shown["inputSchema"], arguments) {
            Ok(arguments) => {
                let arguments = self.names.meant(&tool.declared["inputSchema"], arguments);
                Ok(self.perform(tool, &Call { arguments, request, world: &self.world, names: &self.names }))
            }
            Err(fault) if matches!(entry, Entry::ByCode) => Err(Failure::params(fault)),
            Err(fault) => Ok(tools::refusal(request.client.version, fault).into()),
        }
    }

    fn perform(&self, tool: &Tool, call: &Call) -> Answer {
        self.world.running.fetch_add(1, Ordering::SeqCst);
        let answer = tool.answer(call, self.flawed);
        self.world.running.fetch_sub(1, Ordering::SeqCst);
        answer
    }
}
