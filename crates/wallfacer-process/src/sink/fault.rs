//! Breaks the answers of a service on purpose, each in one way, to see what a server makes of that.

use std::future::pending;
use std::os::fd::AsRawFd;

use tokio::net::TcpStream;

use super::bounds::FLOOD;
use super::http::Head;
use super::wire::Wire;

/// What is wrong with every answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Nobody is there: connections are refused.
    Refuse,
    /// The connection is reset as soon as the request is there.
    Reset,
    /// The answer never comes.
    Silent,
    /// Too many requests.
    Busy,
    /// The service has failed.
    Failed,
    /// It answers with bytes that are none of what was asked for.
    Garbage,
    /// It hangs up in the middle of its answer.
    Half,
    /// It sends on to where the request came to.
    Loop,
    /// It sends far more than anybody asked for.
    Flood,
}

/// One piece of a flood.
const PIECE: usize = 64 * 1024;

impl Fault {
    /// What closes this connection resets it.
    pub(super) fn resets(stream: &TcpStream) {
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        let size = size_of::<libc::linger>() as libc::socklen_t;
        let place = (&raw const linger).cast::<libc::c_void>();
        // SAFETY: the socket is open, and `place` points to as many bytes as `size` says. Should it fail, the connection
        // is closed in peace, which is a fault as well.
        let _closed_in_peace =
            unsafe { libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, place, size) };
    }

    /// Answers with the fault; whether the connection goes on. `whole` is what would have been answered.
    pub(super) async fn answer(self, wire: &mut Wire, head: &Head, whole: &[u8]) -> bool {
        match self {
            Fault::Refuse | Fault::Reset => false,
            // Whoever waits is cut off when connections end that last too long.
            Fault::Silent => pending().await,
            Fault::Busy => wire.say(&refusal(head, "429 Too Many Requests", "Retry-After: 1\r\n")).await,
            Fault::Failed => wire.say(&refusal(head, "500 Internal Server Error", "")).await,
            Fault::Garbage => {
                let body: Vec<u8> = (0..512_u32).map(|place| (place * 167 + 89) as u8 | 0x80).collect();
                let length = body.len();
                let start = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
                );
                wire.say(&[start.as_bytes(), &body].concat()).await
            }
            Fault::Half => {
                wire.say(&whole[..whole.len() - whole.len().min(body_of(whole)) / 2]).await;
                false
            }
            Fault::Loop => {
                let path = &head.request.path;
                let there = format!("HTTP/1.1 302 Found\r\nLocation: {path}\r\nContent-Length: 0\r\n\r\n");
                wire.say(there.as_bytes()).await
            }
            Fault::Flood => {
                let start = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {FLOOD}\r\n\r\n"
                );
                let mut goes_on = wire.say(start.as_bytes()).await;
                let piece = vec![b'['; PIECE];
                for _ in 0..FLOOD / PIECE {
                    goes_on = goes_on && wire.say(&piece).await;
                }
                goes_on
            }
        }
    }
}

fn refusal(head: &Head, status: &str, more: &str) -> Vec<u8> {
    let body = "{\"error\":{\"message\":\"the service is not available\"}}\n";
    let body = if head.request.method == "HEAD" { "" } else { body };
    format!(
        "HTTP/1.1 {status}\r\n{more}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// How many bytes of an answer are its body.
fn body_of(whole: &[u8]) -> usize {
    let end = whole.windows(4).position(|window| window == b"\r\n\r\n");
    end.map_or(0, |end| whole.len() - end - 4)
}
