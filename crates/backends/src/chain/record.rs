//! Reading recorded outcomes.

use serde::Deserialize;
use toolkit::call::ToolError;

use super::outcome::{ChainOutcome, StepResult};

/// The serialized form of an outcome.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    steps: Vec<StepResult>,
    failed: Option<usize>,
    cancelled: Option<ToolError>,
}

impl TryFrom<Recorded> for ChainOutcome {
    type Error = &'static str;

    fn try_from(recorded: Recorded) -> Result<Self, Self::Error> {
        let Recorded { steps, failed, cancelled } = recorded;
        match failed {
            Some(failed) if steps.get(failed).is_none_or(|step| step.result.is_ok()) => {
                Err("the step that failed is not one of the steps with an error")
            }
            _ => Ok(Self { steps, failed, cancelled }),
        }
    }
}
