//! Prompts: messages that a user selects in a client and fills in, such as a slash command.
//!
//! [`prompt`](macro@crate::prompt) turns a function into a prompt. A [`Catalog`](crate::Catalog) contains the prompts of a
//! program beside its tools, a dispatcher [runs](crate::Dispatcher::prompt) them, and the server of `toolkit-mcp-server`
//! lists and completes them without further settings.
//!
//! ```
//! use toolkit::prompt::PromptMessage;
//! use toolkit::{Dispatcher, catalog, prompt};
//!
//! /// Reviews a change.
//! #[prompt]
//! fn review(
//!     /// The code to review.
//!     code: String,
//!     /// The number of remarks, by default three.
//!     remarks: Option<u32>,
//! ) -> String {
//!     format!("Write {} remarks about this code:\n{code}", remarks.unwrap_or(3))
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let dispatcher = Dispatcher::new(catalog![review]?)?;
//! // Clients send texts.
//! let messages = dispatcher.prompt("review", r#"{"code": "a + b", "remarks": "1"}"#).await?;
//! assert_eq!(messages, [PromptMessage::user("Write 1 remarks about this code:\na + b")]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::call::Content;
use crate::tool::{Text, Tool, ToolId};
use toolkit_schema::root;
use toolkit_schema::walk::resolve;

/// A prompt of a [`Catalog`](crate::Catalog).
///
/// # Examples
///
/// ```
/// use toolkit::{catalog, prompt};
///
/// /// Translates a text.
/// #[prompt(namespace = "text", title = "Translate")]
/// fn translate(text: String, language: Option<String>) -> String {
///     format!("Translate into {}:\n{text}", language.as_deref().unwrap_or("English"))
/// }
///
/// let catalog = catalog![translate]?;
/// let prompt = catalog.prompts().next().unwrap();
/// assert_eq!((prompt.id().to_string(), prompt.title()), ("text:translate".to_owned(), Some("Translate")));
/// let arguments = prompt.arguments();
/// assert_eq!((&*arguments[0].name, arguments[0].required), ("text", true));
/// assert_eq!((&*arguments[1].name, arguments[1].required), ("language", false));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prompt {
    /// The record, whose input schema describes the arguments.
    pub(crate) tool: Tool,
    /// The names of the arguments in the order of their declaration. A schema does not keep it.
    order: Vec<Text>,
}

impl Prompt {
    /// Creates a prompt from a record. `order` has the names of the arguments in the order in which they are listed.
    #[must_use]
    pub fn new(tool: Tool, order: Vec<Text>) -> Self {
        Self { tool, order }
    }

    /// Creates the prompt of a function of this program.
    pub(crate) fn linked(tool: Tool) -> Self {
        let order = tool.entry().and_then(|entry| entry.prompt).unwrap_or_default();
        Self { tool, order: order.iter().copied().map(Cow::Borrowed).collect() }
    }

    /// Returns the record, whose input schema describes the arguments.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Changes the record.
    ///
    /// # Errors
    ///
    /// Returns the error of `change`.
    pub fn try_map<E>(self, change: impl FnOnce(Tool) -> Result<Tool, E>) -> Result<Self, E> {
        Ok(Self { tool: change(self.tool)?, order: self.order })
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &ToolId {
        self.tool.id()
    }

    /// Returns the title for people.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.tool.title()
    }

    /// Returns the description.
    #[must_use]
    pub fn description(&self) -> &str {
        self.tool.description()
    }

    /// Returns the arguments, in the order of their declaration, without aliases.
    #[must_use]
    pub fn arguments(&self) -> Vec<PromptArgument> {
        let mut schema = self.tool.input().as_value().clone();
        root::list(&mut schema);
        let required = schema.get("required").and_then(Value::as_array);
        let argument = |(name, property): (&String, &Value)| PromptArgument {
            name: name.clone(),
            title: text_of(property, "title", &schema),
            description: text_of(property, "description", &schema),
            required: required.is_some_and(|required| required.iter().any(|other| other == name)),
        };
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let mut arguments: Vec<PromptArgument> = properties.map(argument).collect();
        let place = |argument: &PromptArgument| self.order.iter().position(|name| *name == argument.name);
        arguments.sort_by_key(|argument| place(argument).unwrap_or(usize::MAX));
        arguments
    }

