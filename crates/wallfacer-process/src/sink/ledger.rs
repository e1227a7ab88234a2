//! Records what happens on the sockets as [`Flow`]s. One for each sink, written by its thread and read by callers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::bounds::{KEPT_IN_ALL, KEPT_PER_DIRECTION, MAX_FLOWS, MAX_STATEMENT};
use super::flow::{Bytes, Flow, Hello, Kind, Lost, Request, Seen};

#[derive(Debug)]
pub(super) struct Ledger {
    pages: Mutex<Pages>,
    call: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct Pages {
    flows: BTreeMap<u64, Flow>,
    next: u64,
    kept: usize,
    lost: Lost,
    /// Grows with all that the target does.
    activity: u64,
}

/// What is known of a flow before any byte of it.
#[derive(Debug, Clone)]
pub(super) struct Heading {
    pub(super) kind: Kind,
    pub(super) name: Option<String>,
    pub(super) address: SocketAddr,
    pub(super) planted: bool,
    pub(super) forwarded: bool,
}

/// Writes down one connection. The flow is closed when this is dropped.
#[derive(Debug)]
pub(super) struct Recorder {
    ledger: Arc<Ledger>,
    heading: Heading,
    tls: Option<Hello>,
    connection: u64,
    current: u64,
}

impl Ledger {
    pub(super) fn new(call: Arc<AtomicU64>) -> Self {
        Self { pages: Mutex::default(), call }
    }

    /// The number of the call in flight; zero for none.
    pub(super) fn call(&self) -> u64 {
        self.call.load(Ordering::SeqCst)
    }

    pub(super) fn seen(&self) -> Seen {
        let pages = self.pages();
        Seen { flows: pages.flows.values().cloned().collect(), lost: pages.lost }
    }

    /// Hands out what has been seen and forgets it. An open flow goes on as a new one with its next bytes.
    pub(super) fn take(&self) -> Seen {
        let mut pages = self.pages();
        pages.kept = 0;
        let flows = std::mem::take(&mut pages.flows).into_values().collect();
        Seen { flows, lost: std::mem::take(&mut pages.lost) }
    }

    pub(super) fn turned_away(&self) {
        let mut pages = self.pages();
        pages.lost.flows += 1;
        pages.activity += 1;
    }

