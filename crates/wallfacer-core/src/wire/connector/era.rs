//! Finds out which era of the protocol a server speaks, by putting the modern question and reading its [`Sign`].

use serde_json::Value;
use tokio::time::Instant;

use super::{Connector, PROBE_GRACE};
use crate::target::{Era, Version};
use crate::wire::connection::{Answered, Connection, Happening, Outcome};
use crate::wire::dialect::Dialect;
use crate::wire::error::ConnectError;
use crate::wire::http::Style;
use crate::wire::message::{Body, Content, ErrorObject};
use crate::wire::sample::sample;
use crate::wire::server::Remark;

/// What an answer says about the era of its server.
pub(super) enum Sign {
    Modern(Box<(Connection, Value)>, Version),
    Legacy(Vec<Remark>),
}

impl Connector {
    /// Asks a server of unknown era the modern question.
    pub(super) async fn probe(&self, limit: Instant) -> Result<Sign, ConnectError> {
        let mut connection = self.channel(Version::LATEST, Style::Streamable, limit).await?;
        let asked = connection.request("server/discover", None);
        let deadline = limit.min(Instant::now() + self.target.timeouts.probe);
        let sign = match connection.wait_for(asked, deadline).await {
            Happening::Answered(answered) => return self.read_sign(connection, answered, limit).await,
            Happening::Closed(closed) => Sign::Legacy(vec![Remark::EndedOnProbe { ending: closed.ending }]),
            Happening::Deadline => return self.probe_slowly(connection, asked, limit).await,
        };
        connection.close(PROBE_GRACE).await;
        Ok(sign)
    }

    /// Silence may be a server that ignores what it does not know, or one that is still starting. The old question
    /// is put after the new one: whatever is answered first settles it, and a server that is slow is not misjudged.
    async fn probe_slowly(
        &self,
        mut connection: Connection,
        asked: i64,
        limit: Instant,
    ) -> Result<Sign, ConnectError> {
        connection.set_dialect(Dialect::new(Version::LATEST_LEGACY));
        let introduction = connection.dialect().introduction();
        connection.request("initialize", Some(&introduction));
        let sign = match connection.next(limit).await {
            Happening::Answered(answered) if answered.ticket == asked => {
                let sign = sign_of(&answered.outcome);
                connection.close(PROBE_GRACE).await;
                // A fresh process, for this one has heard both questions.
                return match sign {
                    Some((_, version)) => {
                        let limit = self.limit_from_now();
                        let fresh = self.channel(version, Style::Streamable, limit).await?;
                        let (fresh, result) = self.ask_discover(fresh, limit).await?;
                        Ok(Sign::Modern(Box::new((fresh, result)), version))
                    }
                    None => Ok(Sign::Legacy(Vec::new())),
                };
            }
            Happening::Answered(_) => Sign::Legacy(vec![Remark::SilentOnProbe]),
            Happening::Closed(closed) => Sign::Legacy(vec![Remark::EndedOnProbe { ending: closed.ending }]),
            Happening::Deadline => return Err(self.unanswered(&mut connection, "initialize")),
        };
        connection.close(PROBE_GRACE).await;
        Ok(sign)
    }

    async fn read_sign(
        &self,
        mut connection: Connection,
        answered: Answered,
        limit: Instant,
    ) -> Result<Sign, ConnectError> {
        match (sign_of(&answered.outcome), answered.outcome) {
            (Some((Some(result), version)), _) => Ok(Sign::Modern(Box::new((connection, result)), version)),
            // Modern, but not at our first word: the version was wrong, say. The right one is tried once.
            (Some((None, version)), _) => {
                connection.set_dialect(Dialect::new(version));
                let (connection, result) = self.ask_discover(connection, limit).await?;
                Ok(Sign::Modern(Box::new((connection, result)), version))
            }
            (None, Outcome::Refused { status: status @ (401 | 403), body, .. }) => {
                Err(ConnectError::HttpStatus { server: self.name(), status, body: sample(&body) })
            }
            (None, Outcome::Lost(error)) => Err(error.into()),
            (None, outcome) => {
                let ambiguous = matches!(outcome, Outcome::Refused { status: 404, said: Some(_), .. });
                connection.close(PROBE_GRACE).await;
                Ok(Sign::Legacy(ambiguous.then_some(Remark::AmbiguousProbe).into_iter().collect()))
            }
        }
    }
}

/// What the answer to the modern question proves: a version, and the result where there is one.
fn sign_of(outcome: &Outcome) -> Option<(Option<Value>, Version)> {
    let incoming = match outcome {
        Outcome::Reply(incoming) => incoming,
        Outcome::Refused { status: 400 | 404, said: Some(incoming), .. } => incoming,
        _ => return None,
    };
    match &incoming.content {
        Content::Reply { body: Body::Result(range), .. } => {
            let result = incoming.value(range)?;
            let version = newest_modern(result.get("supportedVersions")?)?;
            Some((Some(result), version))
        }
        Content::Reply { body: Body::Error(error), .. } => {
            sign_of_error(error).map(|version| (None, version))
        }
        _ => None,
    }
}

fn sign_of_error(error: &ErrorObject) -> Option<Version> {
    match error.code? {
        -32022 => newest_modern(error.data.as_ref()?.get("supported")?),
        -32021 | -32020 => Some(Version::LATEST),
        _ => None,
    }
}

fn newest_modern(versions: &Value) -> Option<Version> {
    let known = versions.as_array()?.iter().filter_map(Value::as_str).filter_map(Version::parse);
    known.filter(|version| version.era() == Era::Modern).max()
}
