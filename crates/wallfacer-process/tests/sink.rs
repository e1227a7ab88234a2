//! The sink as a target finds it. Its sockets are moved to free ports of loopback, so that no jail is needed.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use wallfacer_process::sink::{
    Authority, DNS_ADDRESS, DNS_PORT, Flow, Kind, Mode, Options, Sink, Sockets, Transport, Upstream,
};

/// Longer than anything takes on a busy machine: reached only when a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where each address of the target's world really is.
#[derive(Debug, Clone, Default)]
struct Elsewhere(Arc<Mutex<BTreeMap<(Transport, SocketAddr), SocketAddr>>>);

impl Sockets for Elsewhere {
    fn listen_tcp(&self, at: SocketAddr) -> io::Result<TcpListener> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        self.0.lock().unwrap().insert((Transport::Tcp, at), listener.local_addr()?);
        Ok(listener)
    }

    fn bind_udp(&self, at: SocketAddr) -> io::Result<UdpSocket> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        self.0.lock().unwrap().insert((Transport::Udp, at), socket.local_addr()?);
        Ok(socket)
    }
}

struct World {
    sink: Sink,
    places: Elsewhere,
    call: Arc<AtomicU64>,
    authority: Arc<Authority>,
}

impl World {
    fn new(mode: Mode, allow: Vec<Upstream>) -> Self {
        let call = Arc::new(AtomicU64::new(0));
        let authority = Arc::new(Authority::new().unwrap());
        let places = Elsewhere::default();
        let options = Options {
            mode,
            allow,
            names: vec![("inside.example".to_owned(), Ipv4Addr::LOCALHOST.into())],
            seed: 7,
            call: Arc::clone(&call),
            authority: Arc::clone(&authority),
            shapes: Arc::default(),
            fault: None,
        };
        Self { sink: Sink::start(places.clone(), options).unwrap(), places, call, authority }
    }

    fn answering() -> Self {
        Self::new(Mode::Answer, Vec::new())
    }

    fn place(&self, transport: Transport, at: SocketAddr) -> Option<SocketAddr> {
        self.places.0.lock().unwrap().get(&(transport, at)).copied()
    }

    /// What a traced target does: the sink hears of it first.
    fn connect(&self, to: &str) -> TcpStream {
        let to = to.parse().unwrap();
        self.sink.ensure(to, Transport::Tcp).unwrap();
        connect(self.place(Transport::Tcp, to).expect("somebody listens"))
    }

    fn tls(
        &self,
        stream: TcpStream,
        name: &str,
        protocols: &[&str],
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.authority.pem().as_bytes()).unwrap()).unwrap();
        self.tls_trusting(roots, stream, name, protocols)
    }

    fn tls_trusting(
        &self,
        roots: RootCertStore,
        stream: TcpStream,
        name: &str,
        protocols: &[&str],
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        let name = name.to_owned().try_into().unwrap();
        StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream)
    }

    /// Asks the resolver over UDP; gives its code and the addresses.
    fn resolve(&self, name: &str) -> (u8, Vec<Ipv4Addr>) {
        let resolver = self.place(Transport::Udp, (DNS_ADDRESS, DNS_PORT).into()).unwrap();
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.send_to(&question(name), resolver).unwrap();
        let mut answer = [0; 512];
        let count = socket.recv(&mut answer).unwrap();
        read_answer(name, &answer[..count])
    }

    /// What was seen over TCP besides the resolver.
    fn tcp(&self) -> Vec<Flow> {
        let flows = self.sink.seen().flows;
        flows.into_iter().filter(|flow| flow.kind == Kind::Tcp && flow.address.port() != DNS_PORT).collect()
    }
}

fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn question(name: &str) -> Vec<u8> {
    let mut message = vec![1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        message.push(u8::try_from(label.len()).unwrap());
        message.extend(label.as_bytes());
    }
    message.extend([0, 0, 1, 0, 1]);
    message
}

fn read_answer(name: &str, answer: &[u8]) -> (u8, Vec<Ipv4Addr>) {
    let records = answer[question(name).len()..].chunks(16);
    (answer[3] & 15, records.map(|record| record[12..].first_chunk().copied().unwrap().into()).collect())
}

