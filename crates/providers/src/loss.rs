//! The features of a tool that a format does not express.

use std::fmt;

use serde::Serialize;

/// A feature of a tool that a format does not express, or expresses differently.
///
/// Losses have a fixed order: first those of the tool's record, then those of its input schema and its output schema,
/// each from the root down and sorted by name.
///
/// ```
/// use toolkit_providers::{Effect, Loss, Side};
///
/// let loss = Loss::new(Side::Input, "/properties/n", "minimum", Effect::Widened, "is not supported");
/// assert_eq!(loss.to_string(), "input /properties/n: `minimum` is not supported");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Loss {
    /// The part of the tool.
    pub side: Side,
    /// The position in that part: a JSON Pointer into the schema with its references replaced by their definitions, or
    /// `/` and the name of a field.
    pub pointer: String,
    /// The keyword or field.
    pub keyword: String,
    /// The consequence for a caller.
    pub effect: Effect,
    /// The reason, as a predicate whose subject is the keyword.
    pub reason: String,
}

/// A part of a tool.
///
/// ```
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit_providers::Side;
/// use toolkit_providers::openai::{Options, describe};
///
/// let output = json!({ "type": "object", "properties": { "meters": { "type": "number" } } });
/// let export = describe(&Tool::builder("distance").output(output).build()?, "distance", Options::chat_completions());
/// // Chat Completions has no field for the output schema.
/// let losses: Vec<_> = export.losses.iter().filter(|loss| loss.side == Side::Output).collect();
/// assert_eq!(losses[0].keyword, "outputSchema");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Side {
    /// The metadata of the tool.
    Record,
    /// The input schema.
    Input,
    /// The output schema.
    Output,
}

/// The consequence of a loss for a caller.
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::{Dialect, Effect, Side, lower};
///
/// let schema = json!({
///     "type": "object",
///     "properties": { "days": { "type": "array", "items": { "type": "string" }, "uniqueItems": true } },
///     "required": ["days"],
///     "additionalProperties": false,
/// });
/// let lowered = lower(&schema, &Dialect::OPENAI_STRICT, Side::Input);
/// // A model may send a day twice. The dispatcher rejects such a call.
/// assert_eq!((&*lowered.losses[0].keyword, lowered.losses[0].effect), ("uniqueItems", Effect::Widened));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Effect {
    /// The format accepts exactly the values that the tool accepts; only metadata is lost.
    MetadataOnly,
    /// The format accepts values that the tool rejects. The dispatcher still rejects them.
    Widened,
    /// The format cannot express values that the tool accepts.
    Narrowed,
    /// The provider rejects the definition, and with it the whole request.
    Rejected,
}

impl Loss {
    /// Creates a loss. For a field of the record, `pointer` is `/` and its name.
    #[must_use]
    pub fn new(
        side: Side,
        pointer: impl Into<String>,
        keyword: impl Into<String>,
        effect: Effect,
        reason: impl Into<String>,
    ) -> Self {
        Self { side, pointer: pointer.into(), keyword: keyword.into(), effect, reason: reason.into() }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.side {
            Side::Record => write!(f, "`{}` {}", self.keyword, self.reason),
            Side::Input => write!(f, "input {}: `{}` {}", Place(&self.pointer), self.keyword, self.reason),
            Side::Output => write!(f, "output {}: `{}` {}", Place(&self.pointer), self.keyword, self.reason),
        }
    }
}

struct Place<'p>(&'p str);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "root" } else { self.0 })
    }
}