    /// Returns the values of an argument that start with a text, in any case of ASCII letters. Only the values of enums
    /// and booleans are known. Returns `None` if the prompt does not have the argument.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{catalog, prompt};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// #[serde(rename_all = "lowercase")]
    /// enum Tone { Formal, Friendly, Terse }
    ///
    /// /// Writes a letter.
    /// #[prompt]
    /// fn letter(to: String, tone: Option<Tone>) -> String {
    ///     # let _ = tone;
    ///     format!("Write a letter to {to}.")
    /// }
    ///
    /// let catalog = catalog![letter]?;
    /// let prompt = catalog.prompts().next().unwrap();
    /// assert_eq!(prompt.complete("tone", "f").unwrap().values, ["formal", "friendly"]);
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn complete(&self, argument: &str, start: &str) -> Option<Completion> {
        let schema = self.tool.input().as_value();
        let (_, property) = self.properties().find(|(name, _)| *name == argument)?;
        let mut values = Vec::new();
        collect_values(property, schema, MAX_DEPTH, &mut values);
        let matches =
            |value: &String| value.get(..start.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(start));
        values.retain(matches);
        Some(Completion::new(values))
    }

    /// Returns the entry of `prompts/list` of MCP under a name on the wire.
    #[must_use]
    pub fn to_mcp_json(&self, name: &str) -> Value {
        let mut listed = self.tool.mcp_fields_without_schemas(false);
        // Fields of tools, which the record has since it has the form of one.
        listed.retain(|key, _| !["inputSchema", "annotations", "execution"].contains(&key.as_str()));
        listed.insert("name".to_owned(), name.into());
        if !self.description().is_empty() {
            listed.insert("description".to_owned(), self.description().into());
        }
        let arguments = self.arguments();
        if !arguments.is_empty() {
            listed.insert("arguments".to_owned(), json!(arguments));
        }
        match self.tool.meta() {
            Some(meta) => listed.insert("_meta".to_owned(), meta),
            None => listed.shift_remove("_meta"),
        };
        listed.into()
    }

    fn properties(&self) -> impl Iterator<Item = (&String, &Value)> {
        let properties = self.tool.input().as_value().get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(Map::iter)
    }
}

/// The depth to which references and alternatives are followed.
const MAX_DEPTH: usize = 8;

/// Returns a text of a property, or else of the schema that it refers to.
fn text_of(property: &Value, key: &str, document: &Value) -> Option<String> {
    let own = property.get(key).and_then(Value::as_str);
    let referred = || resolve(document, property.get("$ref")?.as_str()?)?.get(key)?.as_str();
    own.or_else(referred).map(str::to_owned)
}

/// Collects the values that a schema lists, as clients send them.
fn collect_values(schema: &Value, document: &Value, depth: usize, values: &mut Vec<String>) {
    if depth == 0 {
        return;
    }
    let mut add = |value: &Value| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return,
        };
        if !values.contains(&text) {
            values.push(text);
        }
    };
    schema.get("const").into_iter().for_each(&mut add);
    schema.get("enum").and_then(Value::as_array).into_iter().flatten().for_each(&mut add);
    let is_boolean = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|other| other == "boolean"),
        Some(ty) => ty == "boolean",
        None => false,
    };
    if is_boolean {
        [true, false].map(Value::Bool).iter().for_each(&mut add);
    }
    let referred = schema.get("$ref").and_then(Value::as_str).and_then(|reference| resolve(document, reference));
    let branches = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    for schema in referred.into_iter().chain(branches) {
        collect_values(schema, document, depth - 1, values);
    }
}

/// An argument of a [`Prompt`] (`PromptArgument` of MCP).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// The name.
    pub name: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// True if the prompt cannot be used without the argument.
    #[serde(default)]
    pub required: bool,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A message of a prompt (`PromptMessage` of MCP): text, an image, audio or a resource.