/// A head with its body.
fn read_reply(stream: &mut impl Read) -> String {
    let mut reply = Vec::new();
    let mut byte = [0];
    while !reply.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        reply.push(byte[0]);
    }
    let head = String::from_utf8(reply).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap_or("0");
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

/// Reads until the other side has closed, in whatever manner.
fn is_closed(stream: &mut impl Read) -> bool {
    loop {
        match stream.read(&mut [0; 64]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
        }
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn a_name_resolves_and_its_address_leads_back_to_it() {
    let world = World::answering();
    world.call.store(3, Ordering::SeqCst);
    let (code, addresses) = world.resolve("evil.example.com");
    assert_eq!((code, addresses.len()), (0, 1));
    let mut stream = world.connect(&format!("{}:80", addresses[0]));
    stream.write_all(b"GET /x HTTP/1.1\r\nHost: other.example\r\n\r\n").unwrap();
    let reply = read_reply(&mut stream);
    assert!(reply.starts_with("HTTP/1.1 200 OK") && reply.contains(world.sink.marker()), "{reply}");
    let flows = world.sink.seen().flows;
    let asked = Kind::Dns { question: "evil.example.com".to_owned(), record: "A".to_owned() };
    assert_eq!((&flows[0].kind, flows[0].call), (&asked, Some(3)));
    let flow = &flows[1];
    assert_eq!(
        (flow.name.as_deref(), flow.call, flow.address.port()),
        (Some("evil.example.com"), Some(3), 80)
    );
    let request = flow.http.as_ref().unwrap();
    assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/x"));
    assert_eq!(request.host.as_deref(), Some("other.example"));
    assert_eq!(flow.answered.total, reply.len() as u64);
}

#[test]
fn names_are_resolved_over_tcp_too() {
    let world = World::answering();
    let mut stream = connect(world.place(Transport::Tcp, (DNS_ADDRESS, DNS_PORT).into()).unwrap());
    let message = question("big.example");
    let framed = [&[0, u8::try_from(message.len()).unwrap()][..], &message].concat();
    // Cut in two, as a hostile client would.
    stream.write_all(&framed[..5]).unwrap();
    stream.write_all(&framed[5..]).unwrap();
    let mut length = [0; 2];
    stream.read_exact(&mut length).unwrap();
    let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(read_answer("big.example", &answer), world.resolve("big.example"));
}

#[test]
fn names_keep_the_meaning_they_have_or_were_given() {
    let world = World::answering();
    assert_eq!(world.resolve("nothing.invalid").0, 3);
    assert_eq!(world.resolve("inside.example"), (0, vec![Ipv4Addr::LOCALHOST]));
}

#[test]
fn what_is_sent_within_tls_is_seen_in_the_clear() {
    let world = World::answering();
    let stream = world.connect("23.4.5.6:9443");
    let mut tls = world.tls(stream, "evil.example.com", &["h2", "http/1.1"]);
    tls.write_all(b"POST /steal HTTP/1.1\r\nHost: evil.example.com\r\nContent-Length: 9\r\n\r\nCANARY-42")
        .unwrap();
    assert!(read_reply(&mut tls).contains(world.sink.marker()));
    let [flow] = world.tcp().try_into().unwrap();
    let hello = flow.tls.unwrap();
    assert_eq!(hello.sni.as_deref(), Some("evil.example.com"));
    assert_eq!(hello.alpn, ["h2", "http/1.1"]);
    assert_eq!(flow.name.as_deref(), Some("evil.example.com"));
    assert!(contains(&flow.sent.first, "CANARY-42"));
    assert_eq!(flow.http.unwrap().path, "/steal");
}

#[test]
fn a_bare_address_has_a_certificate_too() {
    let world = World::answering();
    let mut tls = world.tls(world.connect("23.4.5.6:443"), "23.4.5.6", &[]);
    tls.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert!(read_reply(&mut tls).starts_with("HTTP/1.1 200"));
}

#[test]
fn a_client_that_trusts_nobody_still_tells_whom_it_wanted() {
    let world = World::answering();
    let stream = world.connect("23.4.5.6:443");
    let mut tls = world.tls_trusting(RootCertStore::empty(), stream, "pinned.example", &[]);
    assert!(tls.write_all(b"GET / HTTP/1.1\r\n\r\n").and_then(|()| tls.flush()).is_err());
    assert!(is_closed(&mut tls.sock));
    let [flow] = world.tcp().try_into().unwrap();
    assert_eq!(flow.name.as_deref(), Some("pinned.example"));
    assert_eq!(flow.sent.first[0], 0x16);
}

#[test]
fn a_client_that_speaks_only_http2_is_heard() {
    let world = World::answering();
    let mut tls = world.tls(world.connect("23.4.5.6:443"), "telemetry.example", &["h2"]);
    tls.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    let mut settings = [0; 18];
    tls.read_exact(&mut settings).unwrap();
    assert_eq!(settings[3], 4);
    tls.write_all(b"frames with CANARY-42").unwrap();
    tls.conn.send_close_notify();
    tls.flush().unwrap();
    assert!(is_closed(&mut tls));
    assert!(contains(&world.tcp()[0].sent.first, "CANARY-42"));
}

#[test]
fn what_goes_through_a_tunnel_is_seen_in_the_clear() {
    let world = World::answering();
    let mut stream = world.connect("23.4.5.6:3128");
    stream.write_all(b"CONNECT hidden.example:443 HTTP/1.1\r\n\r\n").unwrap();
    assert!(read_reply(&mut stream).starts_with("HTTP/1.1 200"));
    let mut tls = world.tls(stream, "hidden.example", &["http/1.1"]);
    tls.write_all(b"GET /CANARY-42 HTTP/1.1\r\n\r\n").unwrap();
    assert!(read_reply(&mut tls).contains(world.sink.marker()));
    let [tunnel, inside] = world.tcp().try_into().unwrap();
    assert_eq!(tunnel.http.unwrap().method, "CONNECT");
    assert_eq!(inside.name.as_deref(), Some("hidden.example"));
    assert_eq!(inside.http.unwrap().path, "/CANARY-42");
    assert_eq!(tunnel.connection, inside.connection);
}

#[test]
fn each_request_of_a_kept_connection_belongs_to_its_own_call() {
    let world = World::answering();
    world.call.store(1, Ordering::SeqCst);
    let mut stream = world.connect("23.4.5.6:80");
    stream
        .write_all(b"POST /one HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n")
        .unwrap();
    read_reply(&mut stream);
    world.call.store(2, Ordering::SeqCst);
    stream.write_all(b"HEAD /two HTTP/1.1\r\n\r\n").unwrap();
    let mut head = [0; 15];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    let flows = world.tcp();
    let seen: Vec<_> =
        flows.iter().map(|flow| (flow.call, flow.http.as_ref().unwrap().path.as_str())).collect();
    assert_eq!(seen, [(Some(1), "/one"), (Some(2), "/two")]);
}

#[test]
fn a_body_that_waits_for_leave_gets_it() {
    let world = World::answering();
    let mut stream = world.connect("23.4.5.6:80");
    stream.write_all(b"PUT / HTTP/1.1\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n").unwrap();
    assert!(read_reply(&mut stream).starts_with("HTTP/1.1 100"));
    stream.write_all(b"body").unwrap();
    assert!(read_reply(&mut stream).starts_with("HTTP/1.1 200"));
}

#[test]
fn an_unknown_protocol_is_heard_out_and_only_its_beginning_kept() {
    let world = World::answering();
    let mut stream = world.connect("10.1.2.3:31337");
    let piece = [b'x'; 1 << 16];
    stream.write_all(b"\x00CANARY-42").unwrap();
    for _ in 0..32 {
        stream.write_all(&piece).unwrap();
    }
    stream.shutdown(Shutdown::Write).unwrap();
    assert!(is_closed(&mut stream));
    let [flow] = world.tcp().try_into().unwrap();
    assert!(flow.sent.first.starts_with(b"\x00CANARY-42") && !flow.open);
    assert_eq!((flow.sent.first.len(), flow.sent.total), (1 << 16, (32 << 16) + 10));
}

#[test]
fn what_only_looks_like_tls_is_kept_as_it_is() {
    let world = World::answering();
    for garbage in [&b"\x16CANARY-42"[..], b"\x16\x03\x01\x00\x09CANARY-42", b"\x16\x03\x01\xff\xffCANARY-42"]
    {
        let mut stream = world.connect("23.4.5.6:443");
        stream.write_all(garbage).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert!(is_closed(&mut stream));
        let [flow] = world.sink.take().flows.try_into().unwrap();
        assert_eq!(flow.sent.first, garbage);
    }
}

#[test]
fn datagrams_are_recorded_with_the_call_that_sent_them() {
    let world = World::answering();
    let address = "23.4.5.6:9999".parse().unwrap();
    world.sink.ensure(address, Transport::Udp).unwrap();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    for call in 1..=2_u64 {
        world.call.store(call, Ordering::SeqCst);
        socket
            .send_to(format!("from {call}").as_bytes(), world.place(Transport::Udp, address).unwrap())
            .unwrap();
        assert!(world.sink.settle(PATIENCE));
    }
    let flows = world.sink.take().flows;
    let seen: Vec<_> = flows.iter().map(|flow| (flow.call, flow.sent.first.as_slice())).collect();
    assert_eq!(seen, [(Some(1), &b"from 1"[..]), (Some(2), b"from 2")]);
}

#[test]
fn garbage_for_the_resolver_is_recorded_and_harms_nobody() {
    let world = World::answering();
    let resolver = world.place(Transport::Udp, (DNS_ADDRESS, DNS_PORT).into()).unwrap();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.send_to(b"CANARY-42", resolver).unwrap();
    assert_eq!(world.resolve("still.example").0, 0);
    let flows = world.sink.seen().flows;
    assert_eq!((&flows[0].kind, flows[0].sent.first.as_slice()), (&Kind::Udp, &b"CANARY-42"[..]));
}

#[test]
fn nobody_lives_on_loopback_unless_planted() {
    let world = World::answering();
    for address in ["127.0.0.1:8080", "[::1]:8080", "0.0.0.0:8080", "[::ffff:127.0.0.1]:8080"] {
        world.sink.ensure(address.parse().unwrap(), Transport::Tcp).unwrap();
        assert_eq!(world.places.0.lock().unwrap().len(), 2, "{address}");
    }
    let port = world.sink.plant(0).unwrap();
    world.call.store(5, Ordering::SeqCst);
    let mut stream = connect((Ipv4Addr::LOCALHOST, port).into());
    stream.write_all(b"GET /internal HTTP/1.1\r\n\r\n").unwrap();
    assert!(read_reply(&mut stream).contains(world.sink.marker()));
    let [flow] = world.tcp().try_into().unwrap();
    assert!(flow.planted && flow.address == (Ipv4Addr::LOCALHOST, port).into());
    assert_eq!(flow.call, Some(5));
}

#[test]
fn a_network_that_refuses_fails_names_and_listens_nowhere() {
    let world = World::new(Mode::Refuse, Vec::new());
    assert_eq!(world.resolve("evil.example.com"), (2, Vec::new()));
    world.sink.ensure("23.4.5.6:443".parse().unwrap(), Transport::Tcp).unwrap();
    world.sink.cover(443).unwrap();
    assert_eq!(world.places.0.lock().unwrap().len(), 2);
    let [asked] = world.sink.seen().flows.try_into().unwrap();
    assert_eq!(asked.name.as_deref(), Some("evil.example.com"));
}

#[test]
fn what_is_allowed_reaches_the_real_network_and_is_recorded() {
    let outside = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = outside.local_addr().unwrap().port();
    let echo = thread::spawn(move || {
        let (mut stream, _) = outside.accept().unwrap();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).unwrap();
        stream.write_all(&[&b"heard: "[..], &heard].concat()).unwrap();
    });
    let allow = vec![Upstream { host: "localhost".to_owned(), port }];
    let world = World::new(Mode::Refuse, allow);
    let inside = world.place(Transport::Tcp, (Ipv4Addr::LOCALHOST, port).into()).unwrap();
    let mut stream = connect(inside);
    stream.write_all(b"select 1").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "heard: select 1");
    echo.join().unwrap();
    let [flow] = world.tcp().try_into().unwrap();
    assert!(flow.forwarded);
    assert_eq!((flow.sent.first.as_slice(), flow.answered.total), (&b"select 1"[..], 15));
}

