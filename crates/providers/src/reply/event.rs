//! The events of a streamed reply.

/// A part of a reply that arrived, for display.
///
/// Events are not complete calls: these are in the [`Reply`](super::Reply) that
/// [`ReplyStream::finish`](super::ReplyStream::finish) returns.
///
/// ```
/// use toolkit_providers::reply::ReplyEvent;
///
/// fn show(event: &ReplyEvent) -> String {
///     match event {
///         ReplyEvent::Text(text) => text.clone(),
///         ReplyEvent::CallStarted { name, .. } => format!("[{name}] "),
///         _ => String::new(),
///     }
/// }
///
/// assert_eq!(show(&ReplyEvent::CallStarted { index: 0, name: "add".to_owned() }), "[add] ");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplyEvent {
    /// Text of the reply.
    Text(String),
    /// Text of the model's reasoning, if the provider shows it.
    Reasoning(String),
    /// A call begins.
    CallStarted {
        /// The number of calls that began before.
        index: usize,
        /// The name, as the model writes it.
        name: String,
    },
    /// More of the arguments of a call.
    Arguments {
        /// The index of the call.
        index: usize,
        /// A piece of JSON text.
        json: String,
    },
}
