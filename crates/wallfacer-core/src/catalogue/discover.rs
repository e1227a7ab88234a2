//! Asks for each list, page by page, within bounds.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::entry::{Broken, Entry};
use super::{Catalogue, End, Listing};
use crate::target::Timeouts;
use crate::wire::{Body, Connection, Content, Happening, HeaderParams, Incoming, Outcome, Server};

/// No honest list has so many pages, and one without end must not hold us.
const MAX_PAGES: usize = 100;
/// Entries over all pages of one list: far more than anyone offers, and few enough to be kept several times over.
const MAX_ENTRIES: usize = 2_000;
/// The text of all entries of one list; as values it takes some ten times the room.
const MAX_BYTES: usize = 8 << 20;

/// Reads everything that the server lists. Tools are asked for even where they are not claimed,
/// because a client would call them all the same.
pub async fn discover(connection: &mut Connection, server: &Server, timeouts: &Timeouts) -> Catalogue {
    discover_until(connection, server, timeouts, None).await
}

/// The same, where nothing is waited for any longer once this moment is reached; each list says so itself.
pub async fn discover_until(
    connection: &mut Connection,
    server: &Server,
    timeouts: &Timeouts,
    until: Option<Instant>,
) -> Catalogue {
    let mut reading = Reading { connection, timeouts, enough: Instant::now() + timeouts.call, until };
    let tools = reading.list(server.claims("tools")).await;
    teach_headers(reading.connection, &tools);
    let mut catalogue = Catalogue { tools, ..Catalogue::default() };
    if server.claims("resources") {
        catalogue.resources = reading.list(true).await;
        catalogue.templates = reading.list(true).await;
    }
    if server.claims("prompts") {
        catalogue.prompts = reading.list(true).await;
    }
    catalogue
}

fn teach_headers(connection: &mut Connection, tools: &Listing<super::Tool>) {
    let marked = tools.entries.iter().filter(|tool| !tool.header_params.is_empty());
    let params: HeaderParams = marked.map(|tool| (tool.name.clone(), tool.header_params.clone())).collect();
    connection.set_header_params(params);
}

struct Reading<'a> {
    connection: &'a mut Connection,
    timeouts: &'a Timeouts,
    /// When no further page is asked for: every step of a run reads the lists again.
    enough: Instant,
    /// When no answer is waited for.
    until: Option<Instant>,
}

impl Reading<'_> {
    async fn list<T: Entry>(&mut self, claimed: bool) -> Listing<T> {
        let mut listing = Listing { entries: Vec::new(), broken: Vec::new(), pages: 0, end: End::Complete };
        let mut intake = Intake::default();
        let mut cursors = BTreeSet::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = match self.page(T::METHOD, cursor.as_deref()).await {
                Ok(page) => page,
                Err(why) => {
                    listing.end =
                        if claimed || listing.pages > 0 { End::Failed { why } } else { End::NotClaimed };
                    return listing;
                }
            };
            listing.pages += 1;
            let next = match intake.add(&mut listing, &page) {
                Ok(next) => next,
                Err(why) => {
                    listing.end = End::Failed { why };
                    return listing;
                }
            };
            let more = next.is_some();
            let cut = intake.is_full || more && (listing.pages == MAX_PAGES || Instant::now() >= self.enough);
            if cut {
                listing.end = End::TooMany { listed: intake.listed, more };
                return listing;
            }
            let Some(next) = next else { return listing };
            if !cursors.insert(next.clone()) {
                listing.end = End::RepeatedCursor { cursor: next };
                return listing;
            }
            cursor = Some(next);
        }
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// The reply with one page, or why there is none.
    async fn page(&mut self, method: &str, cursor: Option<&str>) -> Result<Incoming, String> {
        if self.is_over() {
            return Err(format!("`{method}` was not asked for, because the time limit was reached"));
        }
        let params = cursor.map(|cursor| Map::from_iter([("cursor".to_owned(), Value::from(cursor))]));
        let ticket = self.connection.request(method, params.as_ref());
        // A server may reach for its own sources when first asked, so this may take as long as a start.
        let startup = self.timeouts.startup;
        let latest = Instant::now() + startup;
        let latest = self.until.map_or(latest, |until| latest.min(until));
        let outcome = match self.connection.wait_for(ticket, latest).await {
            Happening::Answered(answered) => answered.outcome,
            Happening::Deadline => {
                self.connection.cancel(ticket);
                return Err(match self.is_over() {
                    true => format!("no answer to `{method}` before the time limit was reached"),
                    false => format!("no answer to `{method}` within {}s", startup.as_secs_f64()),
                });
            }
            Happening::Closed(_) => return Err(format!("the server ended on `{method}`")),
        };
        match outcome {
            Outcome::Reply(reply) => match &reply.content {
                Content::Reply { body: Body::Result(_), .. } => Ok(reply),
                Content::Reply { body: Body::Error(error), .. } => {
                    let code = error.code.map_or("none".to_owned(), |code| code.to_string());
                    Err(format!("`{method}` was refused: {} (code {code})", error.message))
                }
                _ => Err(format!("`{method}` was answered with {}", reply.faults)),
            },
            Outcome::Refused { status, .. } => {
                Err(format!("`{method}` was answered with HTTP status {status}"))
            }
            Outcome::Broken { faults, .. } => Err(format!("`{method}` was answered with {faults}")),
            Outcome::Lost(error) => Err(error.to_string()),
        }
    }
}

/// How much of one list was taken in. Entries become values one at a time, and those beyond the bounds never do: a page
/// may hold more than there is memory for.
#[derive(Default)]
struct Intake {
    listed: usize,
    bytes: usize,
    is_full: bool,
}

impl Intake {
    /// Adds the entries of a page; the cursor of the next page, where there is one.
    fn add<T: Entry>(
        &mut self,
        listing: &mut Listing<T>,
        reply: &Incoming,
    ) -> Result<Option<String>, String> {
        let Content::Reply { body: Body::Result(range), .. } = &reply.content else { return Ok(None) };
        // Of a key that comes twice the last counts, as in most readers.
        let page: BTreeMap<String, &RawValue> = serde_json::from_str(reply.text(range))
            .map_err(|_| format!("the result of `{}` is not an object", T::METHOD))?;
        let elements = page.get(T::KEY).ok_or_else(|| format!("the result has no `{}`", T::KEY))?;
        let elements: Vec<&RawValue> =
            serde_json::from_str(elements.get()).map_err(|_| format!("`{}` is not an array", T::KEY))?;
        for element in elements {
            let index = self.listed;
            self.listed += 1;
            self.bytes = self.bytes.saturating_add(element.get().len());
            self.is_full |= index >= MAX_ENTRIES || self.bytes > MAX_BYTES;
            if self.is_full {
                continue;
            }
            let element: Value = serde_json::from_str(element.get()).unwrap_or_default();
            let read = element.as_object().ok_or("it is not an object".to_owned()).and_then(T::read);
            match read {
                Ok(entry) => listing.entries.push(entry),
                Err(why) => listing.broken.push(Broken::new(index, &element, why)),
            }
        }
        // An empty cursor is a cursor; only absence or null ends the list.
        Ok(page.get("nextCursor").and_then(|cursor| serde_json::from_str(cursor.get()).ok()))
    }
}
