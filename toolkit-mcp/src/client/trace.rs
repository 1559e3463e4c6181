//! W3C Trace Context.

use rmcp::model::RequestMetaObject;
use toolkit::Context;

/// The W3C Trace Context of a call, which is sent to the server if it is in the [`Context`] of the call.
///
/// With the feature `server`, the trace context of an incoming MCP request is forwarded by default.
///
/// # Examples
///
/// ```
/// # use toolkit::Context;
/// # use toolkit_mcp::client::TraceContext;
/// let trace = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").tracestate("vendor=1");
/// let context = Context::new().with(trace);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// The value of `traceparent`.
    pub traceparent: String,
    /// The value of `tracestate`.
    pub tracestate: Option<String>,
    /// The value of `baggage`.
    pub baggage: Option<String>,
}

impl TraceContext {
    /// Creates a trace context from the value of `traceparent`.
    #[must_use]
    pub fn new(traceparent: impl Into<String>) -> Self {
        Self { traceparent: traceparent.into(), ..Self::default() }
    }

    /// Sets `tracestate`.
    #[must_use]
    pub fn tracestate(mut self, tracestate: impl Into<String>) -> Self {
        self.tracestate = Some(tracestate.into());
        self
    }

    /// Sets `baggage`.
    #[must_use]
    pub fn baggage(mut self, baggage: impl Into<String>) -> Self {
        self.baggage = Some(baggage.into());
        self
    }
}

/// Returns the trace context of a call as `_meta` of a request.
pub(super) fn meta(context: &Context) -> Option<RequestMetaObject> {
    let trace = match context.get::<TraceContext>() {
        Some(trace) => trace.clone(),
        None => passed_on(context)?,
    };
    let mut meta = RequestMetaObject::new();
    meta.set_traceparent(trace.traceparent);
    if let Some(tracestate) = trace.tracestate {
        meta.set_tracestate(tracestate);
    }
    if let Some(baggage) = trace.baggage {
        meta.set_baggage(baggage);
    }
    Some(meta)
}

#[cfg(feature = "server")]
fn passed_on(context: &Context) -> Option<TraceContext> {
    let request = context.get::<crate::server::Request>()?;
    Some(TraceContext {
        traceparent: request.traceparent()?.to_owned(),
        tracestate: request.tracestate().map(str::to_owned),
        baggage: request.baggage().map(str::to_owned),
    })
}

#[cfg(not(feature = "server"))]
fn passed_on(_: &Context) -> Option<TraceContext> {
    None
}
