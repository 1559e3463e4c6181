//! Results of calls, and their validation against the output schema.
//!
//! A mismatch is a defect of the tool. The error contains the location and the violated rule in terms of the schema.
//! The value is withheld, because it could carry anything into a conversation; only non-finite numbers are shown.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::coerce::Change;
use super::content::Content;
use super::kind::ErrorKind;
use super::mcp_result::McpResult;
use super::tool_error::ToolError;
use crate::tool::ToolBackend;
use toolkit_schema::tree::held;
use toolkit_schema::{Schema, Violation, Violations, declared_pointer};

/// The result of a successful call.
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let dispatcher = Dispatcher::new(catalog![add]?)?;
/// let result = dispatcher.call_sync("add", r#"{"a": 1, "b": 2}"#)?;
/// assert_eq!(result.value(), 3);
/// assert_eq!(result.content()[0].as_text(), Some("3"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RunResult {
    /// The id of the function; `None` if a backend ran the tool, which `beside` identifies.
    function: Option<&'static str>,
    structured: Option<Vec<u8>>,
    /// Boxed, because most results have nothing here and are moved several times.
    beside: Option<Box<Beside>>,
}

/// The parts that most results lack.
#[derive(Clone, Default)]
struct Beside {
    content: Vec<Content>,
    changes: Vec<Change>,
    ran_on: Option<RanOn>,
}

/// The backend that ran the tool.
#[derive(Clone)]
struct RanOn {
    tool: String,
    backend: ToolBackend,
    mcp: Option<Arc<McpResult>>,
}

// The bytes are text and are printed as such, for readers of failed tests.
impl fmt::Debug for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunResult")
            .field("tool", &self.tool())
            .field("structured", &self.json().map(String::from_utf8_lossy))
            .field("content", &self.own_content())
            .field("changes", &self.changes())
            .finish()
    }
}

impl RunResult {
    /// Creates a result without output, with the changes made to the arguments.
    #[inline]
    pub(crate) fn from_function(tool: &'static str, changes: Vec<Change>) -> Self {
        let beside = if changes.is_empty() { None } else { Some(Box::new(Beside { changes, ..Beside::default() })) };
        Self { function: Some(tool), structured: None, beside }
    }

    /// Creates the result of a tool that ran on a backend.
    pub(crate) fn from_backend(
        tool: String,
        backend: ToolBackend,
        mcp: Option<McpResult>,
        changes: Vec<Change>,
    ) -> Self {
        let ran_on = Some(RanOn { tool, backend, mcp: mcp.map(Arc::new) });
        Self {
            function: None,
            structured: None,
            beside: Some(Box::new(Beside { changes, ran_on, ..Beside::default() })),
        }
    }

    #[inline]
    pub(crate) fn with_json(mut self, json: Vec<u8>) -> Self {
        self.structured = Some(json);
        self
    }

    pub(crate) fn with_content(mut self, content: Vec<Content>) -> Self {
        if !content.is_empty() {
            self.beside_mut().content = content;
        }
        self
    }

    #[cold]
    fn beside_mut(&mut self) -> &mut Beside {
        self.beside.get_or_insert_default()
    }

    /// Returns the content that the tool returned beside or instead of a structured result; often none.
    pub fn own_content(&self) -> &[Content] {
        match self.mcp() {
            Some(mcp) => mcp.content(),
            None => self.beside.as_ref().map_or(&[], |beside| &beside.content),
        }
    }

