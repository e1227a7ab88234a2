//! The body of a request: sent at once, or in two halves with a pause between them, as a slow client does.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as HyperBody, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

#[derive(Debug)]
pub struct Body {
    pieces: VecDeque<Bytes>,
    pause: Duration,
    pausing: Option<Pin<Box<Sleep>>>,
}

impl Body {
    pub fn whole(bytes: Bytes) -> Body {
        Body { pieces: VecDeque::from([bytes]), pause: Duration::ZERO, pausing: None }
    }

    pub fn in_halves(bytes: &Bytes, pause: Duration) -> Body {
        let middle = bytes.len() / 2;
        Body { pieces: VecDeque::from([bytes.slice(..middle), bytes.slice(middle..)]), pause, pausing: None }
    }
}

/// A request that could not be sent is sent again, from its beginning.
impl Clone for Body {
    fn clone(&self) -> Body {
        Body { pieces: self.pieces.clone(), pause: self.pause, pausing: None }
    }
}

impl HyperBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(pausing) = &mut self.pausing {
            if pausing.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.pausing = None;
        }
        let piece = self.pieces.pop_front();
        if !self.pieces.is_empty() {
            self.pausing = Some(Box::pin(sleep(self.pause)));
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.iter().all(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.pieces.iter().map(|piece| piece.len() as u64).sum())
    }
}
