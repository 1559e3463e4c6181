//! What the model replies, and the results that it must read, independently of an API.

use serde_json::Value;

/// A reply of the model.
pub(crate) struct Turn {
    pub(crate) text: &'static str,
    pub(crate) calls: Vec<Call>,
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
        Self { text, calls: Vec::new() }
    }

    pub(crate) fn calls(calls: impl IntoIterator<Item = Call>) -> Self {
        Self { text: "", calls: calls.into_iter().collect() }
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
