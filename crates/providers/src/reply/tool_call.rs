//! A call of a tool in a model's reply, as it was written and with the tool that it refers to.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use toolkit::Arguments;
use toolkit::catalog::{ExportedName, ExportedNames};
use toolkit::tool::ToolId;

/// A call of a tool in a model's reply.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::{ExportedName, ExportedNames};
/// use toolkit_providers::openai::RESPONSES;
///
/// let names = ExportedNames::from_iter([ExportedName::new("mail_send", "mail:send".parse()?)]);
/// let call = json!({ "type": "function_call", "call_id": "call_1", "name": "mail_send", "arguments": "{}" });
/// let reply = RESPONSES.read(json!({ "output": [call] }), &names)?;
/// let call = &reply.calls()[0];
/// assert_eq!((&*call.id, &*call.name), ("call_1", "mail_send"));
/// assert_eq!(call.tool.as_ref().map(|id| id.to_string()).as_deref(), Some("mail:send"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id that the result repeats. If the reply has none, one is derived from the reply, and [`Reply::messages`]
    /// contains it, except those of Gemini, which are matched with their results by order.
    ///
    /// [`Reply::messages`]: super::Reply::messages
    pub id: String,
    /// The namespace beside the name, if there is one.
    pub namespace: Option<String>,
    /// The name as the model wrote it.
    pub name: String,
    /// The tool, if one was exported under the name.
    pub tool: Option<ToolId>,
    /// The arguments as the model wrote them. They are not validated yet, and may be no JSON.
    pub arguments: CallArguments,
    /// The name that a request repeats: that of the export, or else what an API accepts of the name.
    pub(crate) sent_name: String,
    /// The namespace that a request repeats.
    pub(crate) sent_namespace: Option<String>,
    /// True if the tool was exported in strict mode, in which null stands for an absent argument.
    pub(crate) is_strict: bool,
    /// True if the reply has an id. A result must not repeat an id that Gemini did not send.
    pub(crate) has_id: bool,
    pub(crate) form: CallForm,
    /// Who made the call, if the provider states it. Responses requires it in the result.
    pub(crate) caller: Option<Value>,
}

/// The form of a call, which determines that of its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CallForm {
    #[default]
    Function,
    /// A custom tool, whose input is text.
    Custom,
}

/// The arguments of a [`ToolCall`].
///
/// ```
/// use toolkit_providers::reply::CallArguments;
///
/// let arguments = CallArguments::Json(r#"{"to": "Ada"}"#.to_owned());
/// assert_eq!(*arguments.to_arguments().to_json()?, *br#"{"to": "Ada"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallArguments {
    /// JSON text. Arguments that arrive as an object are written as text, which a dispatcher reads fastest.
    Json(String),
    /// Text that is not JSON: the input of a custom tool of OpenAI.
    Text(String),
}

impl CallArguments {
    /// Reads arguments that are JSON text in a JSON value, or an object. Nothing stands for no arguments.
    pub(crate) fn from_value(value: Option<&Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Json("{}".to_owned()),
            Some(Value::String(text)) => Self::from_text(text),
            // Faster than `Display`.
            Some(value) => Self::Json(serde_json::to_string(value).unwrap_or_default()),
        }
    }

    /// Reads arguments that are JSON text. Nothing stands for no arguments.
    pub(crate) fn from_text(text: &str) -> Self {
        let trimmed = text.trim_ascii();
        match trimmed {
            "" | "null" => Self::Json("{}".to_owned()),
            // Some servers encode the arguments twice.
            _ if trimmed.starts_with('"') => match serde_json::from_str::<String>(trimmed) {
                Ok(inner) if inner.trim_ascii_start().starts_with('{') => Self::Json(inner),
                _ => Self::Json(text.to_owned()),
            },
            _ => Self::Json(text.to_owned()),
        }
    }

    /// Returns the arguments for a dispatcher. Text of a custom tool is no JSON, and is returned as a JSON string.
    #[must_use]
    pub fn to_arguments(&self) -> Arguments<'_> {
        match self {
            Self::Json(text) => Arguments::from(text.as_str()),
            Self::Text(text) => Arguments::from(Value::from(text.as_str())),
        }
    }

    /// Replaces arguments in a field by the object that a request repeats, if they are in another form.
    pub(crate) fn make_object(json: &mut Value, field: &str) {
        if json[field].is_object() {
            return;
        }
        let (Self::Json(text) | Self::Text(text)) = Self::from_value(json.get(field));
        let object = serde_json::from_str(&text).ok().filter(Value::is_object);
        // The form that Anthropic recommends for text that is not the JSON of an object.
        json[field] = object.unwrap_or_else(|| json!({ "INVALID_JSON": text }));
    }

    /// Returns the arguments as a request repeats them where they are the JSON text of an object. Many servers parse it.
    pub(crate) fn to_object_text(&self) -> Cow<'_, str> {
        let (Self::Json(text) | Self::Text(text)) = self;
        let is_object = text.trim_ascii_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok();
        if is_object { text.into() } else { json!({ "INVALID_JSON": text }).to_string().into() }
    }

    /// Returns true if the text ends before the JSON does.
    pub(crate) fn is_cut(&self) -> bool {
        let Self::Json(text) = self else { return false };
        let Err(error) = serde_json::from_str::<IgnoredAny>(text) else { return false };
        // A number that ends after its sign, its point or its `e` is reported as an invalid one.
        let is_in_number = text.ends_with(['-', '+', '.', 'e', 'E']) && {
            let continued = serde_json::from_str::<IgnoredAny>(&format!("{text}0"));
            continued.err().is_none_or(|error| error.is_eof())
        };
        error.is_eof() || is_in_number
    }
}