    /// The same number twice means that nothing has happened in between.
    pub(super) fn activity(&self) -> u64 {
        self.pages().activity
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder {
    /// Begins a flow that belongs to the given call; zero for none.
    pub(super) fn begin(ledger: &Arc<Ledger>, heading: Heading, call: u64) -> Self {
        let mut pages = ledger.pages();
        let connection = pages.next;
        let current = pages.begin(&heading, None, connection, call);
        drop(pages);
        Self { ledger: Arc::clone(ledger), heading, tls: None, connection, current }
    }

    /// Writes down bytes of the target. They belong to the call that is in flight now, unless they are the first.
    pub(super) fn sent(&mut self, bytes: &[u8]) {
        let call = self.ledger.call();
        let ledger = Arc::clone(&self.ledger);
        let mut pages = ledger.pages();
        pages.activity += 1;
        match pages.flows.get(&self.current) {
            Some(flow) if flow.sent.total == 0 || flow.call.unwrap_or_default() == call => {}
            // This one has been counted as lost.
            None if pages.is_full() => return,
            Some(_) | None => self.turn_page(&mut pages, call),
        }
        pages.keep(self.current, bytes, |flow| &mut flow.sent);
    }

    /// What a database is asked.
    pub(super) fn asked(&mut self, statement: &str) {
        let statement: String = statement.chars().take(MAX_STATEMENT).collect();
        self.change(|flow| flow.statement = Some(statement));
    }

    /// Writes down bytes of ours.
    pub(super) fn answered(&mut self, bytes: &[u8]) {
        self.ledger.pages().keep(self.current, bytes, |flow| &mut flow.answered);
    }

    pub(super) fn secured(&mut self, hello: Hello) {
        if self.heading.name.is_none() {
            self.heading.name.clone_from(&hello.sni);
        }
        self.tls = Some(hello);
        let (tls, name) = (self.tls.clone(), self.heading.name.clone());
        self.change(|flow| {
            flow.tls = tls;
            flow.name = name;
        });
    }

    /// The greeting came to nothing, because our certificate is not trusted.
    pub(super) fn distrusted(&mut self) {
        if let Some(hello) = &mut self.tls {
            hello.distrusts = true;
        }
        let tls = self.tls.clone();
        self.change(|flow| flow.tls = tls);
    }

    /// The request whose head was sent last.
    pub(super) fn requested(&mut self, request: Request) {
        let named = self.heading.name.clone().or_else(|| request.host.clone());
        self.change(|flow| {
            flow.name = named;
            flow.http = Some(request);
        });
    }

    /// What follows goes through us to `host`.
    pub(super) fn tunnelled(&mut self, host: Option<String>) {
        self.heading.name = host;
        self.next_exchange();
    }

    /// What follows is an exchange of its own on the same connection.
    pub(super) fn next_exchange(&mut self) {
        let call = self.ledger.call();
        let ledger = Arc::clone(&self.ledger);
        self.turn_page(&mut ledger.pages(), call);
    }

    fn turn_page(&mut self, pages: &mut Pages, call: u64) {
        if let Some(flow) = pages.flows.get_mut(&self.current) {
            flow.open = false;
        }
        self.current = pages.begin(&self.heading, self.tls.clone(), self.connection, call);
    }

    fn change(&mut self, change: impl FnOnce(&mut Flow)) {
        if let Some(flow) = self.ledger.pages().flows.get_mut(&self.current) {
            change(flow);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.change(|flow| flow.open = false);
    }
}

impl Pages {
    fn is_full(&self) -> bool {
        self.flows.len() >= MAX_FLOWS
    }

    fn begin(&mut self, heading: &Heading, tls: Option<Hello>, connection: u64, call: u64) -> u64 {
        let id = self.next;
        self.next += 1;
        self.activity += 1;
        if self.is_full() {
            self.lost.flows += 1;
            return id;
        }
        let Heading { kind, name, address, planted, forwarded } = heading.clone();
        let flow = Flow {
            id,
            connection,
            at: Instant::now(),
            call: (call != 0).then_some(call),
            kind,
            name,
            address,
            tls,
            http: None,
            statement: None,
            sent: Bytes::default(),
            answered: Bytes::default(),
            planted,
            forwarded,
            open: true,
        };
        self.flows.insert(id, flow);
        id
    }

    fn keep(&mut self, id: u64, bytes: &[u8], direction: impl FnOnce(&mut Flow) -> &mut Bytes) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let direction = direction(flow);
        direction.total += bytes.len() as u64;
        let wanted = bytes.len().min(KEPT_PER_DIRECTION - direction.first.len());
        let room = wanted.min(KEPT_IN_ALL - self.kept);
        direction.first.extend(&bytes[..room]);
        self.kept += room;
        self.lost.bytes += (wanted - room) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading() -> Heading {
        let address = "23.1.2.3:443".parse().unwrap();
        Heading { kind: Kind::Tcp, name: None, address, planted: false, forwarded: false }
    }

    fn ledger() -> (Arc<Ledger>, Arc<AtomicU64>) {
        let call = Arc::new(AtomicU64::new(0));
        (Arc::new(Ledger::new(Arc::clone(&call))), call)
    }

    #[test]
    fn what_a_connection_carries_during_another_call_is_a_flow_of_its_own() {
        let (ledger, call) = ledger();
        let mut recorder = Recorder::begin(&ledger, heading(), 3);
        recorder.sent(b"first bytes, read late");
        call.store(4, Ordering::SeqCst);
        recorder.sent(b"secret");
        recorder.answered(b"ok");
        let flows = ledger.seen().flows;
        assert_eq!(flows.iter().map(|flow| flow.call).collect::<Vec<_>>(), [Some(3), Some(4)]);
        assert_eq!(flows.iter().map(|flow| flow.open).collect::<Vec<_>>(), [false, true]);
        assert_eq!(flows[0].connection, flows[1].connection);
        assert_eq!((flows[1].sent.first.as_slice(), flows[1].answered.total), (&b"secret"[..], 2));
    }

    #[test]
    fn a_flow_that_was_taken_goes_on_as_a_new_one() {
        let (ledger, _) = ledger();
        let mut recorder = Recorder::begin(&ledger, heading(), 0);
        recorder.sent(b"one");
        assert_eq!(ledger.take().flows.len(), 1);
        assert_eq!(ledger.seen().flows.len(), 0);
        recorder.sent(b"two");
        drop(recorder);
        let flows = ledger.take().flows;
        assert_eq!((flows.len(), flows[0].sent.first.as_slice(), flows[0].open), (1, &b"two"[..], false));
    }

    #[test]
    fn a_flood_is_counted_and_not_kept() {
        let (ledger, _) = ledger();
        let mut recorders: Vec<_> =
            (0..MAX_FLOWS + 10).map(|_| Recorder::begin(&ledger, heading(), 0)).collect();
        for recorder in &mut recorders[..300] {
            recorder.sent(&[0; KEPT_PER_DIRECTION + 1]);
        }
        let seen = ledger.take();
        assert_eq!(seen.flows.len(), MAX_FLOWS);
        assert_eq!(seen.flows.iter().map(|flow| flow.sent.first.len()).sum::<usize>(), KEPT_IN_ALL);
        assert_eq!(seen.flows[299].sent.total, KEPT_PER_DIRECTION as u64 + 1);
        let bytes = (300 * KEPT_PER_DIRECTION - KEPT_IN_ALL) as u64;
        assert_eq!(seen.lost, Lost { flows: 10, bytes, names: 0 });
        assert!(ledger.take().lost.nothing());
    }
}
