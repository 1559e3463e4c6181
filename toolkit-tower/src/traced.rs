//! A span around every call, in the words of OpenTelemetry.

use serde_json::Value;
use toolkit::call::ErrorKind;
use toolkit::dispatch::Call;
use toolkit::{RunResult, Tool, ToolError};
use tracing::{Instrument, Span, field};

use crate::middleware::{Inner, Middleware, layer};

/// Puts a span around every call, by the semantic conventions of OpenTelemetry for generative AI (`execute_tool`;
/// still in development there, as of semconv 1.41).
///
/// The span is called `execute_tool {gen_ai.tool.name}` and has `gen_ai.operation.name`, `gen_ai.tool.name`,
/// `gen_ai.tool.type`, `gen_ai.tool.description` where there is one, `gen_ai.tool.call.id` where the context has a
/// [`CallId`], `toolkit.tool.id` with namespace and version, and on failure `error.type`, which is an [`ErrorKind::name`]: `timed_out`. A call that is dropped before
/// its end has the `error.type` of a cancelled one. The tool's own spans and events are inside of it.
///
/// It is a span of `tracing`, for whoever listens; `tracing-opentelemetry` sends it on. What was said of an error is not
/// in it, since that may repeat arguments. Arguments and results are in it only when asked for:
///
/// ```
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_tower::Traced;
///
/// let traced = Traced::new().arguments(true).results(true);
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(traced).build()?;
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
///
/// What the tool's schemas call secret (`writeOnly`) is masked even then.
#[derive(Clone, Copy, Debug)]
pub struct Traced {
    arguments: bool,
    results: bool,
    max_bytes: usize,
}

/// The id that a model gave to a call; a host attaches it to the context.
///
/// ```
/// # use toolkit::Context;
/// # use toolkit_tower::CallId;
/// let context = Context::new().with(CallId::new("call_mszuSIzqtI65i1wAUOE8w5H4"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallId(String);

impl CallId {
    /// The id as the model gave it.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Traced {
    /// Without arguments and results.
    #[must_use]
    pub const fn new() -> Self {
        Self { arguments: false, results: false, max_bytes: 16 << 10 }
    }

    /// Whether the arguments are recorded, as JSON, in `gen_ai.tool.call.arguments`.
    ///
    /// Those that do not fit are not recorded where the tool takes secrets: nobody knows where they are.
    #[must_use]
    pub const fn arguments(self, record: bool) -> Self {
        Self { arguments: record, ..self }
    }

    /// Whether the structured result is recorded, as JSON, in `gen_ai.tool.call.result`.
    #[must_use]
    pub const fn results(self, record: bool) -> Self {
        Self { results: record, ..self }
    }

    /// How many bytes of either are recorded; 16 KiB by default. What is cut off ends in `…`.
    #[must_use]
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
        let span = span_of(&call);
        if span.is_disabled() {
            return inner.run(call).await;
        }
        if self.arguments {
            self.record_arguments(&span, &call);
        }
        let dropped = FailsIfDropped(&span);
        let observed = self.results.then(|| call.clone());
        let outcome = inner.run(call).instrument(span.clone()).await;
        std::mem::forget(dropped);
        match &outcome {
            Ok(result) => {
                if let Some(call) = observed {
                    self.record_result(&span, call.tool(), result);
                }
            }
            Err(error) => fail(&span, error.kind()),
        }
        outcome
    }
}

layer!(Traced);

fn span_of(call: &Call) -> Span {
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
        if let Some(id) = call.context().get::<CallId>() {
            span.record("gen_ai.tool.call.id", id.as_str());
        }
    }
    span
}

fn fail(span: &Span, kind: ErrorKind) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind.name());
}

/// A call that nobody waits for any more ends without an outcome.
struct FailsIfDropped<'s>(&'s Span);

impl Drop for FailsIfDropped<'_> {
    fn drop(&mut self) {
        fail(self.0, ErrorKind::Cancelled);
    }
}
