//! Examples of calls.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit::tool::Tool;

use super::args_size::ArgsSize;
use super::doc_error::DocError;
use crate::summary::cut;

/// An example of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct ToolExample {
    /// The id of the example.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// A short title.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// A description; truncated to [`ToolExample::MAX_DESCRIPTION`] characters.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The arguments, with at most 5 levels and 50 entries; see [`ArgsSize`].
    pub args: Value,
    /// A hint about the result; truncated to [`ToolExample::MAX_RESULT_HINT`] characters.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub result_hint: String,
}

impl ToolExample {
    /// The maximum length of a description in characters.
    pub const MAX_DESCRIPTION: usize = 300;
    /// The maximum length of a hint about the result in characters.
    pub const MAX_RESULT_HINT: usize = 200;

    /// Creates an example with the given arguments.
    ///
    /// ```
    /// # use serde_json::json;
    /// # use toolkit_search::ToolExample;
    /// let example = ToolExample::new(json!({ "a": 1, "b": 2 })).title("small numbers").result_hint("3");
    /// assert_eq!(example.title, "small numbers");
    /// ```
    pub fn new(args: Value) -> Self {
        Self { args, ..Self::default() }
    }

    /// Sets the id.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets the title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the description.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the hint about the result.
    pub fn result_hint(mut self, hint: impl Into<String>) -> Self {
        self.result_hint = hint.into();
        self
    }

    pub(super) fn checked(self, nth: usize, tool: Option<&Tool>) -> Result<Self, DocError> {
        let name = || match &self.title {
            title if title.is_empty() => (nth + 1).to_string(),
            title => title.clone(),
        };
        let size = ArgsSize::measure(&self.args);
        if !size.is_small() {
            return Err(DocError::ArgsTooLarge { example: name(), size });
        }
        if let Some(tool) = tool
            && let Err(violations) = tool.validate_input(&self.args)
        {
            return Err(DocError::InvalidExample { example: name(), violations });
        }
        Ok(Self {
            description: cut(&self.description, Self::MAX_DESCRIPTION),
            result_hint: cut(&self.result_hint, Self::MAX_RESULT_HINT),
            ..self
        })
    }
}
