//! Reads arguments as a tree.

use serde_json::Value;

use super::error::ToolError;
use super::kind::ErrorKind;
use crate::arguments::Arguments;
use toolkit_schema::tree::Tree;

impl Arguments<'_> {
    /// The arguments as a tree: every key once, no deeper than the parser allows. An integer that needs more than 64
    /// bits is rounded to a float.
    ///
    /// # Errors
    ///
    /// The text is not JSON, has a key twice in one object, or is nested too deep.
    pub fn to_value(&self) -> Result<Value, ToolError> {
        self.to_tree().map(|tree| tree.value)
    }

    /// The same, with the numbers that a tree cannot hold.
    pub(crate) fn to_tree(&self) -> Result<Tree, ToolError> {
        let tree = match self {
            Arguments::Json(text) => Tree::parse(text),
            Arguments::Value(value) => Tree::of(value.clone().into_owned()),
        };
        tree.map_err(|reason| ToolError::new(ErrorKind::MalformedJson, reason))
    }
}
