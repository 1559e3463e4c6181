//! Icons of tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Text, Unknown};

/// An icon that a client may show beside a tool (`Icon` of MCP).
///
/// ```
/// use toolkit::tool::Icon;
///
/// let icon = Icon::new("https://example.com/icon.png".into()).with_sizes(["48x48"]);
/// assert_eq!(icon.sizes, ["48x48"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: Text,
    /// The media type, if the URI does not determine it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Text>,
    /// Sizes such as `48x48`, or `any`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Text>,
    /// The background for which the icon is designed: `light` or `dark`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<Text>,
    /// Unknown fields.
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl Icon {
    /// Creates an icon from its URI.
    #[must_use]
    pub const fn new(src: Text) -> Self {
        Self { src, mime_type: None, sizes: Vec::new(), theme: None, unknown: Unknown::NONE }
    }

    /// Sets the sizes of the icon, such as `48x48`.
    #[must_use]
    pub fn with_sizes<I>(mut self, sizes: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Text>,
    {
        self.sizes = sizes.into_iter().map(Into::into).collect();
        self
    }
}
