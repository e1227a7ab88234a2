//! Answers DNS questions, and records each of them.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Mode;
use super::bounds::IDLE;
use super::dns::{self, Answer, Question};
use super::flow::Kind;
use super::ledger::{Heading, Ledger, Recorder};
use super::names::Names;
use super::upstream::Upstream;
use super::wire::Wire;

/// Where names are asked for, on UDP and TCP.
pub const DNS_PORT: u16 = 53;

#[derive(Debug)]
pub(super) struct Resolver {
    pub(super) names: Mutex<Names>,
    pub(super) mode: Mode,
    pub(super) allow: Vec<Upstream>,
    pub(super) ledger: Arc<Ledger>,
}

impl Resolver {
    /// Records a question and gives the bytes to be sent back; `None` for what is no question.
    pub(super) fn answer(&self, message: &[u8], address: SocketAddr) -> Option<Vec<u8>> {
        let question = dns::parse(message)?;
        let heading = Heading {
            kind: Kind::Dns { question: question.name.clone(), record: question.record() },
            name: Some(question.name.clone()),
            address,
            planted: false,
            forwarded: false,
        };
        let mut recorder = Recorder::begin(&self.ledger, heading, self.ledger.call());
        recorder.sent(message);
        let answer = question.answer(&self.resolve(&question));
        recorder.answered(&answer);
        Some(answer)
    }

    /// Answers questions that come over TCP, each with its length before it.
    pub(super) async fn converse(&self, mut wire: Wire, address: SocketAddr) {
        let mut taken = Vec::new();
        while wire.ready(IDLE).await {
            taken.extend_from_slice(wire.buffer());
            wire.take_all();
            while let Some((message, length)) = first_message(&taken) {
                let Some(answer) = self.answer(message, address) else { return };
                taken.drain(..length);
                // Answers are hardly longer than questions, which had a length of sixteen bits.
                let Ok(length) = u16::try_from(answer.len()) else { return };
                if !wire.say(&[&length.to_be_bytes()[..], &answer].concat()).await {
                    return;
                }
            }
        }
        wire.close().await;
    }

    pub(super) fn name_of(&self, address: IpAddr) -> Option<String> {
        self.names().name_of(address).map(str::to_owned)
    }

    /// Names that found no room since this was last asked.
    pub(super) fn take_lost(&self) -> u64 {
        std::mem::take(&mut self.names().lost)
    }

    pub(super) fn lost(&self) -> u64 {
        self.names().lost
    }

    /// The part of the outside that is let through to this address.
    pub(super) fn upstream(&self, address: SocketAddr) -> Option<&Upstream> {
        let name = self.name_of(address.ip());
        self.allow.iter().find(|upstream| upstream.is_meant_by(address, name.as_deref()))
    }

    fn resolve(&self, question: &Question) -> Answer {
        let allowed = || self.allow.iter().any(|upstream| upstream.host.eq_ignore_ascii_case(&question.name));
        match self.mode {
            Mode::Refuse if !allowed() => Answer::Failure,
            // Everything reverse is unknown, but not an error.
            _ if !question.asks_for_address() => Answer::Addresses(Vec::new()),
            _ => self.names().resolve(&question.name).map_or(Answer::NoSuchName, Answer::Addresses),
        }
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first whole message, and how many bytes it takes with its length.
fn first_message(taken: &[u8]) -> Option<(&[u8], usize)> {
    let length = 2 + usize::from(u16::from_be_bytes(*taken.first_chunk()?));
    Some((taken.get(2..length)?, length))
}
