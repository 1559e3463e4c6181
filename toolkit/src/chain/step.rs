//! One step of a chain: a tool, and where its arguments come from.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One call of a [`Chain`](super::Chain): a tool, and where each of its arguments comes from.
///
/// ```
/// use toolkit::chain::Step;
///
/// let step = Step::new("weather:forecast").arg("days", 3).take("city", "geo", "/name");
/// assert_eq!(
///     serde_json::to_value(&step)?,
///     serde_json::json!({
///         "toolId": "weather:forecast",
///         "args": { "days": 3 },
///         "from": { "city": { "step": "geo", "pointer": "/name" } }
///     })
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// A name for the step, by which later steps refer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Any name of a tool.
    tool_id: String,
    /// Arguments that are known beforehand.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    args: Map<String, Value>,
    /// Whether the result of the step before becomes the argument `previous`.
    #[serde(default, skip_serializing_if = "is_false")]
    use_previous: bool,
    /// Arguments that are taken from the results of earlier steps, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    from: BTreeMap<String, Reference>,
    /// Earlier steps to wait for without taking anything from them, in a parallel chain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

/// A part of an earlier step's structured result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Reference {
    /// The id of the step.
    pub step: String,
    /// Which part, as a JSON Pointer (RFC 6901); the whole result where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pointer: String,
}

/// How serde is asked whether to leave a flag out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Step {
    /// A call of the tool with any of its names, without arguments.
    #[must_use]
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            id: None,
            tool_id: tool.into(),
            args: Map::new(),
            use_previous: false,
            from: BTreeMap::new(),
            after: Vec::new(),
        }
    }

    /// Names the step, so that later ones can refer to it.
    #[must_use]
    pub fn named(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Gives an argument.
    #[must_use]
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.args.insert(name.into(), value.into());
        self
    }

    /// Gives several arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = (String, Value)>) -> Self {
        self.args.extend(args);
        self
    }

    /// Passes the structured result of the step before as the argument `previous`: `null` where there is none, and in
    /// place of any argument of that name.
    #[must_use]
    pub fn use_previous(mut self) -> Self {
        self.use_previous = true;
        self
    }

    /// Takes the argument `name` from the result of the earlier step `step`: the part that the JSON Pointer leads to,
    /// or all of it where that is empty.
    #[must_use]
    pub fn take(mut self, name: impl Into<String>, step: impl Into<String>, pointer: impl Into<String>) -> Self {
        let reference = Reference { step: step.into(), pointer: pointer.into() };
        self.from.insert(name.into(), reference);
        self
    }

    /// Waits for an earlier step of a parallel chain without taking anything from it.
    #[must_use]
    pub fn after(mut self, step: impl Into<String>) -> Self {
        self.after.push(step.into());
        self
    }

    /// Its name, where it has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The tool, by the name that the chain uses.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool_id
    }

    /// The arguments that are known beforehand.
    #[must_use]
    pub fn constants(&self) -> &Map<String, Value> {
        &self.args
    }

    /// Whether it takes the result of the step before.
    #[must_use]
    pub fn uses_previous(&self) -> bool {
        self.use_previous
    }

    /// The arguments that come from earlier steps.
    #[must_use]
    pub fn references(&self) -> &BTreeMap<String, Reference> {
        &self.from
    }

    /// The steps that it waits for without taking anything from them.
    #[must_use]
    pub fn predecessors(&self) -> &[String] {
        &self.after
    }
}

// Arguments may hold secrets, and what prints them usually logs.
impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("id", &self.id)
            .field("tool", &self.tool_id)
            .field("args", &self.args.keys().collect::<Vec<_>>())
            .field("use_previous", &self.use_previous)
            .field("from", &self.from)
            .field("after", &self.after)
            .finish()
    }
}