#[test]
fn a_walk_through_a_thousand_ports_is_heard_on_each() {
    let world = World::answering();
    for port in 1000..2000 {
        world.connect(&format!("23.4.5.6:{port}")).write_all(format!("knock {port}").as_bytes()).unwrap();
    }
    assert!(world.sink.settle(PATIENCE));
    let mut seen = world.sink.seen();
    assert!(seen.lost.nothing(), "{:?}", seen.lost);
    // Those who wait at different doors are let in in any order.
    seen.flows.sort_by_key(|flow| flow.address);
    for (flow, port) in seen.flows.iter().zip(1000..2000) {
        assert_eq!(flow.address.port(), port);
        assert_eq!(flow.sent.first, format!("knock {port}").as_bytes());
    }
    assert_eq!(seen.flows.len(), 1000);
}

#[test]
fn connections_beyond_the_bound_are_turned_away_and_counted() {
    let world = World::answering();
    let held: Vec<_> = (0..300).map(|_| world.connect("23.4.5.6:4444")).collect();
    assert!(world.sink.settle(PATIENCE));
    let seen = world.sink.take();
    assert!(seen.flows.len() < 300 && seen.flows.iter().all(|flow| flow.open));
    assert_eq!(seen.flows.len() as u64 + seen.lost.flows, 300);
    drop(held);
    assert!(world.sink.settle(PATIENCE));
    let mut stream = world.connect("23.4.5.6:80");
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    read_reply(&mut stream);
}

