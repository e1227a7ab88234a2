//! What the network sink costs: `cargo bench -p wallfacer-process --bench sink`. Without a jail, on loopback.

// A benchmark reports on the terminal.
#![allow(clippy::print_stdout)]

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use wallfacer_process::sink::{Authority, Mode, Options, Sink, Sockets, Transport};

const ROUNDS: u16 = 300;

/// Opens everything on loopback, and knows where the last listener is.
#[derive(Clone, Default)]
struct Loopback(Arc<Mutex<Option<SocketAddr>>>);

impl Sockets for Loopback {
    fn listen_tcp(&self, _at: SocketAddr) -> io::Result<TcpListener> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        *self.0.lock().expect("nothing panics") = Some(listener.local_addr()?);
        Ok(listener)
    }

    fn bind_udp(&self, _at: SocketAddr) -> io::Result<UdpSocket> {
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
    }
}

fn start(sockets: Loopback, authority: &Arc<Authority>) -> Sink {
    let options = Options {
        mode: Mode::Answer,
        allow: Vec::new(),
        names: Vec::new(),
        seed: 7,
        call: Arc::new(AtomicU64::new(0)),
        authority: Arc::clone(authority),
        shapes: Arc::default(),
        fault: None,
    };
    Sink::start(sockets, options).expect("a sink starts")
}

fn main() {
    report("an authority", || drop(Authority::new()));
    let authority = Arc::new(Authority::new().expect("an authority is made"));
    report("a sink, started and ended", || drop(start(Loopback::default(), &authority)));

    let sockets = Loopback::default();
    let sink = start(sockets.clone(), &authority);
    let port = AtomicU16::new(1024);
    let ensure = |port| sink.ensure((Ipv4Addr::new(23, 4, 5, 6), port).into(), Transport::Tcp);
    report("a listener, where there was none", || {
        ensure(port.fetch_add(1, Ordering::Relaxed)).expect("a listener opens");
    });
    ensure(443).expect("a listener opens");
    let at = sockets.0.lock().expect("nothing panics").expect("a listener is open");
    report("a listener that is there", || ensure(443).expect("a listener is open"));
    report("settling", || assert!(sink.settle(Duration::from_secs(9))));

    let mut roots = RootCertStore::empty();
    let trusted = CertificateDer::from_pem_slice(authority.pem().as_bytes()).expect("this is PEM");
    roots.add(trusted).expect("this is a certificate");
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider knows them")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let config = Arc::new(config);
    let number = AtomicU64::new(0);
    let fetch = |name: String| {
        let client =
            ClientConnection::new(Arc::clone(&config), name.try_into().expect("a name")).expect("a client");
        let socket = TcpStream::connect(at).expect("somebody listens");
        socket.set_nodelay(true).expect("this is TCP");
        let mut stream = StreamOwned::new(client, socket);
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("the request goes out");
        stream.read_exact(&mut [0; 64]).expect("the answer comes");
    };
    report("HTTPS to a new name, client included", || {
        fetch(format!("n{}.example", number.fetch_add(1, Ordering::Relaxed)));
    });
    report("HTTPS to a known name, client included", || fetch("n1.example".to_owned()));
}

/// The median of many rounds.
fn report(what: &str, act: impl Fn()) {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            act();
            began.elapsed()
        })
        .collect();
    times.sort();
    println!("{what:45} {:>8.1} µs", times[times.len() / 2].as_secs_f64() * 1e6);
}
