//! Talks on an accepted connection and records what is said. Finds out what is spoken and answers HTTP; databases answer
//! for themselves, and all else is heard out in silence.

use std::io;
use std::net::IpAddr;
use std::pin::pin;

use rustls::server::{Accepted, Acceptor};
use tokio::time::timeout;
use tokio_rustls::StartHandshake;

use super::answer::Shapes;
use super::authority::Authority;
use super::bounds::{IDLE, KEEP_ALIVE, MAX_BODY, MAX_EXCHANGES, MAX_LAYERS, MAX_PIECES};
use super::database::{Database, Opening, opening};
use super::flow::Hello;
use super::http::{self, Body, Chunks, Fed, Head, Progress};
use super::room::Room;
use super::wire::Wire;

/// The first byte of a TLS connection.
const TLS_HANDSHAKE: u8 = 0x16;

/// How an HTTP/2 connection begins.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Our settings, all as they are by default, and that we have seen theirs: some clients send nothing before it.
const HTTP2_SETTINGS: [u8; 18] = [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0];

/// What the answers need besides the connection.
pub(super) struct Manners<'a> {
    pub(super) authority: &'a Authority,
    pub(super) marker: &'a str,
    /// What was learned of the answers that are expected.
    pub(super) shapes: &'a Shapes,
    /// Says what is wrong with every answer; none where all are as they should be.
    pub(super) room: Option<&'a Room>,
    /// The name that certificates say where the client names none.
    pub(super) name: Option<String>,
    pub(super) address: IpAddr,
}

enum Turn {
    /// Another protocol begins on the same connection.
    Within,
    /// This is no HTTP.
    Unknown,
    Over,
}

/// Talks until the client or our patience has come to an end, or until it turns out that a database is asked.
pub(super) async fn converse(mut wire: Wire, manners: &Manners<'_>) -> Option<(Wire, Database)> {
    for _ in 0..MAX_LAYERS {
        if !wire.ready(IDLE).await {
            break;
        }
        let first = wire.buffer();
        // What is planted is no database.
        if let Some(database) = manners.room.and_then(|_| Database::of(first)) {
            return Some((wire, database));
        }
        let turn = if first[0] == TLS_HANDSHAKE {
            match greet(&mut wire).await {
                Some((accepted, greeting)) => match secure(wire, accepted, &greeting, manners).await {
                    Some(secured) => {
                        wire = secured;
                        Turn::Within
                    }
                    None => return None,
                },
                None => Turn::Unknown,
            }
        } else if let Some(opening) = opening(first) {
            let length = first.len();
            wire.take(length);
            let answer = if opening == Opening::Secure { b"S" } else { b"N" };
            if wire.say(answer).await { Turn::Within } else { Turn::Over }
        } else if first.starts_with(HTTP2_PREFACE) {
            wire.take_all();
            wire.say(&HTTP2_SETTINGS).await;
            Turn::Unknown
        } else {
            serve(&mut wire, manners).await
        };
        match turn {
            Turn::Within => {}
            Turn::Unknown => {
                listen(&mut wire).await;
                break;
            }
            Turn::Over => break,
        }
    }
    wire.close().await;
    None
}

/// Reads the greeting of a TLS client, and gives it also as the bytes it was. `None` when it is none; what was taken
/// by then is on record.
async fn greet(wire: &mut Wire) -> Option<(Accepted, Vec<u8>)> {
    let mut acceptor = Acceptor::default();
    let mut taken = Vec::new();
    for _ in 0..MAX_PIECES {
        if !wire.ready(IDLE).await {
            break;
        }
        let mut rest = wire.buffer();
        let Ok(count) = acceptor.read_tls(&mut rest) else { break };
        taken.extend_from_slice(&wire.buffer()[..count]);
        wire.skip(count);
        match acceptor.accept() {
            Ok(Some(accepted)) => return Some((accepted, taken)),
            Ok(None) => {}
            Err(_) => break,
        }
    }
    wire.recorder.sent(&taken);
    None
}

