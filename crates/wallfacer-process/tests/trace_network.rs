//! Sockets: who is reached for, what is asked of DNS, and the gate before it.

#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

mod watched;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use wallfacer_process::trace::{
    Address, Decision, Event, Family, Gate, Kind, Message, Options, Outcome, Socket, Transport,
};
use watched::{Watched, start, watch};

const STREAM: Socket = Socket { family: Family::Inet, transport: Transport::Stream };
const DATAGRAM: Socket = Socket { family: Family::Inet, transport: Transport::Datagram };

/// Asks for the addresses of `name`.
fn question(name: &str) -> Vec<u8> {
    let mut message = vec![7, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        message.push(label.len() as u8);
        message.extend_from_slice(label.as_bytes());
    }
    message.extend_from_slice(&[0, 0, 1, 0, 1]);
    message
}

/// The connect to an address.
fn connect(watched: &Watched, wanted: SocketAddr) -> &Event {
    watched.find(|kind| matches!(kind, Kind::Connect { address: Address::Inet(to), .. } if *to == wanted))
}

fn messages(watched: &Watched) -> Vec<&Message> {
    let sent = |event| match event {
        &Event { kind: Kind::Send { ref messages, .. }, .. } => Some(messages),
        _ => None,
    };
    watched.events.iter().filter_map(sent).flatten().collect()
}

fn names(watched: &Watched) -> Vec<&str> {
    messages(watched).iter().filter_map(|message| Some(message.question.as_ref()?.name.as_str())).collect()
}

#[test]
fn a_connection_is_told_with_its_address_its_peer_and_its_kind() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let watched = watch(|| TcpStream::connect(address).map_or(1, |_| 0));
    assert_eq!(watched.exit_code(), Some(0));
    let event = connect(&watched, address);
    let Kind::Connect { peer, socket, .. } = &event.kind else { unreachable!() };
    assert_eq!((peer, socket), (&Some(Address::Inet(address)), &Some(STREAM)));
    assert_eq!(event.outcome, Outcome::Done(0));
}

#[test]
fn a_refused_connection_over_the_newer_protocol_is_told() {
    let address: SocketAddr = "[::1]:1".parse().unwrap();
    let watched = watch(|| TcpStream::connect(address).map_or(0, |_| 1));
    let event = connect(&watched, address);
    assert!(matches!(event.outcome, Outcome::Failed(libc::ECONNREFUSED | libc::EADDRNOTAVAIL)), "{event:?}");
    let Kind::Connect { socket, peer, .. } = &event.kind else { unreachable!() };
    assert_eq!(socket.map(|socket| socket.family), Some(Family::Inet6));
    assert_eq!(*peer, None);
}

#[test]
fn connecting_a_datagram_socket_is_told_apart_from_sending() {
    let watched = watch(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect("127.0.0.1:9").map_or(1, |()| 0)
    });
    let event = connect(&watched, "127.0.0.1:9".parse().unwrap());
    assert!(matches!(event.kind, Kind::Connect { socket: Some(DATAGRAM), .. }), "{event:?}");
    assert!(messages(&watched).is_empty());
}

#[test]
fn unix_sockets_are_told_by_path_and_by_abstract_name() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let watched = watch(|| {
        use std::os::linux::net::SocketAddrExt;
        let name = std::os::unix::net::SocketAddr::from_abstract_name(b"no such name").unwrap();
        i32::from(UnixStream::connect(&path).is_err()) + i32::from(UnixStream::connect_addr(&name).is_ok())
    });
    drop(listener);
    assert_eq!(watched.exit_code(), Some(0));
    let by_path = watched.find(
        |kind| matches!(kind, Kind::Connect { address: Address::Unix(location), .. } if location.path() == path),
    );
    assert!(by_path.outcome.succeeded());
    let by_name = watched
        .find(|kind| matches!(kind, Kind::Connect { address: Address::Abstract(name), .. } if name == "no such name"));
    assert_eq!(by_name.outcome, Outcome::Failed(libc::ECONNREFUSED));
}

