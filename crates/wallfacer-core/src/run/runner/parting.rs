//! Leaves out how a silent server ended once its input was closed, where it always ends so: that says nothing of the
//! call.

use wallfacer_process::Status;

use super::Runner;
use crate::run::recording::Recording;
use crate::wire::{Closed, ConnectError};

impl Runner {
    /// A server that ends so whenever its input is closed says nothing by it of what it was sent before.
    pub(super) async fn leave_out_usual_parting(
        &mut self,
        recording: &mut Recording,
    ) -> Result<(), ConnectError> {
        let Some(last) = recording.steps.last_mut() else { return Ok(()) };
        let Some(status) = last.parting.as_ref().and_then(status) else { return Ok(()) };
        if status != Status::Exited(0) && self.usual_end().await? == Some(status) {
            last.parting = None;
        }
        Ok(())
    }

    /// How a server ends that was asked nothing. One is started for that, once.
    async fn usual_end(&mut self) -> Result<Option<Status>, ConnectError> {
        if let Some(known) = self.usual_end {
            return Ok(known);
        }
        let closed = self.life().await?.leave().await;
        self.kill();
        Ok(*self.usual_end.insert(closed.as_ref().and_then(status)))
    }
}

fn status(closed: &Closed) -> Option<Status> {
    closed.ending.map(|ending| ending.status)
}
