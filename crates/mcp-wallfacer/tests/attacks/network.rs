//! A server that may reach one address, and tries all others.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::thread;

use crate::lanes::each;
use crate::walls::{doctor, server, told};
use crate::ways::{Way, lower_rungs, ways, without_overlays};
use crate::world::World;

/// What only the address that is allowed says.
const REAL: &str = "the real one";

/// Everything that somebody outside may listen on. Whoever was reached knows.
struct Outside {
    /// The one that is allowed leads everyone on to another.
    allowed: u16,
    tcp: Vec<(&'static str, TcpListener)>,
    udp: UdpSocket,
    abstract_name: String,
    nameless: UnixDatagram,
    by_path: UnixListener,
}

impl Outside {
    fn open(world: &World) -> Outside {
        let allowed = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = allowed.local_addr().unwrap().port();
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let leads_to = other.local_addr().unwrap();
        thread::spawn(move || {
            for mut stream in allowed.incoming().flatten() {
                // Whoever asks more than this is answered all the same.
                let _heard = stream.read(&mut [0; 4096]);
                let head = format!("HTTP/1.1 302 Found\r\nlocation: http://{leads_to}/\r\nconnection: close");
                let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{REAL}", REAL.len());
                let _told = stream.write_all(answer.as_bytes());
            }
        });
        // Not every machine has IPv6, or the port free there.
        let others = [("the same port of another address", "127.0.0.2"), ("the same port of ::1", "[::1]")];
        let others = others
            .into_iter()
            .filter_map(|(what, ip)| Some((what, TcpListener::bind(format!("{ip}:{port}")).ok()?)));
        let tcp: Vec<_> = [("another port", other)].into_iter().chain(others).collect();
        tcp.iter().for_each(|(_, listener)| listener.set_nonblocking(true).unwrap());
        let udp = UdpSocket::bind(("127.0.0.1", port)).unwrap();
        udp.set_nonblocking(true).unwrap();
        let abstract_name = format!("outside-{}-{port}", std::process::id());
        let nameless = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let nameless = UnixDatagram::bind_addr(&nameless).unwrap();
        nameless.set_nonblocking(true).unwrap();
        let by_path = UnixListener::bind(world.here().join("there.sock")).unwrap();
        by_path.set_nonblocking(true).unwrap();
        Outside { allowed: port, tcp, udp, abstract_name, nameless, by_path }
    }

    /// Tries all of it from inside. What the sink answers in their place is for the listeners to tell apart.
    fn attack(&self) -> String {
        let Outside { allowed, abstract_name, .. } = self;
        let other = self.tcp[0].1.local_addr().unwrap().port();
        format!(
            "import os, socket, urllib.request
def tried(act):
    try: return act()
    except OSError: return b''
def ask(host, port, limit=1):
    peer = socket.create_connection((host, port), limit)
    peer.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')
    return peer.recv(4096)
def unix(kind, name):
    peer = socket.socket(socket.AF_UNIX, kind)
    peer.connect(name)
    peer.send(b'x')
print('allowed', b'{REAL}' in tried(lambda: ask('127.0.0.1', {allowed}, 30)))
print('redirect', b'{REAL}' in tried(lambda: urllib.request.urlopen('http://127.0.0.1:{allowed}/', timeout=5).read()))
for host in ['127.0.0.1', 'localhost', '0.0.0.0', 'elsewhere.test', '127.0.0.2', '::1', '::ffff:127.0.0.1']:
    for port in [{allowed}, {other}]:
        if (host, port) != ('127.0.0.1', {allowed}): tried(lambda: ask(host, port))
tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {allowed})))
tried(lambda: unix(socket.SOCK_DGRAM, '\\0{abstract_name}'))
tried(lambda: unix(socket.SOCK_STREAM, 'there.sock'))
tried(lambda: unix(socket.SOCK_STREAM, os.path.abspath('there.sock')))"
        )
    }

    /// Who was reached and should not have been.
    fn reached(&self) -> Vec<&'static str> {
        let tcp = self.tcp.iter().filter(|(_, listener)| listener.accept().is_ok()).map(|(what, _)| *what);
        let others = [
            ("a datagram socket", self.udp.recv(&mut [0; 8]).is_ok()),
            ("an abstract socket", self.nameless.recv(&mut [0; 8]).is_ok()),
            ("a socket by its path", self.by_path.accept().is_ok()),
        ];
        tcp.chain(others.into_iter().filter(|(_, was)| *was).map(|(what, _)| what)).collect()
    }
}

/// What a server said with this network, where `PORT` is the address that is allowed, and who else was reached.
fn with_network(way: &Way, net: &str) -> (crate::world::Outcome, Vec<&'static str>) {
    let world = World::new();
    let outside = Outside::open(&world);
    let world = world.with("server.py", &server(&outside.attack(), false));
    let net = net.replace("PORT", &outside.allowed.to_string());
    // What nobody answers takes its second each.
    let flags = ["--sandbox", "require", "--startup-timeout", "120s", "--budget", "200s", "--net", &net];
    let outcome = doctor(way, &world, &flags);
    let reached = outside.reached();
    (outcome, reached)
}

/// Held.
#[test]
fn of_the_machines_network_only_the_address_that_is_allowed_is_reached() {
    let confined = ways().into_iter().chain(without_overlays());
    let all: Vec<_> = confined.flat_map(|way| ["127.0.0.1", "localhost"].map(|name| (way, name))).collect();
    each(all, |(way, name)| {
        let (outcome, reached) = with_network(&way, &format!("allow={name}:PORT"));
        let said = told(&outcome);
        assert!(said.starts_with("allowed True\n"), "{way:?} {name}: {outcome}");
        assert!(said.contains("redirect False\n"), "{way:?} {name}: {outcome}");
        assert_eq!(reached, [""; 0], "{way:?} {name}: {outcome}");
    });
    // The same attack, where it is meant to get through.
    let (outcome, reached) = with_network(&ways()[0], "host");
    assert!(told(&outcome).starts_with("allowed True\n"), "{outcome}");
    assert!(
        reached.contains(&"another port") && reached.contains(&"a datagram socket"),
        "{reached:?}: {outcome}"
    );
}

/// Held: below namespaces there is no sink that could let one address through, so all of them are refused.
#[test]
fn behind_landlock_no_address_is_reached_and_without_it_nothing_is_started() {
    each(lower_rungs(), |(lacks, way)| {
        let (outcome, reached) = with_network(&way, "allow=127.0.0.1:PORT");
        assert_eq!(reached, [""; 0], "{lacks} {way:?}: {outcome}");
        if lacks.contains("landlock") {
            assert_eq!(outcome.code, Some(3), "{lacks} {way:?}: {outcome}");
        } else {
            assert!(told(&outcome).starts_with("allowed False\nredirect False\n"), "{way:?}: {outcome}");
        }
    });
}