    /// Changes the URIs of the resources in the [content](Self::own_content), for a host that serves them under others.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Content, Dispatcher, catalog, tool};
    ///
    /// /// Returns the manual.
    /// #[tool]
    /// fn manual() -> Content {
    ///     Content::resource_link("docs:///pump.md", "pump.md")
    /// }
    ///
    /// let result = Dispatcher::new(catalog![manual]?)?.call_sync("manual", "{}")?;
    /// let result = result.map_uris(|uri| format!("proxy:{uri}"));
    /// assert_eq!(serde_json::to_value(result.content())?[0]["uri"], "proxy:docs:///pump.md");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn map_uris(mut self, mut change: impl FnMut(&str) -> String) -> Self {
        if let Some(beside) = &mut self.beside {
            beside.content.iter_mut().for_each(|block| block.map_uri(&mut change));
            if let Some(mcp) = beside.ran_on.as_mut().and_then(|ran_on| ran_on.mcp.as_mut())
                && let Some(changed) = mcp.with_uris(&mut change)
            {
                *mcp = Arc::new(changed);
            }
        }
        self
    }

    /// Returns the id of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        match self.ran_on() {
            Some(ran_on) => &ran_on.tool,
            None => self.function.unwrap_or_default(),
        }
    }

    /// Returns the backend that ran the tool. For a function of this program that is [`ToolBackend::Local`] with the
    /// id of the function.
    #[must_use]
    pub fn backend(&self) -> ToolBackend {
        match self.ran_on() {
            Some(ran_on) => ran_on.backend.clone(),
            None => ToolBackend::named(self.tool().to_owned()),
        }
    }

    /// Returns the fields of the result of the MCP server (`CallToolResult`), if the tool ran on one. They are parsed when
    /// they are requested first; see [`RunResult::mcp_json`].
    #[must_use]
    pub fn mcp_result(&self) -> Option<&Map<String, Value>> {
        self.mcp().map(McpResult::tree)
    }

    /// Returns the result of the MCP server (`CallToolResult`) as the text that it has sent, if the tool ran on one.
    #[must_use]
    pub fn mcp_json(&self) -> Option<&str> {
        self.mcp().map(McpResult::json)
    }

    pub(crate) fn mcp(&self) -> Option<&McpResult> {
        self.ran_on()?.mcp.as_deref()
    }

    fn ran_on(&self) -> Option<&RanOn> {
        self.beside.as_ref()?.ran_on.as_ref()
    }

    /// Returns the structured result as JSON text, or `None` if the tool returns nothing or only content.
    ///
    /// A [`Value`] that the tool returns is written as `serde_json` writes it. If any crate of the program enables
    /// `serde_json/arbitrary_precision`, a number that was read as `1.50` is written as `1.50`, otherwise as `1.5`.
    /// [`RunResult::value`] does not depend on this feature.
    #[must_use]
    pub fn json(&self) -> Option<&[u8]> {
        self.structured.as_deref().or_else(|| self.mcp()?.structured())
    }

    /// Returns the structured result as JSON text, or `null` if there is none.
    #[must_use]
    pub fn into_json(self) -> Vec<u8> {
        let mcp = || self.ran_on()?.mcp.as_ref()?.structured().map(<[u8]>::to_vec);
        match self.structured {
            Some(json) => json,
            None => mcp().unwrap_or_else(|| b"null".to_vec()),
        }
    }

    /// Returns the structured result as a value, or `null` if there is none.
    #[must_use]
    pub fn value(&self) -> Value {
        let parsed = self.json().map(serde_json::from_slice);
        parsed.and_then(Result::ok).map_or(Value::Null, held)
    }

    /// Returns the content for the model: that of the tool, or the structured result as text if the tool returned no
    /// content.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Content, Dispatcher, Structured, catalog, tool};
    ///
    /// /// Counts the words of a text.
    /// #[tool]
    /// fn count(text: String) -> Structured<usize> {
    ///     let n_words = text.split_whitespace().count();
    ///     Structured::new(n_words, [Content::text(format!("The text has {n_words} words."))])
    /// }
    ///
    /// let result = Dispatcher::new(catalog![count]?)?.call_sync("count", r#"{"text": "one two"}"#)?;
    /// assert_eq!(result.value(), 2);
    /// assert_eq!(result.content()[0].as_text(), Some("The text has 2 words."));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn content(&self) -> Cow<'_, [Content]> {
        if !self.own_content().is_empty() {
            return Cow::Borrowed(self.own_content());
        }
        let Some(json) = self.json() else {
            return Cow::Borrowed(&[]);
        };
        // A string is shown without quotes and escapes, which would only distract the model.
        let text = json.starts_with(b"\"").then(|| serde_json::from_slice::<String>(json).ok()).flatten();
        let text = text.unwrap_or_else(|| String::from_utf8_lossy(json).into_owned());
        Cow::Owned(vec![Content::Text { text }])
    }

    /// Returns the changes that made the arguments match the input schema; usually none.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        self.beside.as_ref().map_or(&[], |beside| &beside.changes)
    }
}

/// Validates a result in JSON.
pub(crate) fn check_output(schema: &Schema, json: &[u8]) -> Result<(), ToolError> {
    let output: Value = serde_json::from_slice(json).map(held).map_err(ToolError::internal)?;
    check_output_tree(schema, &output)
}

/// Validates a result.
pub(crate) fn check_output_tree(schema: &Schema, output: &Value) -> Result<(), ToolError> {
    schema.validate(output).map_err(|violations| mismatch(schema, &violations, &[]))
}

/// Validates the JSON of a value whose non-finite floats are `null`.
pub(crate) fn check_value(schema: &Schema, json: &[u8], floats: &[(String, f64)]) -> Result<(), ToolError> {
    let output: Value = serde_json::from_slice(json).map(held).map_err(ToolError::internal)?;
    schema.validate(&output).map_err(|violations| mismatch(schema, &violations, floats))
}

/// Returns the error of a result with a map whose key JSON cannot represent, at a JSON Pointer.
pub(crate) fn not_json(schema: Option<&Schema>, pointer: String) -> ToolError {
    // A key that the schema does not declare is part of the value.
    let place = schema.map_or_else(|| pointer.clone(), |schema| declared_pointer(schema.as_value(), &pointer));
    let place = if place.is_empty() { "the result".to_owned() } else { format!("the result at {place}") };
    let message = format!(
        "{place} is a map whose keys are not strings in JSON; return a list of pairs, or use keys that serde writes as \
         strings"
    );
    ToolError::new(ErrorKind::InvalidOutput, message).caused_by(pointer)
}

#[cold]
fn mismatch(schema: &Schema, violations: &Violations, floats: &[(String, f64)]) -> ToolError {
    let float = |violation: &Violation| {
        let (_, float) = floats.iter().find(|(pointer, _)| *pointer == violation.pointer)?;
        Some(float_name(*float))
    };
    let line = |violation: &Violation, pointer: String| {
        let mut line = violation.clone();
        (line.pointer, line.sent, line.suggestion) = (pointer, None, None);
        float(violation).map_or_else(|| line.to_string(), |float| format!("{line}, got {float}"))
    };
    let cause = violations.iter().map(|violation| line(violation, violation.pointer.clone()));
    let cause = cause.collect::<Vec<_>>().join("; ");
    let first = violations.first().map_or_else(String::new, |first| {
        // A key that the schema does not declare is part of the value.
        line(first, declared_pointer(schema.as_value(), &first.pointer))
    });
    let more = match violations.len() {
        0 | 1 => String::new(),
        n => format!("; and {} more", n - 1),
    };
    let message = format!("the result does not match the output schema: {first}{more}");
    ToolError::new(ErrorKind::InvalidOutput, message).caused_by(cause)
}

/// Returns the name of a non-finite float for messages.
fn float_name(float: f64) -> &'static str {
    match float {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}
