//! Asks for each list, page by page, within bounds.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::entry::{Broken, Entry};
use super::{Catalogue, End, Listing};
use crate::target::Timeouts;
use crate::wire::{Body, Connection, Content, Happening, HeaderParams, Outcome, Server};

/// No honest list has so many pages, and one without end must not hold us.
const MAX_PAGES: usize = 1_000;
/// Entries over all pages of one list.
const MAX_ENTRIES: usize = 100_000;

/// Reads everything that the server lists. Tools are asked for even where they are not claimed,
/// because a client would call them all the same.
pub async fn discover(connection: &mut Connection, server: &Server, timeouts: &Timeouts) -> Catalogue {
    let tools = list(connection, timeouts, server.claims("tools")).await;
    teach_headers(connection, &tools);
    let mut catalogue = Catalogue { tools, ..Catalogue::default() };
    if server.claims("resources") {
        catalogue.resources = list(connection, timeouts, true).await;
        catalogue.templates = list(connection, timeouts, true).await;
    }
    if server.claims("prompts") {
        catalogue.prompts = list(connection, timeouts, true).await;
    }
    catalogue
}

fn teach_headers(connection: &mut Connection, tools: &Listing<super::Tool>) {
    let marked = tools.entries.iter().filter(|tool| !tool.header_params.is_empty());
    let params: HeaderParams = marked.map(|tool| (tool.name.clone(), tool.header_params.clone())).collect();
    connection.set_header_params(params);
}

async fn list<T: Entry>(connection: &mut Connection, timeouts: &Timeouts, claimed: bool) -> Listing<T> {
    let mut listing = Listing { entries: Vec::new(), broken: Vec::new(), pages: 0, end: End::Complete };
    let mut cursors = BTreeSet::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = match page(connection, timeouts, T::METHOD, cursor.as_deref()).await {
            Ok(page) => page,
            Err(why) => {
                listing.end =
                    if claimed || listing.pages > 0 { End::Failed { why } } else { End::NotClaimed };
                return listing;
            }
        };
        listing.pages += 1;
        if let Err(why) = add_entries(&mut listing, page.get(T::KEY)) {
            listing.end = End::Failed { why };
            return listing;
        }
        // An empty cursor is a cursor; only absence or null ends the list.
        let Some(next) = page.get("nextCursor").and_then(Value::as_str) else { return listing };
        if !cursors.insert(next.to_owned()) {
            listing.end = End::RepeatedCursor { cursor: next.to_owned() };
            return listing;
        }
        if listing.pages == MAX_PAGES || listing.entries.len() + listing.broken.len() >= MAX_ENTRIES {
            listing.end = End::TooMany;
            return listing;
        }
        cursor = Some(next.to_owned());
    }
}

fn add_entries<T: Entry>(listing: &mut Listing<T>, elements: Option<&Value>) -> Result<(), String> {
    let elements = match elements {
        Some(Value::Array(elements)) => elements,
        Some(_) => return Err(format!("`{}` is not an array", T::KEY)),
        None => return Err(format!("the result has no `{}`", T::KEY)),
    };
    for element in elements {
        let index = listing.entries.len() + listing.broken.len();
        let read = element.as_object().ok_or("it is not an object".to_owned()).and_then(T::read);
        match read {
            Ok(entry) => listing.entries.push(entry),
            Err(why) => listing.broken.push(Broken::new(index, element, why)),
        }
    }
    Ok(())
}

/// One page, or why there is none.
async fn page(
    connection: &mut Connection,
    timeouts: &Timeouts,
    method: &str,
    cursor: Option<&str>,
) -> Result<Map<String, Value>, String> {
    let params = cursor.map(|cursor| Map::from_iter([("cursor".to_owned(), Value::from(cursor))]));
    let ticket = connection.request(method, params.as_ref());
    // A server may reach for its own sources when first asked, so this may take as long as a start.
    let deadline = Instant::now() + timeouts.startup;
    let outcome = match connection.wait_for(ticket, deadline).await {
        Happening::Answered(answered) => answered.outcome,
        Happening::Deadline => {
            connection.cancel(ticket);
            return Err(format!("no answer to `{method}` within {}s", timeouts.startup.as_secs_f64()));
        }
        Happening::Closed(_) => return Err(format!("the server ended on `{method}`")),
    };
    match outcome {
        Outcome::Reply(reply) => match &reply.content {
            Content::Reply { body: Body::Result(range), .. } => match reply.value(range) {
                Some(Value::Object(result)) => Ok(result),
                _ => Err(format!("the result of `{method}` is not an object")),
            },
            Content::Reply { body: Body::Error(error), .. } => {
                let code = error.code.map_or("none".to_owned(), |code| code.to_string());
                Err(format!("`{method}` was refused: {} (code {code})", error.message))
            }
            _ => Err(format!("`{method}` was answered with {}", reply.faults)),
        },
        Outcome::Refused { status, .. } => Err(format!("`{method}` was answered with HTTP status {status}")),
        Outcome::Broken { faults, .. } => Err(format!("`{method}` was answered with {faults}")),
        Outcome::Lost(error) => Err(error.to_string()),
    }
}