#[test]
fn a_listening_socket_is_told_with_the_port_it_was_given() {
    let (mut port, mut tell) = std::io::pipe().unwrap();
    let watched = watch(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        tell.write_all(&listener.local_addr().unwrap().port().to_ne_bytes()).map_or(1, |()| 0)
    });
    let mut bytes = [0; 2];
    port.read_exact(&mut bytes).unwrap();
    let given: SocketAddr = ([127, 0, 0, 1], u16::from_ne_bytes(bytes)).into();
    watched
        .find(|kind| matches!(kind, Kind::Bind { address: Address::Inet(asked), .. } if asked.port() == 0));
    watched
        .find(|kind| matches!(kind, Kind::Listen { address: Some(Address::Inet(at)), .. } if *at == given));
}

#[test]
fn names_are_read_whichever_way_they_are_asked_for() {
    let dns: SocketAddr = "127.0.0.1:53".parse().unwrap();
    let questions = ["by.sendto", "by.send", "by.sendmsg", "a.by.sendmmsg", "b.by.sendmmsg"].map(question);
    let watched = watch(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let _ = socket.send_to(&questions[0], dns);
        socket.connect(dns).unwrap();
        let _ = socket.send(&questions[1]);
        let mut pieces = questions.each_ref().map(|question| libc::iovec {
            iov_base: question.as_ptr().cast_mut().cast(),
            iov_len: question.len(),
        });
        // SAFETY: the headers are zero but for the pieces, which are there.
        unsafe {
            let mut headers = [std::mem::zeroed::<libc::mmsghdr>(); 3];
            for (header, piece) in headers.iter_mut().zip(&mut pieces[2..]) {
                header.msg_hdr.msg_iov = piece;
                header.msg_hdr.msg_iovlen = 1;
            }
            libc::sendmsg(socket.as_raw_fd(), &headers[0].msg_hdr, 0);
            libc::sendmmsg(socket.as_raw_fd(), &mut headers[1], 2, 0);
        }
        0
    });
    assert_eq!(names(&watched), ["by.sendto", "by.send", "by.sendmsg", "a.by.sendmmsg", "b.by.sendmmsg"]);
    for (index, message) in messages(&watched).into_iter().enumerate() {
        assert_eq!((&message.to, message.addressed), (&Some(Address::Inet(dns)), index == 0));
        assert_eq!(message.bytes, questions[index]);
    }
}

#[test]
fn names_asked_for_by_write_are_read_where_that_is_wished() {
    let body = || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect("127.0.0.1:53").unwrap();
        let text = question("by.write");
        let vector = libc::iovec { iov_base: text.as_ptr().cast_mut().cast(), iov_len: text.len() };
        // SAFETY: the buffer is as long as it says.
        unsafe {
            libc::write(socket.as_raw_fd(), text.as_ptr().cast(), text.len());
            libc::writev(socket.as_raw_fd(), &vector, 1);
            // What goes into a file or a pipe is not looked at.
            let file = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
            libc::write(file, text.as_ptr().cast(), text.len());
        }
        0
    };
    assert!(messages(&watch(body)).is_empty());
    let watched = start(Options { datagram_writes: true, ..Options::default() }, None, body).end();
    assert_eq!(names(&watched), ["by.write", "by.write"]);
}

#[test]
fn the_resolver_of_the_c_library_is_understood() {
    // It asks whatever resolver the machine names, if any; so ask it to ask us.
    let folder = TempDir::new().unwrap();
    let [config, switch] = ["resolv.conf", "nsswitch.conf"].map(|name| folder.path().join(name));
    std::fs::write(&config, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n").unwrap();
    std::fs::write(&switch, "hosts: dns\n").unwrap();
    let [config, switch] = [watched::c(&config), watched::c(&switch)];
    let (program, script) = (watched::c("/usr/bin/getent"), watched::c("canary.example.com"));
    // Made before the target is watched: from then on it cannot mount.
    let places = [(config, c"/etc/resolv.conf"), (switch, c"/etc/nsswitch.conf")];
    let before = || {
        // SAFETY: all texts are C strings; the new mounts are seen by this process alone.
        unsafe {
            libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS);
            for (from, to) in &places {
                let none = std::ptr::null();
                libc::mount(from.as_ptr(), to.as_ptr(), none, libc::MS_BIND, none.cast());
            }
        }
    };
    let watched = watched::start_after(before, || {
        let arguments = [program.as_ptr(), c"ahosts".as_ptr(), script.as_ptr(), std::ptr::null()];
        // SAFETY: the list ends in a null pointer.
        unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), arguments.as_ptr().add(3)) }
    })
    .end();
    let asked = names(&watched);
    assert!(asked.contains(&"canary.example.com"), "{:#?}", watched.events);
}

