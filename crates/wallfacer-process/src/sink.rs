//! Plays the network for the target: answers it on sockets of its namespace, and records what it sends as [`Flow`]s.
//!
//! Inside the jail every address is local. Whatever the target connects to, the sink listens there just in time: it
//! gives every name an address, accepts TCP on every port, speaks TLS with certificates made on the spot, answers
//! HTTP, and keeps the first bytes of everything. So what a server sends out is known by its content, and nothing
//! leaves the machine, save to what the caller has allowed.
//!
//! | file | in → out |
//! |---|---|
//! | `sockets` | an address → a socket inside the namespace |
//! | `door` | a socket → connections and datagrams |
//! | `conversation`, `wire` | a connection → what was said on it |
//! | `dns`, `names`, `resolver` | a question → an address of its own, and back |
//! | `http`, `hello` | bytes → a request, a TLS greeting |
//! | `answer` | a request → what a service may answer |
//! | `database` | statements and commands → what a database may answer |
//! | `fault` | an answer → one that is broken on purpose |
//! | `authority` | a name → a certificate |
//! | `upstream` | a connection → the real network |
//! | `ledger`, `flow` | all of that → what was seen |
//! | `bounds` | how much of us a hostile target may take |
//!
//! In [`Mode::Refuse`] the same target finds a network that is down: nobody listens, so that connections are
//! refused, and names fail as they do where no resolver can be reached (SERVFAIL, not "no such name").

mod answer;
mod authority;
mod bounds;
mod conversation;
mod database;
mod dns;
mod door;
mod fault;
mod flow;
mod hash;
mod hello;
mod http;
mod ledger;
mod names;
mod resolver;
mod room;
mod sockets;
mod upstream;
mod wire;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fmt, io};

use tokio::runtime::{Builder, Handle};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::yield_now;

pub use answer::{Form, Hint, Part, Shapes, Type, git};
pub use authority::{Authority, AuthorityError};
pub use database::PORTS as DATABASE_PORTS;
pub use fault::Fault;
pub use flow::{Bytes, Flow, Hello, Kind, Lost, Request, Seen};
pub use http::REDIRECT;
pub use resolver::DNS_PORT;
pub use sockets::Sockets;
pub use upstream::Upstream;

use bounds::{MAX_CONNECTIONS, MAX_DOORS, SETTLE_TURNS};
use database::Databases;
use door::{Door, Plate};
use hash::hash;
use ledger::Ledger;
use names::Names;
use resolver::Resolver;
use room::Room;

/// Where the target's `resolv.conf` must point.
pub const DNS_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

/// Enough for deep but not recursive futures.
const STACK_BYTES: usize = 512 * 1024;

/// How the network answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Everything is there.
    Answer,
    /// Nothing can be reached.
    Refuse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transport {
    Tcp,
    Udp,
}

#[derive(Debug, Clone)]
pub struct Options {
    pub mode: Mode,
    /// What is forwarded to the real network, in either mode.
    pub allow: Vec<Upstream>,
    /// Names with an address that the caller has chosen, such as one on loopback.
    pub names: Vec<(String, IpAddr)>,
    /// Decides which addresses names get, and the marker.
    pub seed: u64,
    /// The number of the call in flight, kept by the caller; zero for none.
    pub call: Arc<AtomicU64>,
    /// Signs certificates; one for all lives of a run.
    pub authority: Arc<Authority>,
    /// What was learned of the answers that the target expects; one for all lives of a run.
    pub shapes: Arc<Shapes>,
    /// What is wrong with every answer, where something is to be.
    pub fault: Option<Fault>,
}

