//! Clients send one request after another on the same connection, also after one that was refused.

use std::time::Instant;

use http::header::HeaderValue;

use super::Runner;
use super::disturb::{call, impossible, told};
use crate::plan::Request;
use crate::run::aftermath::Aftermath;
use crate::run::call::execute;
use crate::run::patience::Patience;
use crate::run::recording::Taken;
use crate::wire::{ConnectError, Outcome};

/// A session that no server has begun.
const UNKNOWN_SESSION: &str = "7c1f0e62-5a0b-4b8e-9d43-2f6f1f0a9b17";
/// One of them is on the connection of a refusal.
const TRIES: usize = 4;
const METHOD: &str = "request after a refused one";

impl Runner {
    /// Sends a request behind one that was refused, and the same on a connection of its own.
    pub(super) async fn ask_after_refusal(
        &mut self,
        request: &Request,
        patience: &Patience,
    ) -> Result<Taken, ConnectError> {
        let started = Instant::now();
        let said = |why: &str| Ok(told(METHOD, started, impossible(why)));
        let call = call(request, patience);
        let (mut client, mut other) = match (self.open_session().await?, self.open_session().await?) {
            (Ok(client), Ok(other)) => (client, other),
            (Err(why), _) | (_, Err(why)) => return said(&why),
        };
        let own = client.session();
        if own.is_none() {
            return said("there are no sessions");
        }
        let mut tries = 0;
        // A client has several connections, and the one that is free next need not be that of the refusal.
        let taken = loop {
            client.replace_session(Some(HeaderValue::from_static(UNKNOWN_SESSION)));
            let refused = execute(&mut client, &call).await;
            client.replace_session(own.clone());
            if !matches!(refused.outcome, Some(Outcome::Refused { .. })) {
                return said("an unknown session is not refused");
            }
            let taken = execute(&mut client, &call).await;
            tries += 1;
            if tries == TRIES || !matches!(taken.outcome, Some(Outcome::Reply(_))) {
                break taken;
            }
        };
        let alone = execute(&mut other, &call).await;
        let answered_alone = Some(matches!(alone.outcome, Some(Outcome::Reply(_))));
        Ok(Taken { aftermath: Some(Box::new(Aftermath { answered_alone, ..Aftermath::default() })), ..taken })
    }
}
