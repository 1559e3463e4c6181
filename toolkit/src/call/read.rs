//! Parsing of arguments into a tree.

use serde_json::Value;

use super::error::ToolError;
use super::kind::ErrorKind;
use crate::arguments::Arguments;
use toolkit_schema::tree::Tree;

impl Arguments<'_> {
    /// Parses the arguments into a [`Value`] without duplicate keys and with limited depth. An integer that needs more
    /// than 64 bits is rounded to a float.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not JSON, has a duplicate key in an object, or is nested too deeply.
    pub fn to_value(&self) -> Result<Value, ToolError> {
        self.to_tree().map(|tree| tree.value)
    }

    /// Parses the arguments into a tree that keeps the text of numbers that a [`Value`] rounds.
    pub(crate) fn to_tree(&self) -> Result<Tree, ToolError> {
        let tree = match self {
            Arguments::Json(text) => Tree::parse(text),
            Arguments::Value(value) => Tree::from_value(value.clone().into_owned()),
        };
        tree.map_err(|reason| ToolError::new(ErrorKind::MalformedJson, reason))
    }
}