/// The network of one life. Dropping it closes all its connections.
pub struct Sink {
    room: Arc<Room>,
    sockets: Box<dyn Sockets>,
    doors: Mutex<Doors>,
    runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Doors {
    open: BTreeMap<(Transport, SocketAddr), Entrance>,
    clock: u64,
}

#[derive(Debug)]
struct Entrance {
    door: Door,
    /// When the target last came here; `None` for what is never closed to make room, such as the resolver.
    used: Option<u64>,
}

impl Sink {
    /// Starts a thread of its own, and with it the resolver.
    pub fn start(sockets: impl Sockets + 'static, options: Options) -> io::Result<Self> {
        let Options { mode, allow, names, seed, call, authority, shapes, fault } = options;
        let ledger = Arc::new(Ledger::new(call));
        let names = Mutex::new(Names::new(seed, &names));
        let resolver = Resolver { names, mode, allow: allow.clone(), ledger: Arc::clone(&ledger) };
        let marker = format!("{:016x}", hash(seed, b"marker"));
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let fault = Mutex::new(fault);
        let databases = Databases::default();
        let room = Arc::new(Room { ledger, resolver, authority, marker, shapes, databases, fault, places });
        let (runtime, stop, thread) = run()?;
        let sink = Self {
            room,
            sockets: Box::new(sockets),
            doors: Mutex::default(),
            runtime,
            stop: Some(stop),
            thread: Some(thread),
        };
        let resolver = SocketAddr::new(DNS_ADDRESS.into(), DNS_PORT);
        sink.fix(Transport::Udp, resolver, false)?;
        sink.fix(Transport::Tcp, resolver, false)?;
        for upstream in allow.iter().filter_map(Upstream::loopback) {
            sink.fix(Transport::Tcp, upstream, false)?;
        }
        Ok(sink)
    }

    /// Makes sure that the sink listens where the target is about to connect or send to; to be called before the
    /// target goes on. Loopback is left alone, so that nobody is there unless somebody is, but for databases, which
    /// servers expect beside them. Fails where the target itself listens on that address.
    pub fn ensure(&self, address: SocketAddr, transport: Transport) -> io::Result<()> {
        let key = (transport, plain(address));
        let call = self.room.ledger.call();
        let mut doors = self.doors();
        doors.clock += 1;
        let now = doors.clock;
        if let Some(entrance) = doors.open.get_mut(&key) {
            entrance.used = entrance.used.map(|_| now);
            entrance.door.announce(call);
            return Ok(());
        }
        if !self.is_reachable(key.1) {
            return Ok(());
        }
        doors.make_room();
        let door = self.open(transport, key.1, false)?;
        door.announce(call);
        doors.open.insert(key, Entrance { door, used: Some(now) });
        Ok(())
    }

    /// From now on this is wrong with every answer. Who refuses connections listens nowhere any more.
    pub fn set_fault(&self, fault: Option<Fault>) {
        *self.room.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
        if fault == Some(Fault::Refuse) {
            let stays = |address: &SocketAddr| {
                let is_database = database::PORTS.contains(&address.port());
                address.port() == DNS_PORT || address.ip().is_loopback() && !is_database
            };
            self.doors().open.retain(|(_, address), _| stays(address));
        }
    }

    /// Listens on loopback, IPv4 and, where the machine has it, IPv6: connections there are marked as planted. Port
    /// zero means any; the port is given back.
    pub fn plant(&self, port: u16) -> io::Result<u16> {
        let listener = self.sockets.listen_tcp((Ipv4Addr::LOCALHOST, port).into())?;
        let port = listener.local_addr()?.port();
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let door = Door::open_tcp(listener, Plate { address, planted: true }, &self.room, &self.runtime)?;
        self.doors().open.insert((Transport::Tcp, address), Entrance { door, used: None });
        let _ = self.fix(Transport::Tcp, (Ipv6Addr::LOCALHOST, port).into(), true);
        Ok(port)
    }

    /// Listens on a port of all addresses, for where nobody can say beforehand what the target connects to.
    /// Connections to loopback are then accepted and closed at once.
    pub fn cover(&self, port: u16) -> io::Result<()> {
        if self.room.resolver.mode == Mode::Refuse {
            return Ok(());
        }
        // Nobody can listen beside a door for all addresses, which lets in those that are allowed too.
        let is_within = |(transport, address): &(Transport, SocketAddr)| {
            let is_here = *transport == Transport::Tcp && address.port() == port;
            is_here && self.room.resolver.upstream(*address).is_some()
        };
        self.doors().open.retain(|key, _| !is_within(key));
        self.fix(Transport::Tcp, (Ipv4Addr::UNSPECIFIED, port).into(), false)?;
        let _ = self.fix(Transport::Tcp, (Ipv6Addr::UNSPECIFIED, port).into(), false);
        Ok(())
    }

