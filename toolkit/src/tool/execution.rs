//! Properties of the execution of a tool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Unknown;

/// The properties of how a tool is executed (`ToolExecution` of MCP).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Execution {
    /// The support of tasks. Without it, the tool does not support them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_support: Option<TaskSupport>,
    /// Unknown fields.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// The support of a tool for tasks of MCP: long calls whose client receives an id at once and polls for the result.
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::tool::TaskSupport;
/// use toolkit::{catalog, tool};
///
/// /// Renders a video.
/// #[tool(task)]
/// async fn render(scene: String) -> String {
///     scene
/// }
///
/// assert_eq!(catalog![render]?.resolve("render")?.task_support(), TaskSupport::Optional);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TaskSupport {
    /// A call never becomes a task.
    #[default]
    Forbidden,
    /// A call may become a task.
    Optional,
    /// Only clients that support tasks can call the tool.
    Required,
}

impl Execution {
    /// No properties.
    pub const NONE: Self = Self { task_support: None, unknown: Unknown::NONE };

    /// Returns true if no field is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}