#[test]
fn a_client_that_waits_to_be_spoken_to_is_let_go() {
    let world = World::answering();
    let mut stream = world.connect("23.4.5.6:25");
    assert!(is_closed(&mut stream));
    assert!(!world.tcp()[0].open);
}

#[test]
fn dropping_the_sink_closes_its_connections() {
    let world = World::answering();
    let mut stream = world.connect("23.4.5.6:5555");
    stream.write_all(b"hello").unwrap();
    assert!(world.sink.settle(PATIENCE));
    drop(world.sink);
    assert!(is_closed(&mut stream));
}

/// Sends a message of a client of PostgreSQL and reads until the database is ready for more.
fn asked(stream: &mut TcpStream, kind: Option<u8>, body: &[u8]) -> String {
    let length = (body.len() as u32 + 4).to_be_bytes();
    stream.write_all(&[kind.as_slice(), &length, body].concat()).unwrap();
    let mut told = Vec::new();
    while !(told.len() >= 6 && told[told.len() - 6..].starts_with(&[b'Z', 0, 0, 0, 5])) {
        let mut piece = [0; 1024];
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "it hung up after {:?}", String::from_utf8_lossy(&told));
        told.extend_from_slice(&piece[..count]);
    }
    String::from_utf8_lossy(&told).into_owned()
}

#[test]
fn a_database_is_there_on_loopback_and_what_it_was_asked_is_on_record() {
    let world = World::answering();
    let mut stream = world.connect("127.0.0.1:5432");
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    asked(&mut stream, None, b"\0\x03\0\0user\0app\0\0");
    world.call.store(4, Ordering::SeqCst);
    assert!(asked(&mut stream, Some(b'Q'), b"SELECT name FROM items WHERE id = 2\0").contains("second"));
    assert!(world.sink.settle(PATIENCE));
    let flow = world.sink.take().flows.into_iter().find(|flow| flow.statement.is_some()).unwrap();
    assert_eq!(
        (flow.call, flow.statement.as_deref()),
        (Some(4), Some("SELECT name FROM items WHERE id = 2"))
    );
}

#[test]
fn on_loopback_nobody_else_is_there() {
    let world = World::answering();
    let other: SocketAddr = "127.0.0.1:5433".parse().unwrap();
    world.sink.ensure(other, Transport::Tcp).unwrap();
    assert_eq!(world.place(Transport::Tcp, other), None);
}