    /// What the answers to HTTP carry: a reply with it in passes on what was fetched.
    pub fn marker(&self) -> &str {
        &self.room.marker
    }

    /// Waits until all that the target has sent before this is on record. To be called before the number of the call
    /// changes. False when `patience` was not enough, as with a target that never stops sending.
    pub fn settle(&self, patience: Duration) -> bool {
        let (done, settled) = mpsc::channel();
        let ledger = Arc::clone(&self.room.ledger);
        let began = Instant::now();
        self.runtime.spawn(async move {
            loop {
                let before = ledger.activity();
                for _ in 0..SETTLE_TURNS {
                    yield_now().await;
                }
                if ledger.activity() == before {
                    // Nobody may be waiting any more.
                    let _ = done.send(());
                    return;
                }
                if began.elapsed() > patience {
                    return;
                }
            }
        });
        settled.recv_timeout(patience).is_ok()
    }

    /// What was seen so far and not taken.
    pub fn seen(&self) -> Seen {
        let mut seen = self.room.ledger.seen();
        seen.lost.names = self.room.resolver.lost();
        seen
    }

    /// The same, and forgets it. What is still open goes on as a flow of its own.
    pub fn take(&self) -> Seen {
        let mut seen = self.room.ledger.take();
        seen.lost.names = self.room.resolver.take_lost();
        seen
    }

    fn is_reachable(&self, address: SocketAddr) -> bool {
        let ip = address.ip();
        let is_database = ip.is_loopback() && database::PORTS.contains(&address.port());
        let is_elsewhere = (!ip.is_loopback() || is_database) && !ip.is_multicast() && address.port() != 0;
        let resolver = &self.room.resolver;
        let answers = resolver.mode == Mode::Answer && self.room.fault() != Some(Fault::Refuse);
        is_elsewhere && (answers || resolver.upstream(address).is_some())
    }

    fn fix(&self, transport: Transport, address: SocketAddr, planted: bool) -> io::Result<()> {
        let door = self.open(transport, address, planted)?;
        self.doors().open.insert((transport, address), Entrance { door, used: None });
        Ok(())
    }

    fn open(&self, transport: Transport, address: SocketAddr, planted: bool) -> io::Result<Door> {
        let plate = Plate { address, planted };
        match transport {
            Transport::Tcp => {
                Door::open_tcp(self.sockets.listen_tcp(address)?, plate, &self.room, &self.runtime)
            }
            Transport::Udp => {
                Door::open_udp(self.sockets.bind_udp(address)?, plate, &self.room, &self.runtime)
            }
        }
    }

    fn doors(&self) -> MutexGuard<'_, Doors> {
        self.doors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Doors {
    fn make_room(&mut self) {
        if self.open.len() < MAX_DOORS {
            return;
        }
        let used = self.open.iter().filter_map(|(key, entrance)| Some((entrance.used?, *key)));
        if let Some((_, longest_unused)) = used.min() {
            self.open.remove(&longest_unused);
        }
    }
}

/// The address that a connection really goes to: IPv4 within IPv6 is IPv4, and no address is this machine.
fn plain(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip().to_canonical() {
        IpAddr::V4(v4) if v4.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(v6) if v6.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

impl Drop for Sink {
    fn drop(&mut self) {
        // The thread ends with this, and all its connections with it. It never waits for anything outside.
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sink").field("marker", &self.room.marker).finish_non_exhaustive()
    }
}

/// A thread of its own for each sink, so that the target is served whatever the rest of us is busy with.
fn run() -> io::Result<(Handle, oneshot::Sender<()>, JoinHandle<()>)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let (stop, stopped) = oneshot::channel::<()>();
    let builder = thread::Builder::new().name("sink".to_owned()).stack_size(STACK_BYTES);
    let thread = builder.spawn(move || {
        let _ = runtime.block_on(stopped);
        // Looking up a name for a forwarded connection may take longer than we are here.
        runtime.shutdown_background();
    })?;
    Ok((handle, stop, thread))
}
