//! The arguments of a tool without parameters, which also replace types that a bound refuses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arguments of a tool that takes none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub struct NoArguments {}
