//! Hints about what a tool does to the world.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Text, Unknown};

/// What a tool says of its own effects (MCP `ToolAnnotations`); hints, not guarantees.
///
/// `None` is "not said", which is not the same as `Some(false)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// A name for people, second to the tool's own title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// It changes nothing.
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// It may delete or overwrite; means something only where it is not read-only.
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Calling it again with the same arguments changes nothing more.
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// It reaches beyond a closed domain, as a web search does.
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// What else was read.
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl Annotations {
    /// Nothing said.
    pub const NONE: Self = Self {
        title: None,
        read_only: None,
        destructive: None,
        idempotent: None,
        open_world: None,
        unknown: Unknown::NONE,
    };

    /// The four hints about effects, which policies decide by.
    pub(crate) fn effects(&self) -> [Option<bool>; 4] {
        [self.read_only, self.destructive, self.idempotent, self.open_world]
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}
