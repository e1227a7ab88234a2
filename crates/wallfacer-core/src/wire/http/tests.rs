//! Connections are reused with a server that answers in event streams, as most do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{io, thread};

use super::*;
use crate::target::EndpointKind;

const ANSWER: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";

/// Starts a server that answers every request. Gives its port and a count of the connections that were made to it.
fn server(last_chunk: &'static str) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            thread::spawn(move || answer_all(stream, last_chunk));
        }
    });
    (port, count)
}

fn answer_all(stream: TcpStream, last_chunk: &str) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line == "\r\n" {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length])?;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        write!(stream, "{head}{:x}\r\n{ANSWER}\r\n{last_chunk}", ANSWER.len())?;
        if last_chunk.is_empty() {
            return Ok(());
        }
    }
}

/// Posts one request after another, and gives how each exchange ended.
async fn post(port: u16, times: usize) -> Vec<Ended> {
    let url = format!("http://127.0.0.1:{port}/mcp");
    let endpoint = Endpoint { url, headers: Vec::new(), kind: EndpointKind::default() };
    let mut http = Http::new(&endpoint, Style::Streamable, &Bounds::default(), Way::default()).unwrap();
    http.agree(Version::LATEST);
    let mut ends = Vec::new();
    for _ in 0..times {
        http.post(Bytes::from_static(b"{}"), Some(1), HeaderMap::new());
        loop {
            if let What::Ended(ended) = http.next().await.what {
                ends.push(ended);
                break;
            }
        }
    }
    ends
}

#[tokio::test]
async fn answers_in_event_streams_keep_the_connection() {
    let (port, count) = server("0\r\n\r\n");
    let ends = post(port, 5).await;
    assert!(ends.iter().all(Ended::is_success), "{ends:?}");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_stream_that_is_cut_behind_its_answer_has_its_connection_replaced() {
    let (port, count) = server("");
    let ends = post(port, 5).await;
    assert!(ends.iter().all(Ended::is_success), "{ends:?}");
    assert_eq!(count.load(Ordering::SeqCst), 5);
}
