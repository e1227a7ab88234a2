//! Wakes a connection when a deadline has passed.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::time::{Instant, Sleep, sleep_until};

/// One timer for a whole connection. It is set anew only when it goes off too early or a deadline comes before it,
/// so that a call which is answered in time costs no timer at all.
pub struct Alarm {
    timer: Pin<Box<Sleep>>,
}

impl Alarm {
    pub fn new() -> Alarm {
        Alarm { timer: Box::pin(sleep_until(Instant::now())) }
    }

    /// Ready once the deadline has passed.
    pub fn poll(&mut self, context: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        if deadline < self.timer.deadline() {
            self.timer.as_mut().reset(deadline);
        }
        loop {
            ready!(self.timer.as_mut().poll(context));
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(deadline);
        }
    }
}

impl fmt::Debug for Alarm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Alarm").finish_non_exhaustive()
    }
}
