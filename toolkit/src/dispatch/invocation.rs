//! A call of a function: the decoding of its arguments and the encoding of its result.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::host::Host;
use crate::call::{
    Arguments, Change, Content, RunResult, ToolError, check_value, decode_tree, not_json, validated_arguments,
};
use crate::stream::{Chunk, Queue};
use crate::tool::ToolBackend;
use crate::tool::entry::Entry;
use toolkit_schema::Schema;
use toolkit_schema::plan::{EncodeError, Plan};
use toolkit_schema::tree::Tree;

/// A call of a function.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    pub(super) entry: &'static Entry,
    pub(super) arguments: &'a Arguments<'a>,
    pub(super) host: Host<'a>,
    /// The receiver of the parts of a streamed result.
    pub(super) parts: Option<&'a Queue>,
}

impl Invocation<'_> {
    /// Validates and deserializes the arguments.
    ///
    /// Every deserializer named here is compiled for every tool, so there is only one: that of the plan.
    pub(super) fn decode<A: DeserializeOwned>(&self, changes: &mut Vec<Change>) -> Result<A, ToolError> {
        let plan =
            if self.host.policy().validate_input { self.host.tool().input().plan() } else { Some(Plan::anything()) };
        if let Some(plan) = plan {
            let written;
            let text = match self.arguments {
                Arguments::Json(text) => &**text,
                Arguments::Value(value) => {
                    written = write(value);
                    &*written
                }
            };
            if let Ok(arguments) = plan.decode_property(text, self.entry.property()) {
                return Ok(arguments);
            }
        }
        match self.tree(changes) {
            Ok(tree) => {
                let (property, validates) = (self.entry.property(), self.host.policy().validate_input);
                decode_tree(self.host.tool(), property, validates, self.arguments, &tree, changes)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the arguments as a tree, validated unless the policy disables validation.
    #[cold]
    fn tree(&self, changes: &mut Vec<Change>) -> Result<Tree, ToolError> {
        if !self.host.policy().validate_input {
            return self.arguments.to_tree();
        }
        let (tree, changed) = validated_arguments(self.host.tool(), self.arguments, self.host.policy().coercion)?;
        *changes = changed;
        Ok(tree)
    }

    /// Sends an item of the result, as JSON, to the receiver of a stream, waiting while the queue is full.
    pub(super) async fn send(&self, item: &[u8]) -> Result<(), ToolError> {
        if let Some(parts) = self.parts {
            let chunk = Chunk::from_json(String::from_utf8_lossy(item).into_owned());
            parts.send(chunk.map_err(ToolError::internal)?).await;
        }
        Ok(())
    }

    /// Appends an item to a list, within the size limit.
    pub(super) fn grow(&self, list: &mut Vec<u8>, item: &[u8]) -> Result<(), ToolError> {
        self.host.policy().check_size((list.len() + item.len()).saturating_add(1))?;
        if list.len() > 1 {
            list.push(b',');
        }
        list.extend_from_slice(item);
        Ok(())
    }

    /// Rejects content that exceeds the size limit.
    pub(super) fn check_content(&self, content: &[Content]) -> Result<(), ToolError> {
        self.host.policy().check_content(content)
    }

    #[inline(always)]
    pub(super) fn empty_result(&self, changes: Vec<Change>) -> RunResult {
        match self.host.tool().instance() {
            None => RunResult::from_function(self.entry.id, changes),
            Some(_) => self.result_of_instance(changes),
        }
    }

    /// The id of an instance is not a static string.
    #[cold]
    fn result_of_instance(&self, changes: Vec<Change>) -> RunResult {
        let id = self.host.tool().id_text().into_owned();
        RunResult::from_backend(id.clone(), ToolBackend::named(id), None, changes)
    }

    /// Serializes a result and validates it against the output schema.
    pub(super) fn encode(&self, output: &impl Serialize) -> Result<Vec<u8>, ToolError> {
        let schema = self.host.tool().output().filter(|_| self.host.policy().validate_output);
        if let Some(plan) = schema.and_then(Schema::plan) {
            let mut json = Vec::with_capacity(128);
            match plan.encode_at_most(output, &mut json, self.host.policy().max_result_bytes) {
                Ok(()) => return self.host.policy().check_size(json.len()).map(|()| json),
                Err(EncodeError::TooLong) => return Err(self.host.policy().result_too_large()),
                Err(EncodeError::Uncertain) => {}
            }
        }
        let json = match self.host.policy().encode(output) {
            Ok(json) => json,
            Err(error) => return Err(not_json(schema, error, output)),
        };
        if let Some(schema) = schema {
            check_value(schema, &json, output)?;
        }
        Ok(json)
    }
}

/// Writes a value as text, which takes less time than a validator that walks over it. An error leaves no valid text.
#[inline(never)]
fn write(value: &Value) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
