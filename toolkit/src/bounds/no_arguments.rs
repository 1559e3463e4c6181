//! The arguments of a tool without parameters, which also replace rejected types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arguments of a tool without parameters.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub struct NoArguments {}
