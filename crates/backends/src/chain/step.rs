//! The steps of a chain, the values that they take from earlier ones, and what they wait for: other steps or a time. A step has
//! no condition.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolkit::internals::parse_duration;

/// The name of the argument that `usePrevious` passes.
pub const PREVIOUS: &str = "previous";

/// A step of a [`Chain`](super::Chain): a tool, and the sources of its arguments.
///
/// ```
/// use toolkit_backends::chain::Step;
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
#[must_use]
pub struct Step {
    /// The name of the step, by which later steps refer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The id, a name or an alias of the tool.
    tool_id: String,
    /// Constant arguments.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    args: Map<String, Value>,
    /// True to pass the result of the preceding step as the argument `previous`.
    #[serde(default, skip_serializing_if = "is_false")]
    use_previous: bool,
    /// Arguments taken from the results of earlier steps, by the name of the argument.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    from: BTreeMap<String, Reference>,
    /// In a parallel chain, earlier steps to wait for without using their results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
    /// The time to wait before the tool is called, such as `90s`, `24h` or `7d`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sleep: Option<String>,
    /// The time before which the tool is not called (RFC 3339), such as `2027-01-31T09:00:00+01:00`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    /// The maximum number of calls of a tool that is read-only or idempotent and fails with an error that may pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
}

/// The wait of a step before its tool is called; see [`Step::sleep`] and [`Step::until`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A time after the step is reached.
    For(Duration),
    /// A point in time.
    Until(SystemTime),
}

impl Wait {
    /// Returns the end of the wait of a step that is reached now.
    #[must_use]
    pub fn end(self) -> SystemTime {
        match self {
            Self::For(time) => SystemTime::now() + time,
            Self::Until(end) => end,
        }
    }
}

/// A part of the structured result of an earlier step.
///
/// [`Step::take`] adds a reference.
///
/// # Examples
///
/// ```
/// use toolkit_backends::chain::Step;
///
/// let step = Step::new("weather:forecast").take("city", "geo", "/name");
/// let reference = &step.references()["city"];
/// assert_eq!((&*reference.step, &*reference.pointer), ("geo", "/name"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Reference {
    /// The id of the step.
    pub step: String,
    /// The part, as a JSON Pointer (RFC 6901). An empty pointer selects the whole result.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pointer: String,
}

/// Returns true if serde should omit a flag.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// The longest wait of a step.
const MAX_WAIT: Duration = Duration::from_secs(366 * 24 * 60 * 60);

