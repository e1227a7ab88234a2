//! Accepts connections and datagrams on one socket of the target's network, and hears them out.

use std::collections::BTreeMap;
use std::net::{self, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::bounds::{BREATHER, LIFETIME, MAX_LATE, MAX_PEERS};
use super::conversation::{Manners, converse};
use super::database::{Database, PORTS};
use super::fault::Fault;
use super::flow::Kind;
use super::ledger::{Heading, Recorder};
use super::resolver::DNS_PORT;
use super::room::Room;
use super::wire::Wire;

/// The largest datagram there is.
const MAX_DATAGRAM: usize = 64 * 1024;

/// No call was ever announced at this door.
const NEVER: u64 = u64::MAX;

/// A door is closed within a turn of the sink's thread. Reached only when that thread is starved.
const CLOSING: Duration = Duration::from_secs(5);

/// Stays open until it is dropped; what waits in front of it by then is still let in.
#[derive(Debug)]
pub(super) struct Door {
    call: Arc<AtomicU64>,
    /// Set when it is to be closed: from then on a target that never stops coming does not keep it open.
    closing: Arc<AtomicBool>,
    close: Option<oneshot::Sender<()>>,
    closed: mpsc::Receiver<()>,
}

/// How a door learns that it is to be closed.
struct Closing {
    told: oneshot::Receiver<()>,
    flag: Arc<AtomicBool>,
}

/// What a door is told about itself.
#[derive(Debug, Clone)]
pub(super) struct Plate {
    /// The address asked for; a door for all addresses learns it from each connection.
    pub(super) address: SocketAddr,
    pub(super) planted: bool,
}

impl Door {
    /// The call in flight is about to connect.
    pub(super) fn announce(&self, call: u64) {
        self.call.store(call, Ordering::SeqCst);
    }

    pub(super) fn open_tcp(
        listener: net::TcpListener,
        plate: Plate,
        room: &Arc<Room>,
        runtime: &Handle,
    ) -> std::io::Result<Self> {
        listener.set_nonblocking(true)?;
        let _inside = runtime.enter();
        let listener = TcpListener::from_std(listener)?;
        let room = Arc::clone(room);
        Ok(Self::open(runtime, |call, close| accept(listener, plate, room, call, close)))
    }

    pub(super) fn open_udp(
        socket: net::UdpSocket,
        plate: Plate,
        room: &Arc<Room>,
        runtime: &Handle,
    ) -> std::io::Result<Self> {
        socket.set_nonblocking(true)?;
        let _inside = runtime.enter();
        let socket = UdpSocket::from_std(socket)?;
        let room = Arc::clone(room);
        Ok(Self::open(runtime, |_, close| receive(socket, plate, room, close)))
    }

    fn open<F>(runtime: &Handle, attend: impl FnOnce(Arc<AtomicU64>, Closing) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let call = Arc::new(AtomicU64::new(NEVER));
        let (close, closing) = oneshot::channel();
        let (done, closed) = mpsc::channel();
        let flag = Arc::new(AtomicBool::new(false));
        let attended = attend(Arc::clone(&call), Closing { told: closing, flag: Arc::clone(&flag) });
        runtime.spawn(async move {
            // Disconnects when the task ends, however that comes.
            let _done: mpsc::Sender<()> = done;
            attended.await;
        });
        Self { call, closing: flag, close: Some(close), closed }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        self.close = None;
        // Its socket is closed by then, so that doors never take more files than there are doors.
        let _ = self.closed.recv_timeout(CLOSING);
    }
}

/// Done when the door is to be closed, and the kernel has been asked once more who waits in front of it.
async fn closed(close: oneshot::Receiver<()>) {
    let _ = close.await;
    yield_now().await;
}

async fn accept(
    listener: TcpListener,
    plate: Plate,
    room: Arc<Room>,
    call: Arc<AtomicU64>,
    closing: Closing,
) {
    let mut closed = pin!(closed(closing.told));
    let mut late = 0;
    loop {
        late += usize::from(closing.flag.load(Ordering::SeqCst));
        if late > MAX_LATE {
            return;
        }
        let accepted = tokio::select! {
            // Who waits is let in before the door closes.
            biased;
            accepted = listener.accept() => accepted,
            () = &mut closed => return,
        };
        let Ok((stream, _)) = accepted else {
            room.ledger.turned_away();
            sleep(BREATHER).await;
            continue;
        };
        let Some(place) = room.place().await else {
            room.ledger.turned_away();
            continue;
        };
        let announced = match call.load(Ordering::SeqCst) {
            NEVER => room.ledger.call(),
            announced => announced,
        };
        let (plate, room) = (plate.clone(), Arc::clone(&room));
        tokio::spawn(async move {
            let _place = place;
            welcome(stream, &plate, &room, announced).await;
        });
    }
}

async fn welcome(stream: TcpStream, plate: &Plate, room: &Room, call: u64) {
    // Answers are small, and a client that acknowledges late would wait 40 ms for them. Slow is all it is without.
    let _ = stream.set_nodelay(true);
    let mut address = plate.address;
    if address.ip().is_unspecified() {
        let Ok(local) = stream.local_addr() else { return };
        address = SocketAddr::new(local.ip().to_canonical(), local.port());
        // Nobody lives on loopback unless planted, allowed, or a database. Without a word, so that it looks like nobody.
        let is_somebody = PORTS.contains(&address.port()) || room.resolver.upstream(address).is_some();
        if address.ip().is_loopback() && !is_somebody {
            return;
        }
    }
    let upstream = room.resolver.upstream(address);
    let heading = Heading {
        kind: Kind::Tcp,
        name: room.resolver.name_of(address.ip()),
        address,
        planted: plate.planted,
        forwarded: upstream.is_some(),
    };
    let name = heading.name.clone();
    let recorder = Recorder::begin(&room.ledger, heading, call);
    if let Some(upstream) = upstream {
        // The target sees how it ends, and so do we in the record.
        let _ = upstream.forward(stream, recorder).await;
        return;
    }
    if room.fault() == Some(Fault::Reset) && !plate.planted {
        Fault::resets(&stream);
    }
    let wire = Wire::new(stream, recorder);
    let talk = async {
        if address.port() == DNS_PORT {
            room.resolver.converse(wire, address).await;
            return None;
        }
        if let Some(database) = Database::that_greets(address.port()).filter(|_| !plate.planted) {
            return Some((wire, database));
        }
        let manners = Manners {
            authority: &room.authority,
            marker: &room.marker,
            shapes: &room.shapes,
            // What is planted is there to be recognised.
            room: (!plate.planted).then_some(room),
            name,
            address: address.ip(),
        };
        converse(wire, &manners).await
    };
    // Whoever is still talking by then is cut off.
    if let Ok(Some((wire, database))) = timeout(LIFETIME, talk).await {
        database.converse(wire, &room.databases).await;
    }
}

async fn receive(socket: UdpSocket, plate: Plate, room: Arc<Room>, closing: Closing) {
    let mut closed = pin!(closed(closing.told));
    let mut late = 0;
    let mut datagram = vec![0; MAX_DATAGRAM];
    let mut peers: BTreeMap<SocketAddr, Recorder> = BTreeMap::new();
    loop {
        late += usize::from(closing.flag.load(Ordering::SeqCst));
        if late > MAX_LATE {
            return;
        }
        let received = tokio::select! {
            biased;
            received = socket.recv_from(&mut datagram) => received,
            () = &mut closed => return,
        };
        // An error is that of an answer which nobody took.
        let Ok((count, peer)) = received else { continue };
        let bytes = &datagram[..count];
        if plate.address.port() == DNS_PORT
            && let Some(answer) = room.resolver.answer(bytes, plate.address)
        {
            // Nobody waits for an answer that cannot be sent.
            let _ = socket.try_send_to(&answer, peer);
            continue;
        }
        if peers.len() >= MAX_PEERS && !peers.contains_key(&peer) {
            peers.pop_first();
        }
        let begin = || {
            let heading = Heading {
                kind: Kind::Udp,
                name: room.resolver.name_of(plate.address.ip()),
                address: plate.address,
                planted: plate.planted,
                forwarded: false,
            };
            Recorder::begin(&room.ledger, heading, room.ledger.call())
        };
        peers.entry(peer).or_insert_with(begin).sent(bytes);
    }
}
