//! Definitions of chains: the steps and their order, and their JSON, a list of steps or an object for a parallel chain.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use toolkit::call::Arguments;
use toolkit_schema::{Schema, Violation, Violations, generate, is_too_deep};

use super::step::Step;

/// A sequence or graph of tool calls.
///
/// ```
/// use toolkit_backends::chain::{Chain, Step};
///
/// let chain = Chain::new()
///     .then(Step::new("geo:find").named("geo").arg("name", "Lima"))
///     .then(Step::new("weather:forecast").take("city", "geo", "/name"));
/// assert_eq!(chain, Chain::from_json(serde_json::to_string(&chain)?)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    pub(super) steps: Vec<Step>,
    pub(super) order: Order,
}

/// The order in which steps run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// The order of the list.
    #[default]
    Sequential,
    /// The order given by references.
    Parallel,
}

impl Order {
    /// Returns the JSON Pointer to the steps of the chain.
    pub(super) fn pointer(self) -> &'static str {
        match self {
            Order::Sequential => "",
            Order::Parallel => "/steps",
        }
    }
}

impl Chain {
    /// Creates an empty chain whose steps run one after another.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty chain whose steps run as soon as the steps that they refer to have succeeded.
    ///
    /// The steps share one task: asynchronous and `blocking` tools run concurrently, other synchronous tools one at a
    /// time.
    ///
    /// # Examples
    ///
    /// The greeting waits for both names, which are independent of each other:
    ///
    /// ```
    /// use toolkit::{Context, Dispatcher, catalog, tool};
    /// use toolkit_backends::chain::{Chain, Step};
    ///
    /// /// Returns the name of a user.
    /// #[tool]
    /// async fn name(id: u32) -> String {
    ///     format!("user {id}")
    /// }
    ///
    /// /// Introduces two people.
    /// #[tool]
    /// async fn introduce(one: String, other: String) -> String {
    ///     format!("{one}, this is {other}.")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let chain = Chain::parallel()
    ///     .then(Step::new("name").named("one").arg("id", 1))
    ///     .then(Step::new("name").named("other").arg("id", 2))
    ///     .then(Step::new("introduce").take("one", "one", "").take("other", "other", ""));
    /// let outcome = chain.run(&Dispatcher::new(catalog![name, introduce]?)?, &Context::new()).await?;
    /// assert_eq!(outcome.result().unwrap().value(), "user 1, this is user 2.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn parallel() -> Self {
        Self { steps: Vec::new(), order: Order::Parallel }
    }

    /// Adds a step.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Returns the steps in the order in which they were added.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns true if the steps run as soon as their references allow.
    #[must_use]
    pub fn is_parallel(&self) -> bool {
        self.order == Order::Parallel
    }
}

impl FromIterator<Step> for Chain {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self { steps: Vec::from_iter(steps), order: Order::Sequential }
    }
}

