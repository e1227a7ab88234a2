//! Looks into what shows when something happens to a server in the middle of its work: seen again on fresh servers, with the
//! steps that it takes and no others.

use super::inquiry::{Confirmed, Inquiry, Tried};
use crate::judge::Charge;
use crate::plan::Case;
use crate::wire::ConnectError;

impl Inquiry<'_> {
    pub(super) async fn look_into_disturbed(
        &mut self,
        case: &Case,
        charge: &Charge,
    ) -> Result<Confirmed, ConnectError> {
        let patience = self.runner.patience().clone();
        let smaller = charge.needed.as_ref().map(|needed| only(case, needed));
        let mut seen = None;
        for each in smaller.filter(|smaller| smaller != case).into_iter().chain([case.clone()]) {
            let wanted = self.id(&each, charge);
            match self.try_often(&each, &wanted, &patience, false).await? {
                Tried::OutOfTime => return Ok(Confirmed::OutOfTime),
                Tried::Done { reproduced, proven: Some(charge), .. } => {
                    if reproduced.always() {
                        return Ok(Confirmed::Finding { charge, case: each, reproduced });
                    }
                    seen = Some(Confirmed::Finding { charge, case: each, reproduced });
                }
                Tried::Done { .. } => {}
            }
        }
        Ok(seen.unwrap_or(Confirmed::Never))
    }
}

/// The case with these of its steps.
fn only(case: &Case, needed: &[usize]) -> Case {
    let steps = needed.iter().filter_map(|place| case.steps.get(*place).cloned()).collect();
    Case { steps, ..case.clone() }
}
