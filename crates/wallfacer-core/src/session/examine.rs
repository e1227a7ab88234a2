//! A look at a server: connect, list, measure, leave.

use std::time::Duration;

use serde_json::Map;
use tokio::time::Instant;
use wallfacer_process::jail::offers;
use wallfacer_process::platform;

use super::look::tell_connected;
use crate::catalogue::{Catalogue, End, discover_until};
use crate::event::{Event, Listener};
use crate::observe::{Answer, Examination, see};
use crate::report;
use crate::run::{Call, execute};
use crate::target::Era;
use crate::wire::{ConnectError, Connection, Connector, Strays};

/// Requests that measure the way there and back.
const ROUNDS: usize = 5;
/// No more are made once they have taken this long.
const MEASURING: Duration = Duration::from_secs(1);
/// How long a server may take to leave once its input is closed.
const GRACE: Duration = Duration::from_secs(2);

/// Connects, lists, measures, and leaves. Once the budget is used up nothing more is asked, and what was not seen is told.
pub async fn examine(
    connector: &mut Connector,
    budget: Duration,
    listener: &mut dyn Listener,
) -> Result<Examination, ConnectError> {
    let until = Instant::now() + budget;
    let target = connector.target().shown();
    listener.hear(&Event::Connecting { target: &target });
    let (mut connection, server) = connector.open().await?;
    tell_connected(&server, listener);
    let timeouts = connector.target().timeouts.clone();
    let catalogue = discover_until(&mut connection, &server, &timeouts, Some(until)).await;
    let mut not_seen = Vec::new();
    if Instant::now() >= until && !is_whole(&catalogue) {
        not_seen.push(Examination::LISTS);
    }
    tell_listed(&catalogue, listener);
    let mut strays = connection.take_strays();
    let limit = timeouts.call.min(until.saturating_duration_since(Instant::now()));
    let mut round_trips = Vec::new();
    if !limit.is_zero() {
        round_trips = measure(&mut connection, server.era(), limit, &mut strays, listener).await;
    }
    // A silence that the time limit cut short says nothing of the server.
    if round_trips.is_empty() && limit < timeouts.call {
        not_seen.push(Examination::SPEED);
    }
    let transport = connection.transport();
    let farewell = connection.close(GRACE).await;
    connector.learn_from(&farewell);
    let left_behind =
        farewell.process.as_ref().and_then(|ended| ended.left_behind.as_ref()).map_or(0, Vec::len);
    listener.hear(&Event::Closed { left_behind });
    let (ended, machine, offers) = (farewell.process, platform(), offers());
    Ok(Examination {
        target,
        server,
        transport,
        catalogue,
        round_trips,
        not_seen,
        strays,
        ended,
        machine,
        offers,
    })
}

/// What this machine has to confine and watch a server with, for who does not get to see one.
pub fn machine() -> String {
    report::machine(&platform(), &offers())
}

fn is_whole(catalogue: &Catalogue) -> bool {
    let Catalogue { tools, resources, templates, prompts } = catalogue;
    let ends = [&tools.end, &resources.end, &templates.end, &prompts.end];
    ends.iter().all(|end| matches!(end, End::Complete | End::NotClaimed))
}

fn tell_listed(catalogue: &Catalogue, listener: &mut dyn Listener) {
    let mut tell = |what, entries, broken| listener.hear(&Event::Listed { what, entries, broken });
    let Catalogue { tools, resources, templates, prompts } = catalogue;
    tell("tools", tools.entries.len(), tools.broken.len());
    tell("resources", resources.entries.len(), resources.broken.len());
    tell("resource templates", templates.entries.len(), templates.broken.len());
    tell("prompts", prompts.entries.len(), prompts.broken.len());
}

/// The cheapest request of the era, several times. The first silence ends it.
async fn measure(
    connection: &mut Connection,
    era: Era,
    timeout: Duration,
    strays: &mut Strays,
    listener: &mut dyn Listener,
) -> Vec<Duration> {
    let method = match era {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    };
    let call = Call { method: method.to_owned(), params: Map::new(), timeout };
    let mut times = Vec::new();
    for round in 1..=ROUNDS {
        let taken = execute(connection, &call).await;
        let seen = see(&taken);
        strays.add_all(taken.strays);
        if !matches!(seen.answer, Answer::Completed | Answer::Rejected { .. }) {
            break;
        }
        times.push(seen.took);
        // A slow server would make us wait for a number that nobody needs so exactly.
        if times.iter().sum::<Duration>() >= MEASURING {
            break;
        }
        listener.hear(&Event::Measured { round, rounds: ROUNDS, took_us: seen.took.as_micros() as u64 });
    }
    times
}