/// The serialized form of a chain.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum ChainJson<'c> {
    /// The steps, which run one after another.
    Sequential(Cow<'c, [Step]>),
    /// The steps, which run as soon as their references allow.
    Parallel(Parallel<'c>),
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parallel<'c> {
    #[schemars(extend("const" = true))]
    parallel: bool,
    steps: Cow<'c, [Step]>,
}

impl Chain {
    /// Parses a chain from JSON text or a value: a list of steps, or `{"parallel": true, "steps": […]}`.
    ///
    /// A field of a step that is `null` counts as absent. [`Chain::check`] checks whether the steps can run.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not JSON, or with every field that is missing, unknown or has the wrong type.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit_backends::chain::Chain;
    /// let chain = Chain::from_json(r#"[{"toolId": "geo:find"}, {"toolId": "weather:now", "usePrevious": true}]"#)?;
    /// assert_eq!(chain.steps().len(), 2);
    ///
    /// let error = Chain::from_json(r#"[{"toolId": "geo:find", "arg": {}}]"#).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "not a chain:\n/0/arg is not a field; did you mean `args`?"
    /// );
    /// # Ok::<(), toolkit_backends::chain::ParseChainError>(())
    /// ```
    pub fn from_json<'j>(json: impl Into<Arguments<'j>>) -> Result<Self, ParseChainError> {
        let json = json.into();
        if matches!(&json, Arguments::Value(value) if is_too_deep(value)) {
            return Err(ParseChainError::Json("it is nested deeper than 127 levels".to_owned()));
        }
        let value = json.to_value().map_err(|error| ParseChainError::Json(error.message().to_owned()))?;
        match value {
            Value::Array(steps) => Self::read(steps, Order::Sequential),
            Value::Object(fields) => Self::read_parallel(fields),
            _ => {
                let reason = "a chain is a list of steps, or `{\"parallel\": true, \"steps\": […]}`";
                Err(ParseChainError::Json(reason.to_owned()))
            }
        }
    }

    fn read_parallel(mut fields: Map<String, Value>) -> Result<Self, ParseChainError> {
        /// The form without its steps, which are parsed like those of any chain.
        static FORM: LazyLock<Schema> = LazyLock::new(|| {
            form(json!({
                "type": "object",
                "properties": { "parallel": { "const": true }, "steps": { "type": "array" } },
                "required": ["parallel", "steps"],
                "additionalProperties": false
            }))
        });

        let steps = match fields.get_mut("steps") {
            Some(Value::Array(steps)) => std::mem::take(steps),
            _ => Vec::new(),
        };
        let form = FORM.validate(&Value::Object(fields)).map_err(Violations::into_vec).err().unwrap_or_default();
        match (Self::read(steps, Order::Parallel), form.is_empty()) {
            (read, true) => read,
            (Err(ParseChainError::Form(steps)), false) => {
                Err(ParseChainError::from_violations(form.into_iter().chain(steps)))
            }
            (_, false) => Err(ParseChainError::from_violations(form)),
        }
    }

    fn read(mut steps: Vec<Value>, order: Order) -> Result<Self, ParseChainError> {
        /// The schema of the list, which provides the error messages.
        static FORM: LazyLock<Schema> = LazyLock::new(|| form(generate::input::<Vec<Step>>()));

        steps.iter_mut().filter_map(Value::as_object_mut).for_each(|step| step.retain(|_, value| !value.is_null()));
        let steps = Value::Array(steps);
        FORM.validate(&steps).map_err(|violations| {
            let prefix = order.pointer();
            let moved = |mut violation: Violation| {
                violation.pointer.insert_str(0, prefix);
                violation
            };
            ParseChainError::from_violations(violations.into_vec().into_iter().map(moved))
        })?;
        let steps = Vec::deserialize(steps).map_err(|error| ParseChainError::Json(error.to_string()))?;
        Ok(Self { steps, order })
    }
}

fn form(schema: Value) -> Schema {
    Schema::from_value(schema).expect("the form of a chain is a schema")
}

impl Serialize for Chain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let steps = Cow::Borrowed(self.steps());
        match self.order {
            Order::Sequential => ChainJson::Sequential(steps).serialize(serializer),
            Order::Parallel => ChainJson::Parallel(Parallel { parallel: true, steps }).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Chain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Allows a tool to take a chain as an argument.
impl JsonSchema for Chain {
    fn schema_name() -> Cow<'static, str> {
        "Chain".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        ChainJson::json_schema(generator)
    }
}

/// The error of a document that is not a chain.
///
/// # Examples
///
/// ```
/// use toolkit_backends::chain::{Chain, ParseChainError};
///
/// match Chain::from_json(r#"[{"args": {}}]"#) {
///     Err(ParseChainError::Form(violations)) => {
///         assert_eq!(violations[0].to_string(), "/0/toolId is required");
///     }
///     other => panic!("{other:?}"),
/// }
///
/// let error = Chain::from_json("3").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"not a chain: a chain is a list of steps, or `{"parallel": true, "steps": […]}`"#
/// );
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParseChainError {
    /// The text is not JSON, or it is neither a list nor an object.
    Json(String),
    /// The violations of the form of a chain.
    Form(Vec<Violation>),
}

impl ParseChainError {
    /// Replaces "argument" by "field" in the messages of a schema.
    fn from_violations(violations: impl IntoIterator<Item = Violation>) -> Self {
        let reworded = violations.into_iter().map(|mut violation| {
            violation.rule = violation.rule.replacen("is not an argument", "is not a field", 1);
            violation
        });
        ParseChainError::Form(reworded.collect())
    }
}

impl fmt::Display for ParseChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseChainError::Json(reason) => write!(f, "not a chain: {reason}"),
            ParseChainError::Form(violations) => {
                f.write_str("not a chain:")?;
                violations.iter().try_for_each(|violation| write!(f, "\n{violation}"))
            }
        }
    }
}

impl std::error::Error for ParseChainError {}