/// A call as a provider writes it, before its name is resolved.
#[derive(Clone, Debug)]
pub(crate) struct WrittenCall<'r> {
    pub(crate) id: Option<&'r str>,
    pub(crate) namespace: Option<&'r str>,
    pub(crate) name: &'r str,
    pub(crate) arguments: CallArguments,
    pub(crate) form: CallForm,
    pub(crate) caller: Option<&'r Value>,
    /// The characters besides letters and digits that the API accepts in a name.
    pub(crate) name_characters: &'static str,
}

impl<'r> WrittenCall<'r> {
    pub(crate) fn new(id: Option<&'r str>, name: &'r str, arguments: CallArguments) -> Self {
        Self { id, namespace: None, name, arguments, form: CallForm::Function, caller: None, name_characters: "_-" }
    }

    /// Adds who made the call, if it is a program.
    pub(crate) fn with_caller(self, json: &'r Value) -> Self {
        let caller = json.get("caller").filter(|caller| caller.is_object() && caller["type"] != "direct");
        Self { caller, ..self }
    }

    /// Resolves the name.
    pub(crate) fn resolve(self, id: String, has_id: bool, names: &ExportedNames) -> ToolCall {
        let exported = find_name(names, self.namespace, self.name);
        let sent = |name: &str| wire_name(name, self.name_characters).into_owned();
        let namespace = self.namespace.filter(|namespace| !namespace.is_empty());
        ToolCall {
            sent_name: exported.map_or_else(|| sent(self.name), |exported| exported.name().to_owned()),
            sent_namespace: namespace.map(|name| if exported.is_some() { name.to_owned() } else { sent(name) }),
            id,
            namespace: self.namespace.map(str::to_owned),
            name: self.name.to_owned(),
            tool: exported.map(|name| name.id().clone()),
            arguments: self.arguments,
            is_strict: exported.is_some_and(ExportedName::is_strict),
            has_id,
            form: self.form,
            caller: self.caller.cloned(),
        }
    }
}

/// The maximum length of a name in a request.
const MAX_NAME_LEN: usize = 64;

/// Returns what APIs accept of a name that no tool has: letters, digits and `others`, with a letter or `_` at the start.
fn wire_name<'n>(name: &'n str, others: &str) -> Cow<'n, str> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
    if name.is_empty() {
        return "unknown".into();
    }
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well && name.len() <= MAX_NAME_LEN && name.chars().all(is_valid) {
        return name.into();
    }
    let name = name.chars().map(|c| if is_valid(c) { c } else { '_' });
    let prefix = if starts_well { "" } else { "_" };
    prefix.chars().chain(name).take(MAX_NAME_LEN).collect()
}

/// Prefixes that models add to names, as they see them in their prompt.
const PREFIXES: [&str; 2] = ["functions.", "default_api:"];

/// Returns the tool that a name in a reply refers to. Similar names are not considered.
pub(crate) fn find_name<'n>(names: &'n ExportedNames, namespace: Option<&str>, name: &str) -> Option<&'n ExportedName> {
    let namespace = namespace.filter(|namespace| !namespace.is_empty());
    // Responses repeats the name of a deferred function without a namespace as its namespace.
    let alone = || namespace.filter(|namespace| *namespace == name).and_then(|_| names.get(None, name));
    let bare = || PREFIXES.iter().find_map(|prefix| names.get(namespace, name.strip_prefix(prefix)?));
    names.get(namespace, name).or_else(alone).or_else(bare)
}
