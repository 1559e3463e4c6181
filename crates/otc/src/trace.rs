//! Correlation of calls across programs.

/// A correlation id of a call across programs. The client sends the one in the [`Context`](toolkit::Context) of a call,
/// and the server adds the one it has received to the context of the tool.
///
/// # Examples
///
/// ```
/// use toolkit::Context;
/// use toolkit_otc::TraceId;
///
/// let context = Context::new().with(TraceId("request-17".to_owned()));
/// assert_eq!(context.get::<TraceId>().unwrap().0, "request-17");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceId(pub String);
