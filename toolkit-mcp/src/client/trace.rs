//! W3C Trace Context of requests.

use rmcp::model::RequestMetaObject;
use toolkit::Context;
use toolkit::call::TraceContext;

/// Returns the trace context of a call as `_meta` of a request.
pub(super) fn meta(context: &Context) -> Option<RequestMetaObject> {
    let trace = context.get::<TraceContext>()?.clone();
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
