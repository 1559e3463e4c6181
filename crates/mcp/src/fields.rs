//! Messages of other programs, read without judging them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::json_text::text;

/// The fields of a message, as texts. Unlike [`Message`](super::Message), it accepts whatever is a JSON object: the last of
/// fields with the same name counts, and `null` counts as absent.
#[derive(Clone, Debug, Default)]
pub struct Fields<'m> {
    /// The field `id`.
    pub id: Option<&'m RawValue>,
    /// The field `method`, if it is a string.
    pub method: Option<Cow<'m, str>>,
    /// The field `params`.
    pub params: Option<&'m RawValue>,
    /// The field `result`. Some programs send `null` beside an error.
    pub result: Option<&'m RawValue>,
    /// The field `error`.
    pub error: Option<&'m RawValue>,
}

impl<'m> Fields<'m> {
    /// Reads the messages of a text: one, several after each other, or batches. The part after the last complete value is
    /// the error.
    ///
    /// # Errors
    ///
    /// Returns the messages before the first part that is not a message.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp::Fields;
    ///
    /// let messages = Fields::read(r#"{"id": 1, "result": {}} [{"method": "ping", "id": 2}]"#).unwrap();
    /// assert_eq!(messages.len(), 2);
    /// assert_eq!(messages[0].result.unwrap().get(), "{}");
    /// assert_eq!(messages[1].method.as_deref(), Some("ping"));
    /// let before = Fields::read(r#"{"id": 1, "result": {}} done."#).unwrap_err();
    /// assert_eq!(before.len(), 1);
    /// ```
    pub fn read(json: &'m str) -> Result<Vec<Self>, Vec<Self>> {
        if let Ok(fields) = Self::of_object(json) {
            return Ok(vec![fields]);
        }
        let mut messages = Vec::new();
        for value in serde_json::Deserializer::from_str(json).into_iter::<&RawValue>() {
            let Ok(value) = value else { return Err(messages) };
            let batch = match value.get().starts_with('[') {
                true => serde_json::from_str::<Vec<&RawValue>>(value.get()).unwrap_or_default(),
                false => vec![value],
            };
            for message in batch {
                match Self::of_object(message.get()) {
                    Ok(fields) => messages.push(fields),
                    Err(_) => return Err(messages),
                }
            }
        }
        Ok(messages)
    }

    fn of_object(json: &'m str) -> serde_json::Result<Self> {
        let mut fields: BTreeMap<Cow<'m, str>, &'m RawValue> = serde_json::from_str(json)?;
        let mut take = |name: &str| fields.remove(name).filter(|value| value.get() != "null");
        Ok(Self {
            id: take("id"),
            method: take("method").and_then(|method| text(method.get())),
            params: take("params"),
            result: take("result"),
            error: take("error"),
        })
    }
}