/// Puts TLS between. Where the client will not have it, its greeting is all that goes on record.
async fn secure(wire: Wire, accepted: Accepted, greeting: &[u8], manners: &Manners<'_>) -> Option<Wire> {
    let Wire { layer, mut recorder, .. } = wire;
    let hello = Hello::from(&accepted.client_hello());
    let name = hello.sni.clone().or_else(|| manners.name.clone());
    let config = manners.authority.config(name.as_deref(), manners.address, &hello.alpn);
    recorder.secured(hello);
    let handshake = StartHandshake::from_parts(accepted, layer).into_stream(config.ok()?).into_fallible();
    let mut handshake = pin!(handshake);
    match timeout(IDLE, handshake.as_mut()).await {
        Ok(Ok(stream)) => Some(Wire::new(stream, recorder)),
        // The connection is within the failure: it is closed only when this is on record.
        failure => {
            if matches!(&failure, Ok(Err((error, _))) if is_distrust(error)) {
                recorder.distrusted();
            }
            recorder.sent(greeting);
            None
        }
    }
}

/// Whether a client ended its greeting because of our certificate.
fn is_distrust(error: &io::Error) -> bool {
    use rustls::AlertDescription::{BadCertificate, CertificateUnknown, UnknownCA};
    let alert = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
    matches!(alert, Some(rustls::Error::AlertReceived(UnknownCA | BadCertificate | CertificateUnknown)))
}

/// Answers one request after the other.
async fn serve(wire: &mut Wire, manners: &Manners<'_>) -> Turn {
    for exchange in 0..MAX_EXCHANGES {
        if exchange > 0 {
            if !wire.ready(KEEP_ALIVE).await {
                return Turn::Over;
            }
            wire.recorder.next_exchange();
        }
        let Some(head) = read_head(wire).await else { return Turn::Unknown };
        wire.recorder.requested(head.request.clone());
        if head.waits_to_send && !wire.say(b"HTTP/1.1 100 Continue\r\n\r\n").await {
            return Turn::Over;
        }
        let (whole, sent) = take_body(wire, &head.body).await;
        let answer = head.answer(sent, manners.shapes, manners.marker);
        // Asked for each request: who keeps a connection open is not spared.
        let fault = manners.room.and_then(Room::fault).filter(|_| head.request.method != "CONNECT");
        if let Some(fault) = fault {
            if !fault.answer(wire, &head, &answer).await {
                return Turn::Over;
            }
        } else if !wire.say(&answer).await {
            return Turn::Over;
        }
        if head.request.method == "CONNECT" {
            let host = head.request.path.rsplit_once(':').map(|(host, _)| host.to_owned());
            wire.recorder.tunnelled(host);
            return Turn::Within;
        }
        if !whole || !head.keep_alive {
            return Turn::Over;
        }
    }
    Turn::Over
}

/// `None` when it turns out to be something else; what was taken by then is on record.
async fn read_head(wire: &mut Wire) -> Option<Head> {
    let mut taken = Vec::new();
    for _ in 0..MAX_PIECES {
        if !wire.ready(IDLE).await {
            return None;
        }
        let before = taken.len();
        taken.extend_from_slice(wire.buffer());
        match http::read(&taken) {
            Progress::Complete(head, length) => {
                wire.take(length - before);
                return Some(*head);
            }
            Progress::Incomplete => wire.take_all(),
            Progress::NotHttp => return None,
        }
    }
    None
}

/// Whether the body came to its end, and its first bytes.
async fn take_body(wire: &mut Wire, body: &Body) -> (bool, Vec<u8>) {
    let mut kept = Vec::new();
    let keep = |kept: &mut Vec<u8>, bytes: &[u8]| {
        let room = MAX_BODY - kept.len();
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    };
    match body {
        Body::Length(length) => {
            let mut left = *length;
            while left > 0 && wire.ready(IDLE).await {
                let step = usize::try_from(left).unwrap_or(usize::MAX).min(wire.buffer().len());
                keep(&mut kept, &wire.buffer()[..step]);
                wire.take(step);
                left -= step as u64;
            }
            (left == 0, kept)
        }
        Body::Chunked => {
            let mut chunks = Chunks::default();
            while wire.ready(IDLE).await {
                match chunks.feed(wire.buffer()) {
                    Fed::More => {
                        keep(&mut kept, wire.buffer());
                        wire.take_all();
                    }
                    Fed::Ended(count) => {
                        keep(&mut kept, &wire.buffer()[..count]);
                        wire.take(count);
                        return (true, http::joined(&kept));
                    }
                    Fed::Broken => return (false, Vec::new()),
                }
            }
            (false, Vec::new())
        }
    }
}

/// Hears the client out.
async fn listen(wire: &mut Wire) {
    while wire.ready(IDLE).await {
        wire.take_all();
    }
}
