//! The ids of calls.

/// The `call_id` of a call. Add it to the [`Context`](toolkit::Context) to repeat a call that must run only once. By
/// default, each call has a random one.
///
/// # Examples
///
/// ```
/// use toolkit::Context;
/// use toolkit_otc::CallId;
///
/// let context = Context::new().with(CallId("order-17".to_owned()));
/// assert!(context.get::<CallId>().is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallId(pub String);
