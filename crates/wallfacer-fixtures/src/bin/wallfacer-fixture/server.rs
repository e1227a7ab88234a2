//! The bytes of one message in, its answer on the outlet out. The same for every transport.

use crate::message::{self, Failure};
use crate::options::{Era, Options};
use crate::outlet::Outlet;
use crate::request::Request;
use crate::session::{Client, Level, Session, lock};
use crate::version::Version;
use crate::{flaws, prompts, resources, tools};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use std::thread;

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Small enough that the list of tools takes two pages.
const TOOLS_ON_A_PAGE: usize = 8;
const SECOND_PAGE: &str = "tools-from-9";

pub struct Server {
    pub options: Options,
    /// What takes the place of the reply to `echo`.
    flawed: Option<flaws::reply::Reply>,
}

impl Server {
    pub fn new(options: Options) -> Server {
        let flawed = flaws::reply::of(&options.mode);
        Server { options, flawed }
    }

    pub fn receive(self: &Arc<Self>, bytes: &[u8], session: &Arc<Session>, outlet: &Arc<dyn Outlet>) {
        match serde_json::from_slice(bytes) {
            Ok(Value::Array(batch)) => self.batch(batch, session, outlet),
            Ok(message) => self.message(message, session, outlet),
            Err(_) => refuse(&Value::Null, message::PARSE_ERROR, "this is not JSON", outlet.as_ref()),
        }
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
        let client = match self.client(&method, &params, session) {
            Ok(client) => client,
            Err(failure) => return outlet.send(&message::error(&id, &failure)),
        };
        let waits = method == "tools/call"
            && (tools::may_wait(&params, client.version) || flaws::reply::waits(&self.options.mode));
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
        let answer = self.answer(request);
        request.session.finish(&request.id);
        match answer {
            Some(Ok(result)) => {
                let reply = message::result(&request.id, &dressed(result, request));
                match self.flawed.filter(|_| is_echo(request)) {
                    Some(flawed) => flawed(request, reply),
                    None => request.outlet.send(&reply),
                }
            }
            Some(Err(failure)) => request.outlet.send(&message::error(&request.id, &failure)),
            None => {}
        }
    }

    /// None: there is nothing to answer any more.
    fn answer(&self, request: &Request) -> Option<Result<Value, Failure>> {
        let modern = request.client.version.is_modern();
        let answer = match request.method.as_str() {
            "server/discover" if modern => Ok(discover(&request.client)),
            "initialize" if !modern => initialize(request),
            "ping" if !modern => Ok(json!({})),
            "logging/setLevel" if !modern => set_level(request),
            "tools/list" => list_tools(request),
            "tools/call" => return tools::call(request),
            "resources/list" => only_page(request).map(|()| resources::list()),
            "resources/templates/list" => only_page(request).map(|()| resources::templates()),
            "resources/read" => resources::read(request),
            "prompts/list" => only_page(request).map(|()| prompts::list()),
            "prompts/get" => prompts::get(request),
            "completion/complete" => prompts::complete(request),
            _ => Err(unknown(&request.method)),
        };
        Some(flaws::claims::alter(&self.options.mode, request, answer))
    }