///
/// # Examples
///
/// ```
/// use toolkit::prompt::PromptMessage;
/// use toolkit::{Content, prompt};
///
/// /// Explains a picture.
/// #[prompt]
/// fn explain(path: String) -> Result<Vec<PromptMessage>, std::io::Error> {
///     let picture = std::fs::read(path)?;
///     Ok(vec![
///         PromptMessage::user(Content::image(&picture, "image/png")),
///         PromptMessage::user("Explain this picture to me."),
///         PromptMessage::assistant("In the foreground,"),
///     ])
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The author of the message.
    pub role: Role,
    /// The content.
    pub content: Content,
}

impl PromptMessage {
    /// Creates a message of the user.
    #[must_use]
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// Creates a message of the model, with which its reply begins or a conversation continues.
    #[must_use]
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

/// The result of a prompt: a text or a [`Content`] of the user, or messages.
///
/// Implement it for a type of your own that stands for messages.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a prompt",
    label = "not the result of a prompt",
    note = "a prompt returns a `String`, `Content`, `PromptMessage`, `Vec<PromptMessage>` or a `Result` of these"
)]
pub trait PromptResult {
    #[doc(hidden)]
    const OK: () = ();

    /// Converts the result into messages.
    fn into_messages(self) -> Vec<PromptMessage>;
}

macro_rules! one_message_of_the_user {
    ($($ty:ty),*) => {$(
        impl PromptResult for $ty {
            fn into_messages(self) -> Vec<PromptMessage> {
                vec![PromptMessage::user(self)]
            }
        }
    )*};
}

one_message_of_the_user!(String, &'static str, Content);

impl PromptResult for PromptMessage {
    fn into_messages(self) -> Vec<PromptMessage> {
        vec![self]
    }
}

impl PromptResult for Vec<PromptMessage> {
    fn into_messages(self) -> Vec<PromptMessage> {
        self
    }
}

impl<const N: usize> PromptResult for [PromptMessage; N] {
    fn into_messages(self) -> Vec<PromptMessage> {
        self.into()
    }
}

/// The result of a prompt as JSON (`GetPromptResult` of MCP).
#[derive(Serialize, Deserialize)]
pub(crate) struct Messages {
    pub(crate) messages: Vec<PromptMessage>,
}

/// Values for an argument of a prompt or a resource template (`completion` of MCP).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completion {
    /// At most [`Completion::MAX_VALUES`] values, best first.
    pub values: Vec<String>,
    /// The number of all values, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// True if there are more values.
    #[serde(default)]
    pub has_more: bool,
}

impl Completion {
    /// The maximum number of values, which the protocol defines.
    pub const MAX_VALUES: usize = 100;

    /// Creates a completion from all values, and keeps as many as a client may receive.
    #[must_use]
    pub fn new(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(Self::MAX_VALUES);
        Self { has_more: values.len() < total, total: u64::try_from(total).ok(), values }
    }
}

/// A request for values of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionRequest {
    /// The prompt or the resource template that has the argument.
    pub reference: CompletionReference,
    /// The name of the argument.
    pub argument: String,
    /// The text that the user has entered.
    pub value: String,
    /// The other arguments that the user has entered.
    pub arguments: BTreeMap<String, String>,
}

/// The subject of a [`CompletionRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionReference {
    /// The prompt with this name or id.
    Prompt(String),
    /// The resource template with this text (RFC 6570).
    ResourceTemplate(String),
}

impl CompletionRequest {
    /// Creates a request without other arguments.
    #[must_use]
    pub fn new(reference: CompletionReference, argument: impl Into<String>, value: impl Into<String>) -> Self {
        Self { reference, argument: argument.into(), value: value.into(), arguments: BTreeMap::new() }
    }

    /// Returns the same request for another prompt or template.
    #[must_use]
    pub fn with_reference(&self, reference: CompletionReference) -> Self {
        Self { reference, ..self.clone() }
    }
}
