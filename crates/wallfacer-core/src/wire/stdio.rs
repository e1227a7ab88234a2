//! Lines over the standard streams of a process: bytes queued to go out, lines coming in.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::{Instant, Sleep, sleep};
use wallfacer_process::{Process, Stdio as Pipes};

/// After the process has ended, how long its output may stay quiet before we take it as closed:
/// a child that lives on could hold the pipe open for ever.
pub const QUIET_AFTER_EXIT: Duration = Duration::from_millis(300);
/// Reading goes in pieces of this size.
const READ_BYTES: usize = 64 << 10;
/// So much goes out at once even while there are lines to hand on: the server works on it while we read.
const EAGER_BYTES: usize = 1 << 10;
/// What is kept of a line beyond the limit.
const OVERSIZED_HEAD: usize = 64 << 10;

/// The channel to a process that we started.
pub struct Stdio {
    /// None for a second process, which ends with the first.
    process: Option<Arc<Process>>,
    stdin: Option<Sender>,
    stdout: Option<Receiver>,
    /// Both pipes, while no runtime has them.
    detached: Option<(OwnedFd, OwnedFd)>,
    outbox: BytesMut,
    /// Once the outbox is empty, the input is closed.
    closing: bool,
    inbox: BytesMut,
    /// What one read fills.
    chunk: Box<[u8]>,
    /// How much of `inbox` is known to hold no newline.
    searched: usize,
    max_line: usize,
    /// The line that is too long, while the rest of it is passed over.
    oversized: Option<Oversized>,
    /// The end of the process, waited for once and kept, because asking anew at each wait would cost as much as a read.
    exit: Exit,
}

/// How far the end of the process has come.
enum Exit {
    Awaited(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// It has ended; once its output has been quiet so long, that counts as closed.
    Quiet(Pin<Box<Sleep>>),
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
        let process = Arc::new(process);
        let watched = process.clone();
        let exited = async move {
            let _ending = watched.exited().await;
        };
        Stdio {
            process: Some(process),
            exit: Exit::Awaited(Box::pin(exited)),
            ..Stdio::second(pipes, max_line)
        }
    }

    /// The channel to a second process of a server that has one already.
    pub fn second(pipes: Pipes, max_line: usize) -> Stdio {
        Stdio {
            process: None,
            stdin: Some(pipes.stdin),
            stdout: Some(pipes.stdout),
            detached: None,
            outbox: BytesMut::new(),
            closing: false,
            inbox: BytesMut::new(),
            chunk: vec![0; READ_BYTES].into(),
            searched: 0,
            max_line,
            oversized: None,
            exit: Exit::Awaited(Box::pin(std::future::pending())),
        }
    }

    pub fn process(&self) -> Option<&Process> {
        self.process.as_deref()
    }

    /// Lets go of the runtime that it was opened in, so that another may go on. False where it cannot.
    pub fn detach(&mut self) -> bool {
        let Some((stdin, stdout)) = self.stdin.take().zip(self.stdout.take()) else { return false };
        let pipes = stdin.into_nonblocking_fd().and_then(|stdin| Ok((stdin, stdout.into_nonblocking_fd()?)));
        self.detached = pipes.ok();
        self.detached.is_some()
    }

    /// Takes hold of the runtime that it is in now.
    pub fn attach(&mut self) -> io::Result<()> {
        if let Some((stdin, stdout)) = self.detached.take() {
            self.stdin = Some(Sender::from_owned_fd(stdin)?);
            self.stdout = Some(Receiver::from_owned_fd(stdout)?);
        }
        Ok(())
    }

    /// Closes our side at once, so that the server knows that nothing more will come.
    pub fn close_input(&mut self) {
        self.stdin = None;
        self.outbox.clear();
    }

    /// Closes our side once all that is queued has gone out.
    pub fn close_input_after(&mut self) {
        self.closing = true;
    }

    /// Queues bytes exactly as they are. They go out with the next wait or with a few more, so that requests made one
    /// after another cost one write and wake the server once.
    pub fn queue(&mut self, bytes: &[u8]) {
        if self.stdin.is_some() {
            self.outbox.extend_from_slice(bytes);
        }
    }

    /// The next line. Writes what is queued meanwhile, so that neither side can block the other.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Arrival> {
        loop {
            if self.outbox.len() >= EAGER_BYTES {
                self.write(context);
            }
            if let Some(line) = self.take_line() {
                return Poll::Ready(line);
            }
            if self.stdout.is_none() {
                return Poll::Ready(Arrival::Closed);
            }
            match self.read(context) {
                Poll::Ready(true) => {}
                Poll::Ready(false) => return Poll::Ready(self.last_line()),
                Poll::Pending => {
                    if self.exit.poll(context).is_ready() {
                        return Poll::Ready(self.last_line());
                    }
                    // Last of all: a server that is woken while we are about to wait can have our processor.
                    self.write(context);
                    return Poll::Pending;
                }
            }
        }
    }

    /// Writes as much as the pipe takes.
    pub fn write(&mut self, context: &mut Context<'_>) {
        while !self.outbox.is_empty()
            && let Some(stdin) = &mut self.stdin
        {
            match Pin::new(stdin).poll_write(context, &self.outbox) {
                Poll::Ready(Ok(count)) => drop(self.outbox.split_to(count)),
                // The server reads no more; what it still says is heard all the same.
                Poll::Ready(Err(_)) => self.close_input(),
                Poll::Pending => return,
            }
        }
        if self.closing {
            self.stdin = None;
        }
    }

    /// Reads once; false at the end of the output.
    fn read(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        let Some(stdout) = &mut self.stdout else { return Poll::Ready(false) };
        let mut chunk = ReadBuf::new(&mut self.chunk);
        let read = ready!(Pin::new(stdout).poll_read(context, &mut chunk));
        let more = read.is_ok() && !chunk.filled().is_empty();
        self.inbox.extend_from_slice(chunk.filled());
        self.exit.heard();
        Poll::Ready(more)
    }

    /// How many bytes wait to go out.
    pub fn backlog(&self) -> usize {
        self.outbox.len()
    }

    fn take_line(&mut self) -> Option<Arrival> {
        loop {
            let end = memchr(b'\n', &self.inbox[self.searched..]);
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
        self.stdout = None;
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

impl Exit {
    /// Ready when the process has ended and its output has been quiet for a while.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Exit::Awaited(exited) = self {
            ready!(exited.as_mut().poll(context));
            *self = Exit::Quiet(Box::pin(sleep(QUIET_AFTER_EXIT)));
        }
        match self {
            Exit::Quiet(quiet) => quiet.as_mut().poll(context),
            Exit::Awaited(_) => Poll::Pending,
        }
    }

    /// Something came, so the quiet begins anew.
    fn heard(&mut self) {
        if let Exit::Quiet(quiet) = self {
            quiet.as_mut().reset(Instant::now() + QUIET_AFTER_EXIT);
        }
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Stdio").field("process", &self.process).finish_non_exhaustive()
    }
}
