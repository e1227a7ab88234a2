//! Makes the cases in which something happens to a server in the middle of its work, from calls that are known to work.

use std::time::Duration;

use serde_json::Value;
use wallfacer_schema::Schema;

use super::form::Form;
use super::schedules::Plans;
use crate::plan::{Case, Disk, Disturbance, Intent, Request, Step, Subject, Trouble};
use crate::session::lab::of_server;

/// Numbers of marks that belong to these cases.
const FIRST: u64 = 3_000_000;
/// The parts of a call's time after which the server is killed.
const MOMENTS: [f64; 3] = [0.3, 0.6, 0.9];
/// A disk is full by the page, so what is written to it must be more than one.
const LONG: usize = 48 << 10;
/// When a call is taken back.
const TAKEN_BACK_MS: u64 = 250;
/// Calls over which it is seen whether anything grows.
const GROWTH_CALLS: u32 = 1_000;

/// A call that takes so long that it can be taken back.
#[derive(Debug, Clone)]
pub struct SlowCall {
    pub tool: String,
    pub arguments: Value,
    pub prelude: Vec<Step>,
}

impl Plans<'_> {
    /// What was acknowledged must be there after the server was killed, also in the middle of a call.
    pub fn survival(&self, pair: (usize, usize), moments: usize) -> Case {
        let (writer, reader) = pair;
        let mut steps = self.stored_twice(writer, reader);
        steps.extend([disturb(Disturbance::Restart { killed: true }), self.read(reader)]);
        for (number, moment) in MOMENTS.into_iter().take(moments).enumerate() {
            let request = self.write(writer, 10 + number as u64);
            let micros = self.forms[writer].took.mul_f64(moment).as_micros() as u64;
            steps.push(disturb(Disturbance::Begin { micros, request }));
            steps.extend([disturb(Disturbance::Restart { killed: true }), self.read(reader)]);
        }
        self.of_tool(writer, steps)
    }

    /// What was acknowledged must be there after the disk has failed, each way by itself.
    pub fn disk(&self, pair: (usize, usize), schema: Option<&Schema>) -> Vec<Case> {
        let (writer, reader) = pair;
        let holding = self.marks_of(writer, 1);
        let failing = holding.iter().flat_map(|holding| {
            let holding = holding.clone();
            [Disk::ReadOnly { holding: holding.clone() }, Disk::Vanished { holding }]
        });
        let mut cases: Vec<Case> =
            failing.map(|disk| self.failing_disk(pair, disk, |request| request)).collect();
        let long = self.long(self.write(writer, 3), &self.forms[writer], schema);
        if let Some(long) = long {
            cases.push(self.failing_disk((writer, reader), Disk::Full, |_| long.clone()));
        }
        cases
    }

    /// What each of two processes was acknowledged must be there after both have ended.
    pub fn second_process(&self, pair: (usize, usize)) -> Case {
        let (writer, reader) = pair;
        let mut steps = self.stored_twice(writer, reader);
        let request = self.write(writer, 40);
        steps.extend([disturb(Disturbance::BesideAsks { request }), called(self.write(writer, 41))]);
        steps.extend([disturb(Disturbance::Restart { killed: false }), self.read(reader)]);
        self.of_tool(writer, steps)
    }

    fn failing_disk(&self, pair: (usize, usize), disk: Disk, change: impl Fn(Request) -> Request) -> Case {
        let (writer, reader) = pair;
        let mut steps = self.stored_twice(writer, reader);
        steps.push(disturb(Disturbance::Disk(disk)));
        steps.push(called(change(self.write(writer, 3))));
        steps.push(disturb(Disturbance::Disk(Disk::Well)));
        steps.extend([disturb(Disturbance::Restart { killed: true }), self.read(reader)]);
        self.of_tool(writer, steps)
    }

    /// Stores something, and shows that the server keeps it when it ends in peace; then something more.
    fn stored_twice(&self, writer: usize, reader: usize) -> Vec<Step> {
        let ended = disturb(Disturbance::Restart { killed: false });
        vec![
            called(self.write(writer, 1)),
            self.read(reader),
            ended,
            self.read(reader),
            called(self.write(writer, 2)),
            self.read(reader),
        ]
    }

    fn write(&self, form: usize, number: u64) -> Request {
        let each = &self.forms[form];
        let sites = self.calibrated.sites[form].map(|set| each.sites[set].clone()).unwrap_or_default();
        let ask = each.marked(0, crate::plan::Part::Write, &sites, self.seed, FIRST + number);
        Request { method: ask.method, params: ask.params }
    }

    fn marks_of(&self, form: usize, number: u64) -> Vec<String> {
        crate::plan::marks_in(&self.write(form, number).params).into_iter().take(1).collect()
    }

    fn read(&self, form: usize) -> Step {
        let each = &self.forms[form];
        called(Request::tool(&each.tool, each.arguments.clone()))
    }

    /// The request with much behind one of its marks; none where no place takes that.
    fn long(&self, request: Request, form: &Form, schema: Option<&Schema>) -> Option<Request> {
        let sites = form.sites.first()?;
        sites.iter().find_map(|site| {
            let mut request = request.clone();
            let arguments = request.params.get_mut("arguments")?;
            let value = arguments.pointer_mut(site)?;
            *value = Value::from(format!("{} {}", value.as_str()?, "x".repeat(LONG)));
            let taken = schema.is_none_or(|schema| schema.violations(arguments).is_empty());
            taken.then_some(request)
        })
    }

    fn of_tool(&self, form: usize, steps: Vec<Step>) -> Case {
        let each = &self.forms[form];
        let subject = Subject::Tool(each.tool.clone());
        Case { subject, prelude: each.prelude.clone(), ..of_server(steps, self.seed) }
    }

    /// A page of another origin calls a tool that stores something.
    pub fn foreign(&self, pair: (usize, usize)) -> Case {
        let (writer, reader) = pair;
        let request = self.write(writer, 20);
        let steps = vec![disturb(Disturbance::Foreign { request }), self.read(reader)];
        Case { prelude: self.forms[writer].prelude.clone(), ..of_server(steps, self.seed) }
    }

    /// A second process of the server is used with the session of the first.
    pub fn elsewhere(&self, pair: (usize, usize)) -> Case {
        let (writer, reader) = pair;
        let request = Request::tool(&self.forms[reader].tool, self.forms[reader].arguments.clone());
        let plant = self.write(writer, 30);
        self.of_tool(writer, vec![disturb(Disturbance::Elsewhere { plant, request })])
    }

    /// A client asks without a session for what another has stored in its own.
    pub fn nameless(&self, pair: (usize, usize)) -> Case {
        let (writer, reader) = pair;
        let request = Request::tool(&self.forms[reader].tool, self.forms[reader].arguments.clone());
        let plant = self.write(writer, 31);
        self.of_tool(writer, vec![disturb(Disturbance::Nameless { plant, request })])
    }

    /// One call of each tool, made in an unusual way.
    pub fn of_each(&self, most: usize, how: fn(Request) -> Disturbance) -> Vec<Case> {
        let case = |place: usize| {
            let request = Request::tool(&self.forms[place].tool, self.forms[place].arguments.clone());
            self.of_tool(place, vec![disturb(how(request)), Step::Probe])
        };
        self.one_of_each().into_iter().take(most).map(case).collect()
    }

    /// One quick call of each tool, again and again.
    pub fn growth(&self, most: usize, quick: Duration) -> Vec<Case> {
        let mut tools: Vec<&str> = Vec::new();
        let mut cases = Vec::new();
        for (place, form) in self.forms.iter().enumerate() {
            let works = self.calibrated.works.get(place).copied().unwrap_or(false);
            let took = self.calibrated.took.get(place).map_or(form.took, |took| form.took.min(*took));
            if !works || took > quick || tools.contains(&form.tool.as_str()) || cases.len() >= most {
                continue;
            }
            tools.push(&form.tool);
            let Request { method, params } = Request::tool(&form.tool, form.arguments.clone());
            cases.push(self.of_tool(place, vec![Step::Many { times: GROWTH_CALLS, method, params }]));
        }
        cases
    }
}

/// A call is taken back while it is under way.
pub fn cancelled(slow: &SlowCall, seed: u64) -> Case {
    let request = Request::tool(&slow.tool, slow.arguments.clone());
    let steps = vec![disturb(Disturbance::Cancel { after_ms: TAKEN_BACK_MS, request }), Step::Probe];
    let subject = Subject::Tool(slow.tool.clone());
    Case { subject, prelude: slow.prelude.clone(), ..of_server(steps, seed) }
}

/// The services that a tool asks fail, in one way each.
pub fn troubled(call: &Case, troubles: &[Trouble]) -> Vec<Case> {
    let with = |trouble: &Trouble| {
        let steps = std::iter::once(disturb(Disturbance::Services(*trouble))).chain(call.steps.clone());
        Case { steps: steps.collect(), intent: Intent::Example, claim: None, ..call.clone() }
    };
    troubles.iter().map(with).collect()
}

pub fn disturb(disturbance: Disturbance) -> Step {
    Step::Disturb(Box::new(disturbance))
}

fn called(request: Request) -> Step {
    Step::Call { method: request.method, params: request.params }
}
