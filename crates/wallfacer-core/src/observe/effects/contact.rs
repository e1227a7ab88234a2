//! Tells from connects and network flows which hosts the server reached.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use wallfacer_process::sink::{Flow, Kind as FlowKind};
use wallfacer_process::trace::{Address, Event, Kind, Socket, Transport};

/// The port of the resolver.
const DNS: u16 = 53;

/// A host that was spoken to, or that the server tried to speak to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Contact {
    /// The name that was asked for; the address where none was.
    pub host: String,
    pub port: u16,
    pub address: IpAddr,
    pub datagrams: bool,
    pub tls: bool,
    /// Bytes sent, as far as the network of the sandbox saw them.
    pub sent: u64,
}

impl Contact {
    /// Whether what is sent there leaves the machine.
    pub fn is_outside(&self) -> bool {
        !is_loopback(self.address) && !self.address.is_unspecified() && self.host != "localhost"
    }

    pub fn place(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

/// An IPv4 address may come as an IPv6 one.
fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Everyone reached, and every name asked for. `flows` and `events` are of one and the same call.
pub(super) fn contacts(events: &[&Event], flows: &[&Flow]) -> (BTreeSet<Contact>, BTreeSet<String>) {
    let mut met: BTreeMap<(String, u16, bool), Contact> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for flow in flows {
        let datagrams = match &flow.kind {
            FlowKind::Dns { question, .. } => {
                names.insert(question.trim_end_matches('.').to_owned());
                continue;
            }
            FlowKind::Tcp => false,
            FlowKind::Udp => true,
        };
        let host = flow.name.clone().unwrap_or_else(|| flow.address.ip().to_string());
        let key = (host.clone(), flow.address.port(), datagrams);
        let contact = met.entry(key).or_insert_with(|| new(host, flow.address, datagrams));
        contact.tls |= flow.tls.is_some();
        contact.sent = contact.sent.saturating_add(flow.sent.total);
    }
    let mut by_address: BTreeSet<(IpAddr, u16)> =
        flows.iter().map(|flow| (flow.address.ip(), flow.address.port())).collect();
    for event in events {
        for (address, datagrams) in reached(event) {
            if by_address.insert((address.ip(), address.port())) {
                let host = address.ip().to_string();
                met.insert((host.clone(), address.port(), datagrams), new(host, address, datagrams));
            }
        }
        names.extend(questions(event));
    }
    (met.into_values().collect(), names)
}

fn new(host: String, address: SocketAddr, datagrams: bool) -> Contact {
    Contact { host, port: address.port(), address: address.ip(), datagrams, tls: false, sent: 0 }
}

/// The addresses that an event speaks to. Connecting a datagram socket sends nothing: resolvers do it to sort addresses.
fn reached(event: &Event) -> Vec<(SocketAddr, bool)> {
    let is_datagram = |socket: &Option<Socket>| {
        socket.is_some_and(|socket| matches!(socket.transport, Transport::Datagram))
    };
    match &event.kind {
        Kind::Connect { address: Address::Inet(address), socket, .. } if !is_datagram(socket) => {
            vec![(*address, false)]
        }
        Kind::Send { messages, .. } => {
            let to =
                messages.iter().filter(|message| message.addressed).filter_map(|message| match message.to {
                    Some(Address::Inet(address)) => Some((address, true)),
                    _ => None,
                });
            to.filter(|(address, _)| address.port() != DNS).collect()
        }
        _ => Vec::new(),
    }
}

fn questions(event: &Event) -> Vec<String> {
    let Kind::Send { messages, .. } = &event.kind else { return Vec::new() };
    let asked = messages.iter().filter_map(|message| message.question.as_ref());
    asked.map(|question| question.name.trim_end_matches('.').to_owned()).collect()
}