#[test]
fn data_with_the_first_packet_of_a_connection_is_told_with_its_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let watched = watch(|| {
        // SAFETY: the address is one of the internet, as long as it says.
        unsafe {
            let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0);
            let mut to = std::mem::zeroed::<libc::sockaddr_in>();
            to.sin_family = libc::AF_INET as u16;
            to.sin_port = address.port().to_be();
            to.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
            let length = size_of_val(&to) as u32;
            let flags = libc::MSG_FASTOPEN;
            libc::sendto(socket, b"first".as_ptr().cast(), 5, flags, (&raw const to).cast(), length);
        }
        0
    });
    let [message] = messages(&watched)[..] else { panic!("{:#?}", watched.events) };
    assert!(message.addressed);
    assert_eq!((&message.to, &message.bytes[..]), (&Some(Address::Inet(address)), &b"first"[..]));
}

#[test]
fn a_message_on_a_passed_or_inherited_socket_is_told_with_its_peer() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap().join("socket");
    let _receiver = UnixDatagram::bind(&path).unwrap();
    let sender = UnixDatagram::unbound().unwrap();
    sender.connect(&path).unwrap();
    let watched = watch(|| {
        // SAFETY: the buffer is as long as it says.
        unsafe { libc::send(sender.as_raw_fd(), b"secret".as_ptr().cast(), 6, 0) as i32 - 6 }
    });
    let [message] = messages(&watched)[..] else { panic!("{:#?}", watched.events) };
    assert!(matches!(&message.to, Some(Address::Unix(location)) if location.path() == path), "{message:?}");
    assert_eq!((&message.bytes[..], message.length), (&b"secret"[..], 6));
}

/// Notes who asks; opens a door for some, and turns the others away.
#[derive(Default)]
struct Door {
    asked: Mutex<Vec<(Address, Option<Socket>)>>,
    opened: Mutex<Option<TcpListener>>,
}

impl Gate for Door {
    fn before_connect(&self, address: &Address, socket: Option<Socket>) -> Decision {
        self.asked.lock().unwrap().push((address.clone(), socket));
        match address {
            Address::Inet(to) if to.ip().is_loopback() => {
                *self.opened.lock().unwrap() = TcpListener::bind(to).ok();
                Decision::Allow
            }
            _ => Decision::Deny(libc::ENETUNREACH),
        }
    }
}

#[test]
fn a_gate_can_open_a_listener_before_the_connection_is_made() {
    let free = TcpListener::bind("127.0.0.5:0").unwrap().local_addr().unwrap();
    let door = Arc::new(Door::default());
    let watched =
        start(Options::default(), Some(door.clone()), || TcpStream::connect(free).map_or(1, |_| 0)).end();
    assert_eq!(watched.exit_code(), Some(0), "the listener is there in time");
    assert_eq!(*door.asked.lock().unwrap(), [(Address::Inet(free), Some(STREAM))]);
}

#[test]
fn a_gate_can_refuse_connections_and_messages() {
    let far: SocketAddr = "192.0.2.1:80".parse().unwrap();
    let door = Arc::new(Door::default());
    let watched = start(Options::default(), Some(door.clone()), || {
        let stream = TcpStream::connect(far).map_or_else(|error| error.raw_os_error().unwrap_or(0), |_| 0);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sent = socket.send_to(b"x", far).map_or_else(|error| error.raw_os_error().unwrap_or(0), |_| 0);
        i32::from(stream != libc::ENETUNREACH) + i32::from(sent != libc::ENETUNREACH)
    })
    .end();
    assert_eq!(watched.exit_code(), Some(0));
    let refused = Outcome::Refused(libc::ENETUNREACH);
    assert_eq!(connect(&watched, far).outcome, refused);
    assert_eq!(watched.find(|kind| matches!(kind, Kind::Send { .. })).outcome, refused);
    assert_eq!(
        *door.asked.lock().unwrap(),
        [(Address::Inet(far), Some(STREAM)), (Address::Inet(far), Some(DATAGRAM))]
    );
}
