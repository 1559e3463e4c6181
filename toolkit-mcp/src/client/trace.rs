//! What follows a call through programs.

use rmcp::model::RequestMetaObject;
use toolkit::Context;

/// The W3C's Trace Context of a call. One in the [`Context`] of a call is sent along to a server.
///
/// With the feature `server`, what a client of this program sent is passed on without it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceContext {
    /// `traceparent`.
    pub traceparent: String,
    /// `tracestate`.
    pub tracestate: Option<String>,
    /// `baggage`.
    pub baggage: Option<String>,
}

/// The trace context of a call, in the words of the protocol.
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