impl Step {
    /// Creates a step that calls a tool by any of its names, without arguments.
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            id: None,
            tool_id: tool.into(),
            args: Map::new(),
            use_previous: false,
            from: BTreeMap::new(),
            after: Vec::new(),
            sleep: None,
            until: None,
            attempts: None,
        }
    }

    /// Sets the id of the step, by which later steps refer to it.
    pub fn named(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Adds a constant argument.
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.args.insert(name.into(), value.into());
        self
    }

    /// Adds several constant arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = (String, Value)>) -> Self {
        self.args.extend(args);
        self
    }

    /// Passes the structured result of the preceding step as the argument `previous`, replacing any argument of that
    /// name. In the first step the argument is `null`.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Context, Dispatcher, catalog, tool};
    /// use toolkit_backends::chain::{Chain, Step};
    ///
    /// /// Adds one.
    /// #[tool]
    /// fn increment(previous: Option<u32>) -> u32 {
    ///     previous.unwrap_or(0) + 1
    /// }
    ///
    /// let dispatcher = Dispatcher::new(catalog![increment]?)?;
    /// let chain: Chain = std::iter::repeat_n(Step::new("increment").use_previous(), 3).collect();
    /// assert_eq!(chain.run_sync(&dispatcher, &Context::new())?.result().unwrap().value(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn use_previous(mut self) -> Self {
        self.use_previous = true;
        self
    }

    /// Takes the argument `name` from the result of the earlier step `step`: the part at the JSON Pointer, or the
    /// whole result if the pointer is empty.
    pub fn take(mut self, name: impl Into<String>, step: impl Into<String>, pointer: impl Into<String>) -> Self {
        let reference = Reference { step: step.into(), pointer: pointer.into() };
        self.from.insert(name.into(), reference);
        self
    }

    /// In a parallel chain, waits for an earlier step without using its result.
    pub fn after(mut self, step: impl Into<String>) -> Self {
        self.after.push(step.into());
        self
    }

    /// Waits before the tool is called. In a [durable](https://docs.rs/toolkit-durable) run, the wait survives the process:
    /// it may take up to 366 days.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use toolkit_backends::chain::Step;
    ///
    /// let step = Step::new("mail:remind").sleep(Duration::from_secs(60 * 60));
    /// assert_eq!(serde_json::to_value(&step)?, serde_json::json!({ "toolId": "mail:remind", "sleep": "3600s" }));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn sleep(mut self, time: Duration) -> Self {
        let text = match time.subsec_millis() {
            0 => format!("{}s", time.as_secs()),
            _ => format!("{}ms", time.as_millis()),
        };
        self.sleep = Some(text);
        self
    }

    /// Waits for a point in time before the tool is called; a time in the past means no wait. See [`Step::sleep`].
    pub fn until(mut self, time: SystemTime) -> Self {
        let time = Timestamp::try_from(time).unwrap_or(if time < SystemTime::UNIX_EPOCH {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        });
        self.until = Some(time.to_string());
        self
    }

    /// Sets the maximum number of calls of the tool, if it is read-only or idempotent and fails with an error that
    /// [may pass](toolkit::ToolError::is_retryable): after a second, and then after four times as long each time, at most five
    /// minutes. Default: 1, or that of the worker of a [durable](https://docs.rs/toolkit-durable) run.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_backends::chain::Step;
    ///
    /// let step = Step::new("weather:forecast").attempts(5);
    /// assert_eq!(serde_json::to_value(&step)?, serde_json::json!({ "toolId": "weather:forecast", "attempts": 5 }));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn attempts(self, n: u32) -> Self {
        Self { attempts: Some(n), ..self }
    }

    /// Returns the maximum number of calls, if the step has one.
    #[must_use]
    pub fn max_attempts(&self) -> Option<u32> {
        self.attempts
    }

    /// Returns the wait before the tool is called.
    ///
    /// # Errors
    ///
    /// Returns the field that is wrong, and the reason.
    pub(super) fn wait(&self) -> Result<Option<Wait>, (&'static str, String)> {
        match (&self.sleep, &self.until) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err(("/until", "write `sleep` or `until`, not both".to_owned())),
            (Some(text), None) => match parse_duration(text) {
                Some(time) if time <= MAX_WAIT => Ok(Some(Wait::For(time))),
                Some(_) => Err(("/sleep", "must be at most 366 days".to_owned())),
                None => Err(("/sleep", "must be a time such as `500ms`, `90s`, `15m`, `24h` or `7d`".to_owned())),
            },
            (None, Some(text)) => match text.parse::<Timestamp>().ok().and_then(|time| SystemTime::try_from(time).ok())
            {
                Some(end) if end <= SystemTime::now() + MAX_WAIT => Ok(Some(Wait::Until(end))),
                Some(_) => Err(("/until", "must be at most 366 days from now".to_owned())),
                None => Err(("/until", "must be a time with its offset, as in `2027-01-31T09:00:00+01:00`".to_owned())),
            },
        }
    }

    /// Returns the id of the step.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns the name of the tool as written in the chain.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool_id
    }

    /// Returns the constant arguments.
    #[must_use]
    pub fn constants(&self) -> &Map<String, Value> {
        &self.args
    }

    /// Returns true if the step takes the result of the preceding step.
    #[must_use]
    pub fn uses_previous(&self) -> bool {
        self.use_previous
    }

    /// Returns the arguments that are taken from earlier steps.
    #[must_use]
    pub fn references(&self) -> &BTreeMap<String, Reference> {
        &self.from
    }

    /// Returns the steps to wait for without using their results.
    #[must_use]
    pub fn predecessors(&self) -> &[String] {
        &self.after
    }
}

// Arguments may contain secrets, and `Debug` output usually ends up in logs.
impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("id", &self.id)
            .field("tool", &self.tool_id)
            .field("args", &self.args.keys().collect::<Vec<_>>())
            .field("use_previous", &self.use_previous)
            .field("from", &self.from)
            .field("after", &self.after)
            .field("sleep", &self.sleep)
            .field("until", &self.until)
            .field("attempts", &self.attempts)
            .finish()
    }
}
