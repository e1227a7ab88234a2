//! Lines over the standard streams of a process: bytes queued to go out, lines coming in.

use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::Instant;
use wallfacer_process::{Process, Stdio as Pipes};

/// After the process has ended, how long its output may stay quiet before we take it as closed:
/// a child that lives on could hold the pipe open for ever.
const QUIET_AFTER_EXIT: Duration = Duration::from_millis(300);
/// Reading goes in pieces of this size.
const READ_BYTES: usize = 64 << 10;
/// What is kept of a line beyond the limit.
const OVERSIZED_HEAD: usize = 64 << 10;

/// The channel to a process that we started.
#[derive(Debug)]
pub struct Stdio {
    process: Process,
    stdin: Option<Sender>,
    stdout: Option<Receiver>,
    outbox: BytesMut,
    inbox: BytesMut,
    /// How much of `inbox` is known to hold no newline.
    searched: usize,
    max_line: usize,
    /// The line that is too long, while the rest of it is passed over.
    oversized: Option<Oversized>,
    quiet_since_exit: Option<Instant>,
}

#[derive(Debug)]
struct Oversized {
    head: Bytes,
}

/// What came over the channel.
#[derive(Debug)]
pub enum Arrival {
    Line {
        bytes: Bytes,
        terminated: bool,
    },
    /// A line beyond the limit: its beginning.
    Oversized {
        head: Bytes,
    },
    /// Nothing more will come.
    Closed,
}

impl Stdio {
    pub fn new(process: Process, pipes: Pipes, max_line: usize) -> Stdio {
        Stdio {
            process,
            stdin: Some(pipes.stdin),
            stdout: Some(pipes.stdout),
            outbox: BytesMut::new(),
            inbox: BytesMut::new(),
            searched: 0,
            max_line,
            oversized: None,
            quiet_since_exit: None,
        }
    }

    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Closes our side, so that the server knows that nothing more will come, and gives the process back.
    pub fn into_process(self) -> Process {
        self.process
    }

    pub fn close_input(&mut self) {
        self.stdin = None;
        self.outbox.clear();
    }

    /// Queues bytes exactly as they are; what fits into the pipe goes out at once.
    pub fn queue(&mut self, bytes: &[u8]) {
        let mut sent = 0;
        if self.outbox.is_empty()
            && let Some(stdin) = &self.stdin
        {
            sent = stdin.try_write(bytes).unwrap_or(0);
        }
        if self.stdin.is_some() {
            self.outbox.extend_from_slice(&bytes[sent..]);
        }
    }

    /// The next line. Writes what is queued meanwhile, so that neither side can block the other. Cancel-safe.
    pub async fn next(&mut self) -> Arrival {
        loop {
            if let Some(line) = self.take_line() {
                return line;
            }
            let Some(stdout) = &mut self.stdout else { return Arrival::Closed };
            self.inbox.reserve(READ_BYTES);
            let writing = self.stdin.is_some() && !self.outbox.is_empty();
            tokio::select! {
                biased;
                read = stdout.read_buf(&mut self.inbox) => {
                    self.quiet_since_exit = None;
                    if !matches!(read, Ok(count) if count > 0) {
                        self.stdout = None;
                        return self.last_line();
                    }
                }
                written = write_some(self.stdin.as_mut(), &self.outbox), if writing => match written {
                    Ok(count) => drop(self.outbox.split_to(count)),
                    // The server reads no more; what it still says is heard all the same.
                    Err(_) => self.close_input(),
                },
                () = quiet_after_exit(&self.process, &mut self.quiet_since_exit) => {
                    self.stdout = None;
                    return self.last_line();
                }
            }
        }
    }

    /// How many bytes wait to go out.
    pub fn backlog(&self) -> usize {
        self.outbox.len()
    }

    fn take_line(&mut self) -> Option<Arrival> {
        loop {
            let end = self.inbox[self.searched..].iter().position(|byte| *byte == b'\n');
            let Some(end) = end.map(|end| end + self.searched) else {
                self.searched = self.inbox.len();
                self.pass_over_excess();
                return None;
            };
            let mut line = self.inbox.split_to(end + 1);
            self.searched = 0;
            if let Some(oversized) = self.oversized.take() {
                return Some(Arrival::Oversized { head: oversized.head });
            }
            line.truncate(end);
            if line.last() == Some(&b'\r') {
                line.truncate(end - 1);
            }
            if line.len() > self.max_line {
                return Some(Arrival::Oversized { head: head_of(&line) });
            }
            if !line.is_empty() {
                return Some(Arrival::Line { bytes: line.freeze(), terminated: true });
            }
        }
    }

    /// Once a line is beyond the limit, only its beginning is kept, so that memory stays bounded.
    fn pass_over_excess(&mut self) {
        if self.oversized.is_none() && self.inbox.len() > self.max_line {
            self.oversized = Some(Oversized { head: head_of(&self.inbox) });
        }
        if self.oversized.is_some() {
            self.inbox.clear();
            self.searched = 0;
        }
    }

    fn last_line(&mut self) -> Arrival {
        if let Some(oversized) = self.oversized.take() {
            return Arrival::Oversized { head: oversized.head };
        }
        let rest = std::mem::take(&mut self.inbox).freeze();
        self.searched = 0;
        match rest.iter().all(u8::is_ascii_whitespace) {
            true => Arrival::Closed,
            false => Arrival::Line { bytes: rest, terminated: false },
        }
    }
}

fn head_of(line: &[u8]) -> Bytes {
    Bytes::copy_from_slice(&line[..line.len().min(OVERSIZED_HEAD)])
}

async fn write_some(stdin: Option<&mut Sender>, bytes: &[u8]) -> io::Result<usize> {
    match stdin {
        Some(stdin) => stdin.write(bytes).await,
        None => std::future::pending().await,
    }
}

/// Ends when the process has exited and its output has been quiet for a while.
async fn quiet_after_exit(process: &Process, since: &mut Option<Instant>) {
    process.exited().await;
    let since = *since.get_or_insert_with(Instant::now);
    tokio::time::sleep_until(since + QUIET_AFTER_EXIT).await;
}
