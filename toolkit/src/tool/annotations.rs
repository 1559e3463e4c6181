//! Hints about the effects of a tool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Text, Unknown};

/// The hints of a tool about its effects (`ToolAnnotations` of MCP). They are not guarantees.
///
/// `None` means unspecified, which differs from `Some(false)`.
///
/// ```
/// use toolkit::{Tool, tool::Annotations};
///
/// let tool = Tool::builder("read").annotations(Annotations::NONE.with_title("Read a file")).read_only(true).build()?;
/// assert_eq!(tool.annotations().read_only, Some(true));
/// assert_eq!(tool.annotations().destructive, None);
/// assert_eq!(tool.display_name(), "Read a file");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// A title for people. [`Tool::title`](crate::Tool::title) takes precedence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// True if the tool does not modify its environment.
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// True if the tool may perform destructive updates. Meaningful only if the tool is not read-only.
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// True if repeated calls with the same arguments have no additional effect.
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// True if the tool interacts with an open world of external entities, such as a web search.
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// Unknown fields.
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl Annotations {
    /// Annotations with no field set.
    pub const NONE: Self = Self {
        title: None,
        read_only: None,
        destructive: None,
        idempotent: None,
        open_world: None,
        unknown: Unknown::NONE,
    };

    /// Returns the four hints about effects, which policies use.
    pub(crate) fn effects(&self) -> [Option<bool>; 4] {
        [self.read_only, self.destructive, self.idempotent, self.open_world]
    }

    /// Returns true if the tool may perform destructive updates. A tool without hints may, as MCP assumes: only those with
    /// `read_only` or `destructive = false` may not.
    ///
    /// ```
    /// use toolkit::Tool;
    ///
    /// assert!(Tool::builder("update").build()?.annotations().may_be_destructive());
    /// assert!(!Tool::builder("create").destructive(false).build()?.annotations().may_be_destructive());
    /// assert!(!Tool::builder("list").read_only(true).build()?.annotations().may_be_destructive());
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn may_be_destructive(&self) -> bool {
        self.read_only != Some(true) && self.destructive != Some(false)
    }

    /// Sets the title for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Returns true if no field is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}
