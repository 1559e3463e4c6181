//! A span for each call, with the attributes of OpenTelemetry.

use serde_json::Value;
use toolkit::call::ErrorKind;
use toolkit::dispatch::Call;
use toolkit::{RunResult, Tool, ToolError};
use tracing::{Instrument, Span, field};

use crate::middleware::{Inner, Middleware, layer};

/// A layer that creates a [`tracing`] span for each call, with the attributes of the OpenTelemetry semantic conventions
/// for generative AI (`execute_tool`, status "development" as of semconv 1.41).
///
/// | attribute | value |
/// |---|---|
/// | `otel.name` | `execute_tool {gen_ai.tool.name}` |
/// | `gen_ai.operation.name` | `execute_tool` |
/// | `gen_ai.tool.name`, `gen_ai.tool.type` | the name of the tool, and `function` |
/// | `gen_ai.tool.description` | the summary of the tool, if it has a description |
/// | `gen_ai.tool.call.id` | the [`ToolCallId`] in the context, if there is one |
/// | `gen_ai.tool.call.arguments`, `gen_ai.tool.call.result` | if [enabled](Self::arguments) |
/// | `toolkit.tool.id` | the id with namespace and version |
/// | `otel.status_code`, `error.type` | for a failure, `ERROR` and the [`ErrorKind::name`], such as `timed_out` |
///
/// A call that is dropped before its end has the `error.type` of a cancelled call. The spans and events of the tool are
/// children of the span. `tracing-opentelemetry` exports it. Messages of errors are not recorded, since they may contain
/// arguments. Arguments and results are recorded only if enabled, without the properties that the schemas mark as secret
/// (`writeOnly`).
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_tower::Traced;
///
/// let traced = Traced::new().arguments(true).results(true);
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(traced).build()?;
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Traced {
    arguments: bool,
    results: bool,
    max_bytes: usize,
}

/// The id of a call that a model has assigned. A host attaches it to the context.
///
/// ```
/// # use toolkit::Context;
/// # use toolkit_tower::ToolCallId;
/// let context = Context::new().with(ToolCallId::new("call_mszuSIzqtI65i1wAUOE8w5H4"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCallId(String);

impl ToolCallId {
    /// Creates a call id.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns the id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Traced {
    /// Creates a layer that records neither arguments nor results.
    pub const fn new() -> Self {
        Self { arguments: false, results: false, max_bytes: 16 << 10 }
    }

    /// Sets whether arguments are recorded as JSON in `gen_ai.tool.call.arguments`.
    ///
    /// Invalid arguments of a tool with secret properties are not recorded, since the secrets cannot be located.
    pub const fn arguments(self, record: bool) -> Self {
        Self { arguments: record, ..self }
    }

    /// Sets whether structured results are recorded as JSON in `gen_ai.tool.call.result`.
    pub const fn results(self, record: bool) -> Self {
        Self { results: record, ..self }
    }

    /// Sets the maximum length of arguments and of results, in bytes. 16 KiB by default. A truncated value ends in `…`.
    pub const fn max_bytes(self, n_bytes: usize) -> Self {
        Self { max_bytes: n_bytes, ..self }
    }

    fn record_arguments(&self, span: &Span, call: &Call) {
        let input = call.tool().input();
        let arguments = match call.checked_arguments() {
            Ok(arguments) => input.masked(&arguments),
            Err(_) if input.holds_secret() => return,
            Err(_) => match call.arguments().to_value() {
                Ok(arguments) => arguments,
                Err(_) => return,
            },
        };
        self.record(span, "gen_ai.tool.call.arguments", &arguments);
    }

    fn record_result(&self, span: &Span, tool: &Tool, result: &RunResult) {
        if result.json().is_none() {
            return;
        }
        let mut value = result.value();
        if let Some(output) = tool.output() {
            value = output.masked(&value);
        }
        self.record(span, "gen_ai.tool.call.result", &value);
    }

    fn record(&self, span: &Span, attribute: &str, value: &Value) {
        let mut json = value.to_string();
        if json.len() > self.max_bytes {
            json.truncate(json.floor_char_boundary(self.max_bytes));
            json.push('…');
        }
        span.record(attribute, json);
    }
}

impl Default for Traced {
    fn default() -> Self {
        Self::new()
    }
}

impl Middleware for Traced {
    async fn around(&self, call: Call, inner: impl Inner) -> Result<RunResult, ToolError> {
        let span = span(&call);
        if span.is_disabled() {
            return inner.run(call).await;
        }
        if self.arguments {
            self.record_arguments(&span, &call);
        }
        let dropped = RecordCancelled(&span);
        let observed = self.results.then(|| call.clone());
        let outcome = inner.run(call).instrument(span.clone()).await;
        std::mem::forget(dropped);
        match &outcome {
            Ok(result) => {
                if let Some(call) = observed {
                    self.record_result(&span, call.tool(), result);
                }
            }
            Err(error) => record_error(&span, error.kind()),
        }
        outcome
    }
}

layer!(Traced);

fn span(call: &Call) -> Span {
    let tool = call.tool();
    let span = tracing::info_span!(
        "execute_tool",
        otel.name = field::Empty,
        otel.kind = "internal",
        otel.status_code = field::Empty,
        "error.type" = field::Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool.name(),
        "gen_ai.tool.type" = "function",
        gen_ai.tool.description = field::Empty,
        gen_ai.tool.call.id = field::Empty,
        gen_ai.tool.call.arguments = field::Empty,
        gen_ai.tool.call.result = field::Empty,
        toolkit.tool.id = %tool.id(),
    );
    if !span.is_disabled() {
        span.record("otel.name", format!("execute_tool {}", tool.name()));
        let description = tool.summary();
        if !description.is_empty() {
            span.record("gen_ai.tool.description", description);
        }
        if let Some(id) = call.context().get::<ToolCallId>() {
            span.record("gen_ai.tool.call.id", id.as_str());
        }
    }
    span
}

fn record_error(span: &Span, kind: ErrorKind) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind.name());
}

/// Records a cancellation when the future of a call is dropped before its end.
struct RecordCancelled<'s>(&'s Span);

impl Drop for RecordCancelled<'_> {
    fn drop(&mut self) {
        record_error(self.0, ErrorKind::Cancelled);
    }
}
