//! Which tools a model may or must call.

/// Which tools a model may or must call.
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::anthropic::MESSAGES;
/// use toolkit_providers::request::{Request, ToolChoice};
///
/// let request = Request::new(MESSAGES, "claude").tool_choice(ToolChoice::Tool("math_add".to_owned()));
/// assert_eq!(request.build()?.body["tool_choice"], json!({ "type": "tool", "name": "math_add" }));
/// # Ok::<(), toolkit_providers::request::RequestError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must call a tool.
    Required,
    /// The model must not call a tool.
    None,
    /// The model must call the tool with this name, as it is exported.
    Tool(String),
}
