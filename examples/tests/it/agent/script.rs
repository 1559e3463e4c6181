//! What the model replies, and the results that it must read, independently of an API.

use serde_json::Value;

/// A reply of the model.
pub(crate) struct Turn {
    pub(crate) text: &'static str,
    pub(crate) calls: Vec<Call>,
    /// The reason why it stopped, in the words of the provider, if it is not the usual one.
    pub(crate) stop_reason: Option<&'static str>,
    /// True if the next request does not repeat it.
    pub(crate) is_dropped: bool,
}

/// A call, with its result.
pub(crate) struct Call {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) arguments: Value,
    pub(crate) result: Result<Value, String>,
}

impl Turn {
    pub(crate) fn answer(text: &'static str) -> Self {
        Self { text, calls: Vec::new(), stop_reason: None, is_dropped: false }
    }

    pub(crate) fn calls(calls: impl IntoIterator<Item = Call>) -> Self {
        Self { calls: calls.into_iter().collect(), ..Self::answer("") }
    }

    pub(crate) fn stops(self, reason: &'static str) -> Self {
        Self { stop_reason: Some(reason), ..self }
    }

    pub(crate) fn dropped(self) -> Self {
        Self { is_dropped: true, ..self }
    }

    pub(crate) fn text(self, text: &'static str) -> Self {
        Self { text, ..self }
    }
}

impl Call {
    pub(crate) fn new(id: &'static str, name: &'static str, arguments: Value) -> Self {
        Self { id, name, arguments, result: Ok(Value::Null) }
    }

    pub(crate) fn returns(self, value: impl Into<Value>) -> Self {
        Self { result: Ok(value.into()), ..self }
    }

    pub(crate) fn fails(self, message: &str) -> Self {
        Self { result: Err(message.to_owned()), ..self }
    }

    /// The text of the result, for APIs without a flag for errors.
    pub(crate) fn text(&self) -> String {
        match &self.result {
            Ok(value) => value.to_string(),
            Err(message) => format!("error: {message}"),
        }
    }
}
