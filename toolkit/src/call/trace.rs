//! W3C Trace Context.

/// The W3C Trace Context of a call, which backends send to their servers if it is in the [`Context`](super::Context) of the
/// call.
///
/// A server adds the trace context of an incoming call, so that it is forwarded by default.
///
/// # Examples
///
/// ```
/// use toolkit::Context;
/// use toolkit::call::TraceContext;
///
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
