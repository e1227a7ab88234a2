//! Who asks without being of a session: a client that is led to another process behind a load balancer, or names no session.

use std::time::Instant;

use super::Runner;
use super::disturb::{LEAVING, call, failed, impossible, left_by, told};
use crate::plan::{Request, marks_in};
use crate::run::aftermath::{Aftermath, Elsewhere};
use crate::run::call::{Call, execute};
use crate::run::life::Life;
use crate::run::patience::Patience;
use crate::run::recording::Taken;
use crate::wire::{ConnectError, Connection, Connector, Outcome};

const METHOD: &str = "session of another process";

impl Runner {
    /// What is stored in a session of a second process is asked for there by three: by that session, by another that was
    /// begun there, and by the session of the process at hand.
    pub(super) async fn ask_elsewhere(
        &mut self,
        plant: &Request,
        look: &Request,
        patience: &Patience,
    ) -> Result<Taken, ConnectError> {
        let started = Instant::now();
        let said = |why: &str| Ok(told(METHOD, started, impossible(why)));
        let carried = self.carried.clone();
        let life = self.life().await?;
        let Some(ours) = life.connection.session() else { return said("there are no sessions") };
        let carried = match left_by(&life.connection, carried) {
            Ok(carried) => carried,
            Err(why) => return said(&why),
        };
        let mut connector = self.connector.clone();
        connector.world_mut().plants.extend(carried.plants);
        let mut second = match Life::start(&mut connector, &self.headers).await {
            Ok(second) => second,
            Err(error) => return Ok(told(METHOD, started, failed(&error))),
        };
        let marks = marks_in(&plant.params);
        let look = call(look, patience);
        let planted = execute(&mut second.connection, &call(plant, patience)).await;
        let to_its_own = shows(&execute(&mut second.connection, &look).await, &marks);
        let taken = match is_answered(&planted) && to_its_own {
            false => told(METHOD, started, impossible("it does not show what it stored")),
            true => match to_another(&mut connector, &second.connection, &look, &marks).await {
                Err(why) => told(METHOD, started, impossible(&why)),
                Ok(to_another) => {
                    second.connection.replace_session(Some(ours));
                    let taken = execute(&mut second.connection, &look).await;
                    let to_ours = shows(&taken, &marks);
                    let elsewhere = Some(Elsewhere { to_its_own, to_another, to_ours });
                    let aftermath = Aftermath { elsewhere, ..Aftermath::default() };
                    Taken { aftermath: Some(Box::new(aftermath)), ..taken }
                }
            },
        };
        connector.dismiss(second.connection, LEAVING).await;
        Ok(taken)
    }

    /// Stores something in the session at hand, and looks for it in another session and without any.
    pub(super) async fn ask_without_session(
        &mut self,
        plant: &Request,
        look: &Request,
        patience: &Patience,
    ) -> Result<Taken, ConnectError> {
        const METHOD: &str = "no session";
        let started = Instant::now();
        let said = |why: &str| Ok(told(METHOD, started, impossible(why)));
        let mut other = match self.open_session().await? {
            Ok(other) if other.session().is_some() => other,
            Ok(_) => return said("there are no sessions"),
            Err(why) => return said(&why),
        };
        let marks = marks_in(&plant.params);
        let (plant, look) = (call(plant, patience), call(look, patience));
        let life = self.life().await?;
        let planted = execute(&mut life.connection, &plant).await;
        let to_its_own = shows(&execute(&mut life.connection, &look).await, &marks);
        if !is_answered(&planted) || !to_its_own {
            return said("it does not show what it stored");
        }
        // Before the other session is used: who takes the last one for it is caught then.
        let own = other.replace_session(None);
        let taken = execute(&mut other, &look).await;
        other.replace_session(own);
        let looked = execute(&mut other, &look).await;
        if !is_answered(&looked) {
            return said("a further session is not answered");
        }
        let elsewhere = Some(Elsewhere {
            to_its_own,
            to_another: shows(&looked, &marks),
            to_ours: shows(&taken, &marks),
        });
        let aftermath = Some(Box::new(Aftermath { elsewhere, ..Aftermath::default() }));
        Ok(Taken { aftermath, ..taken })
    }
}

/// Whether another session with the same process is shown what was stored.
async fn to_another(
    connector: &mut Connector,
    first: &Connection,
    look: &Call,
    marks: &[String],
) -> Result<bool, String> {
    let (mut other, _) = connector.open_beside(first).await.map_err(|error| error.to_string())?;
    let looked = execute(&mut other, look).await;
    match is_answered(&looked) {
        true => Ok(shows(&looked, marks)),
        false => Err("a further session is not answered".to_owned()),
    }
}

fn is_answered(taken: &Taken) -> bool {
    matches!(taken.outcome, Some(Outcome::Reply(_)))
}

fn shows(taken: &Taken, marks: &[String]) -> bool {
    let Some(Outcome::Reply(reply)) = &taken.outcome else { return false };
    let said = reply.result().map(|result| result.to_string().to_lowercase()).unwrap_or_default();
    marks.iter().any(|mark| said.contains(mark.as_str()))
}
