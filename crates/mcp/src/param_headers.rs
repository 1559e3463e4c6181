//! Arguments that clients repeat in HTTP headers: `x-mcp-header` (2026-07-28, Streamable HTTP, Custom Headers).

use std::borrow::Cow;
use std::collections::HashMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::RawValue;

use super::json_text::text;

const ANNOTATION: &str = "x-mcp-header";

/// An argument that clients repeat in a header.
#[derive(Clone, Debug)]
pub struct ParamHeader {
    header: HeaderName,
    /// The path of the argument, as property names.
    path: Vec<String>,
    is_integer: bool,
}

impl ParamHeader {
    /// Collects the annotated properties of an input schema.
    ///
    /// # Errors
    ///
    /// Returns an error for an invalid annotation. Clients must reject a tool with such an annotation.
    pub fn collect_from(schema: &Value) -> Result<Vec<Self>, String> {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found)?;
        let n_annotations = count(schema);
        if n_annotations > found.len() {
            return Err(format!("`{ANNOTATION}` must be in a schema that is nested only through `properties`"));
        }
        for (idx, param) in found.iter().enumerate() {
            if found[..idx].iter().any(|other| other.header == param.header) {
                return Err(format!("two properties have the same header `{}`", param.header));
            }
        }
        Ok(found)
    }

    /// Checks that the header equals the argument.
    ///
    /// # Errors
    ///
    /// Returns the reason for which they differ.
    pub fn agrees(&self, headers: &HeaderMap, arguments: Option<&RawValue>) -> Result<(), String> {
        let name = &self.header;
        let sent = headers.get(name).map(|value| decoded(value).ok_or_else(|| format!("`{name}` cannot be decoded")));
        let wanted = arguments.and_then(|arguments| self.find(arguments)).filter(|value| value.get() != "null");
        match (sent.transpose()?, wanted) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(format!("`{name}` is missing, but the argument is present")),
            (Some(_), None) => Err(format!("`{name}` is present, but the argument is missing")),
            (Some(sent), Some(wanted)) => match self.is_same(&sent, wanted) {
                true => Ok(()),
                false => Err(format!("`{name}` does not match the argument")),
            },
        }
    }

    /// Returns the header that repeats the argument in these arguments, or `None` if there is none.
    pub fn of(&self, arguments: &RawValue) -> Option<(HeaderName, HeaderValue)> {
        let value = self.find(arguments)?.get();
        let repeated = match value.as_bytes().first()? {
            b'"' => text(value)?,
            b'{' | b'[' | b'n' => return None,
            _ => value.into(),
        };
        Some((self.header.clone(), encoded(&repeated)?))
    }

    fn find<'a>(&self, arguments: &'a RawValue) -> Option<&'a RawValue> {
        self.path.iter().try_fold(arguments, |value, key| {
            let object: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(value.get()).ok()?;
            object.get(key.as_str()).copied()
        })
    }

    fn is_same(&self, sent: &str, wanted: &RawValue) -> bool {
        if self.is_integer
            && let (Ok(sent), Ok(wanted)) = (sent.parse::<f64>(), wanted.get().parse::<f64>())
        {
            return sent == wanted;
        }
        text(wanted.get()).as_deref().unwrap_or(wanted.get()) == sent
    }
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<ParamHeader>) -> Result<(), String> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(annotation) = property.get(ANNOTATION) {
            let place = path.join("/");
            let header = annotation.as_str().filter(|name| !name.is_empty());
            let header = header.and_then(|name| format!("mcp-param-{name}").parse().ok());
            let header = header.ok_or_else(|| format!("`{ANNOTATION}` of `{place}` is not a valid header name"))?;
            // Clients reject a tool with any other type, including one that also allows `null`.
            let is_integer = match property.get("type").and_then(Value::as_str) {
                Some("integer") => true,
                Some("string" | "boolean") => false,
                _ => {
                    return Err(format!(
                        "`{ANNOTATION}` of `{place}`: the type must be a string, an integer or a boolean that is never `null`; \
                                 use a default value instead of an `Option`"
                    ));
                }
            };
            found.push(ParamHeader { header, path: path.clone(), is_integer });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

/// Counts the annotations anywhere in a schema. A property may have the annotation's name; its value is then a schema.
fn count(schema: &Value) -> usize {
    match schema {
        Value::Object(keywords) => {
            let own =
                usize::from(keywords.get(ANNOTATION).is_some_and(|value| !value.is_object() && !value.is_boolean()));
            own + keywords.values().map(count).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

/// Decodes the value of a header, which may be wrapped as `=?base64?…?=`.
pub fn decoded(value: &HeaderValue) -> Option<Cow<'_, str>> {
    let value = value.to_str().ok()?.trim_matches([' ', '\t']);
    let Some(wrapped) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Some(Cow::Borrowed(value));
    };
    let bytes = data_encoding::BASE64.decode(wrapped.as_bytes()).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// Encodes a text as the value of a header. It is wrapped as `=?base64?…?=` if it is not printable ASCII, begins or ends with
/// a space, or looks wrapped.
///
/// # Examples
///
/// ```
/// use toolkit_mcp::{decoded, encoded};
///
/// assert_eq!(encoded("read file").unwrap(), "read file");
/// let wrapped = encoded("größe").unwrap();
/// assert_eq!(wrapped, "=?base64?Z3LDtsOfZQ==?=");
/// assert_eq!(decoded(&wrapped).as_deref(), Some("größe"));
/// ```
pub fn encoded(text: &str) -> Option<HeaderValue> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && text.trim_matches(' ') == text;
    match is_plain && !(text.starts_with("=?base64?") && text.ends_with("?=")) {
        true => HeaderValue::try_from(text).ok(),
        false => HeaderValue::try_from(format!("=?base64?{}?=", data_encoding::BASE64.encode(text.as_bytes()))).ok(),
    }
}