    /// Who is asking, by the rules of the era that the request belongs to.
    fn client(
        &self,
        method: &str,
        params: &Map<String, Value>,
        session: &Session,
    ) -> Result<Client, Failure> {
        let era = self.options.era;
        let modern = session.is_stateless() || method == "server/discover" || claims_modern(params);
        if modern && era != Era::Legacy {
            return modern_client(params);
        }
        match (session.client(), method) {
            (Some(client), _) => Ok(client),
            (None, "initialize") if era == Era::Modern => Err(unsupported(params.get("protocolVersion"))),
            (None, "initialize" | "ping") if era != Era::Modern => {
                Ok(Client { version: Version::LATEST_LEGACY, capabilities: json!({}), log_level: None })
            }
            (None, "server/discover") => Err(unknown(method)),
            (None, _) if era == Era::Legacy => {
                Err(Failure::new(message::INVALID_REQUEST, "`initialize` comes first"))
            }
            (None, _) => Err(Failure::params(format!("`_meta` must have `{META_VERSION}`"))),
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
        match serde_json::from_slice::<Value>(bytes) {
            Ok(answer) if answer.get("method").is_none() => lock(&self.answers).push(answer),
            _ => self.outer.line(bytes),
        }
    }

    fn dribble(&self, bytes: &[u8]) {
        self.line(bytes);
    }

    fn is_open(&self) -> bool {
        self.outer.is_open()
    }
}

fn refuse(id: &Value, code: i64, why: &str, outlet: &dyn Outlet) {
    outlet.send(&message::error(id, &Failure::new(code, why)));
}

fn unknown(method: &str) -> Failure {
    Failure::new(message::METHOD_NOT_FOUND, format!("there is no method `{method}`"))
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

pub fn claims_modern(params: &Map<String, Value>) -> bool {
    let meta = params.get("_meta").and_then(Value::as_object);
    meta.is_some_and(|meta| meta.contains_key(META_VERSION) || meta.contains_key(META_CAPABILITIES))
}

/// The version that a modern request names in its body.
pub fn claimed_version(params: &Value) -> Option<&str> {
    params.get("_meta")?.get(META_VERSION)?.as_str()
}

fn modern_client(params: &Map<String, Value>) -> Result<Client, Failure> {
    let meta = params.get("_meta").and_then(Value::as_object);
    let meta = meta.ok_or_else(|| Failure::params("`_meta` must be an object"))?;
    match meta.get(META_VERSION) {
        Some(Value::String(version)) if version == Version::MODERN.as_str() => {}
        Some(version @ Value::String(_)) => return Err(unsupported(Some(version))),
        _ => return Err(Failure::params(format!("`{META_VERSION}` must be a string"))),
    }
    let capabilities = meta.get(META_CAPABILITIES).filter(|capabilities| capabilities.is_object());
    let Some(capabilities) = capabilities else {
        return Err(Failure::params(format!("`{META_CAPABILITIES}` must be an object")));
    };
    let log_level = match meta.get(META_LOG_LEVEL) {
        None => None,
        Some(level) => Some(known_level(Some(level))?),
    };
    Ok(Client { version: Version::MODERN, capabilities: capabilities.clone(), log_level })
}

fn unsupported(requested: Option<&Value>) -> Failure {
    Failure::with_data(
        message::UNSUPPORTED_VERSION,
        "this protocol version is not supported",
        json!({"supported": [Version::MODERN.as_str()], "requested": requested}),
    )
}

fn known_level(level: Option<&Value>) -> Result<Level, Failure> {
    let level = level.and_then(Value::as_str).and_then(Level::parse);
    level.ok_or_else(|| Failure::params("this is no log level"))
}

fn server_info() -> Value {
    json!({"name": "wallfacer-fixture", "version": env!("CARGO_PKG_VERSION")})
}

fn capabilities(version: Version) -> Value {
    let mut capabilities = json!({"tools": {}, "resources": {}, "prompts": {}, "logging": {}});
    if version >= Version::March2025 {
        capabilities["completions"] = json!({});
    }
    capabilities
}

fn discover(client: &Client) -> Value {
    json!({
        "supportedVersions": [Version::MODERN.as_str()],
        "capabilities": capabilities(client.version),
        "instructions": "A small server to test clients with.",
    })
}

fn initialize(request: &Request) -> Result<Value, Failure> {
    if request.session.client().is_some() {
        return Err(Failure::new(message::INVALID_REQUEST, "`initialize` comes once"));
    }
    let wanted = request.text("protocolVersion")?;
    let version = Version::legacy(wanted).unwrap_or(Version::LATEST_LEGACY);
    let capabilities_of_client = Value::Object(request.object("capabilities")?);
    request.session.greet(Client {
        version,
        capabilities: capabilities_of_client,
        log_level: Some(Level::INFO),
    });
    let mut result = json!({
        "protocolVersion": version.as_str(),
        "capabilities": capabilities(version),
        "serverInfo": server_info(),
    });
    result["instructions"] = json!("A small server to test clients with.");
    Ok(result)
}

fn set_level(request: &Request) -> Result<Value, Failure> {
    request.session.set_level(known_level(request.params.get("level"))?);
    Ok(json!({}))
}

fn list_tools(request: &Request) -> Result<Value, Failure> {
    let mut first = tools::list(request.client.version);
    let second = first.split_off(TOOLS_ON_A_PAGE.min(first.len()));
    match request.params.get("cursor") {
        None => Ok(json!({"tools": first, "nextCursor": SECOND_PAGE})),
        Some(cursor) if cursor == SECOND_PAGE => Ok(json!({"tools": second})),
        Some(_) => Err(Failure::params("this cursor was never given out")),
    }
}

/// For the lists that fit on one page and never give out a cursor.
fn only_page(request: &Request) -> Result<(), Failure> {
    match request.params.contains_key("cursor") {
        true => Err(Failure::params("this cursor was never given out")),
        false => Ok(()),
    }
}

/// Adds what 2026-07-28 wants on every result, and on those that may be cached.
fn dressed(mut result: Value, request: &Request) -> Value {
    if let (true, Some(members)) = (request.client.version.is_modern(), result.as_object_mut()) {
        members.entry("resultType").or_insert_with(|| json!("complete"));
        members.entry("_meta").or_insert_with(|| json!({META_SERVER: server_info()}));
        let cached = ["server/discover", "tools/list", "resources/list", "resources/templates/list"];
        let cached = cached.contains(&request.method.as_str())
            || ["resources/read", "prompts/list"].contains(&request.method.as_str());
        if cached {
            members.insert("ttlMs".into(), json!(0));
            members.insert("cacheScope".into(), json!("private"));
        }
    }
    result
}
