//! Answers one message. The same for every transport.

use crate::answer::Answer;
use crate::message::{self, Failure};
use crate::options::Options;
use crate::outlet::Outlet;
use crate::request::Request;
use crate::scenes::Stage;
use crate::session::{Session, lock};
use crate::{flaws, greeting, methods, tools};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use std::thread;

pub struct Server {
    pub options: Options,
    /// What takes the place of the reply to `echo`.
    flawed: Option<flaws::reply::Reply>,
    /// A server of the second table, which is asked first.
    stage: Option<Stage>,
}

impl Server {
    pub fn new(options: Options) -> Server {
        let flawed = flaws::reply::of(&options.mode);
        let stage = options.part.as_ref().map(Stage::new);
        Server { options, flawed, stage }
    }

    pub fn receive(self: &Arc<Self>, bytes: &[u8], session: &Arc<Session>, outlet: &Arc<dyn Outlet>) {
        let parsed = serde_json::from_slice(bytes);
        if self.stage.as_ref().is_some_and(|stage| stage.intercepts(bytes, &parsed, outlet.as_ref())) {
            return;
        }
        match parsed {
            Ok(Value::Array(batch)) => self.batch(batch, session, outlet),
            Ok(message) => self.message(message, session, outlet),
            Err(_) => refuse(&Value::Null, message::PARSE_ERROR, "this is not JSON", outlet.as_ref()),
        }
    }

    /// There is nothing more to read.
    pub fn end(&self) {
        self.stage.iter().for_each(Stage::end);
    }

    fn batch(self: &Arc<Self>, batch: Vec<Value>, session: &Arc<Session>, outlet: &Arc<dyn Outlet>) {
        if batch.is_empty() || !session.client().is_some_and(|client| client.version.has_batches()) {
            return refuse(&Value::Null, message::INVALID_REQUEST, "batches are not taken", outlet.as_ref());
        }
        let (server, session, outlet) = (Arc::clone(self), Arc::clone(session), Arc::clone(outlet));
        let shared = outlet.is_shared();
        let work = move || server.work_off(batch, &session, &outlet);
        match shared {
            true => drop(thread::spawn(work)),
            false => work(),
        }
    }

    fn work_off(self: &Arc<Self>, batch: Vec<Value>, session: &Arc<Session>, outlet: &Arc<dyn Outlet>) {
        let collected = Arc::new(Collected { answers: Mutex::default(), outer: Arc::clone(outlet) });
        let into: Arc<dyn Outlet> = collected.clone();
        for message in batch {
            self.message(message, session, &into);
        }
        let answers = std::mem::take(&mut *lock(&collected.answers));
        if !answers.is_empty() {
            outlet.send(&Value::from(answers));
        }
    }

    fn message(self: &Arc<Self>, message: Value, session: &Arc<Session>, outlet: &Arc<dyn Outlet>) {
        let Value::Object(mut members) = message else {
            return refuse(&Value::Null, message::INVALID_REQUEST, "this is no object", outlet.as_ref());
        };
        let id = members.remove("id");
        let params = members.remove("params");
        match (members.remove("method"), id) {
            _ if members.get("jsonrpc") != Some(&json!("2.0")) => {
                refuse(&Value::Null, message::INVALID_REQUEST, "`jsonrpc` must be \"2.0\"", outlet.as_ref());
            }
            (Some(Value::String(method)), Some(id)) if is_id(&id) => {
                self.request(id, method, params, session, outlet);
            }
            (Some(Value::String(method)), None) => notified(&method, params.as_ref(), session),
            (None, Some(id)) if members.contains_key("result") || members.contains_key("error") => {
                session.answered(&id, Value::Object(members));
            }
            _ => refuse(&Value::Null, message::INVALID_REQUEST, "this is no request", outlet.as_ref()),
        }
    }

    fn request(
        self: &Arc<Self>,
        id: Value,
        method: String,
        params: Option<Value>,
        session: &Arc<Session>,
        outlet: &Arc<dyn Outlet>,
    ) {
        let mode = &self.options.mode;
        flaws::start::delay(mode, self.options.delay);
        if flaws::start::ignores(mode, &method, outlet.as_ref()) {
            return;
        }
        let params = match params {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => {
                return refuse(&id, message::INVALID_PARAMS, "`params` must be an object", outlet.as_ref());
            }
        };
        let client = match greeting::client(self.options.era, &method, &params, session) {
            Ok(client) => client,
            Err(failure) => return outlet.send(&message::error(&id, &failure)),
        };
        let waits = method == "tools/call"
            && match &self.stage {
                Some(stage) => stage.may_wait(&params),
                None => tools::may_wait(&params, client.version) || flaws::reply::waits(&self.options.mode),
            };
        let cancellation = match waits {
            true => session.start(&id),
            false => Some(Arc::default()),
        };
        let Some(cancellation) = cancellation else {
            return refuse(&id, message::INVALID_REQUEST, "too many calls are running", outlet.as_ref());
        };
        let request = Request {
            id,
            method,
            params,
            client,
            session: Arc::clone(session),
            outlet: Arc::clone(outlet),
            cancellation,
        };
        if waits && outlet.is_shared() {
            let server = Arc::clone(self);
            thread::spawn(move || server.serve(&request));
        } else {
            self.serve(&request);
        }
    }

    fn serve(&self, request: &Request) {
        let staged = self.stage.as_ref().and_then(|stage| stage.answer(request));
        let answer = staged.unwrap_or_else(|| self.answer(request));
        request.session.finish(&request.id);
        let reply = |result| message::result(&request.id, &methods::dressed(result, request));
        match answer {
            Answer::Result(result) => request.outlet.send(&reply(result)),
            Answer::Refusal(failure) => request.outlet.send(&message::error(&request.id, &failure)),
            Answer::Instead(result, send) => send(request, reply(result)),
            Answer::Never => request.outlet.hold(),
            Answer::Withdrawn => {}
        }
    }

    fn answer(&self, request: &Request) -> Answer {
        match (methods::answer(&self.options.mode, request), self.flawed.filter(|_| is_echo(request))) {
            (Some(Ok(result)), Some(flawed)) => Answer::Instead(result, flawed),
            (Some(Ok(result)), None) => Answer::Result(result),
            (Some(Err(failure)), _) => Answer::Refusal(failure),
            (None, _) => Answer::Withdrawn,
        }
    }
}

/// The answers to the members of a batch, which go out as one; all else goes out at once.
struct Collected {
    answers: Mutex<Vec<Value>>,
    outer: Arc<dyn Outlet>,
}

impl Outlet for Collected {
    fn line(&self, bytes: &[u8]) {
        self.outer.line(bytes);
    }

    fn dribble(&self, bytes: &[u8]) {
        self.outer.dribble(bytes);
    }

    fn send(&self, message: &Value) {
        match message.get("method") {
            Some(_) => self.outer.send(message),
            None => lock(&self.answers).push(message.clone()),
        }
    }

    fn is_open(&self) -> bool {
        self.outer.is_open()
    }
}

fn refuse(id: &Value, code: i64, why: &str, outlet: &dyn Outlet) {
    outlet.send(&message::error(id, &Failure::new(code, why)));
}

fn is_echo(request: &Request) -> bool {
    request.method == "tools/call" && request.params.get("name").is_some_and(|name| name == "echo")
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

fn notified(method: &str, params: Option<&Value>, session: &Session) {
    if method == "notifications/cancelled"
        && let Some(id) = params.and_then(|params| params.get("requestId"))
    {
        session.cancel(id);
    }
}
