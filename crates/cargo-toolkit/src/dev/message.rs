//! Messages of MCP as lines, which are changed in place, so that everything else passes as it came.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The fields of an object, each as it is written.
pub(super) type Fields<'l> = BTreeMap<String, &'l RawValue>;

/// Returns the fields of an object, or `None` for another value.
pub(super) fn fields(text: &str) -> Option<Fields<'_>> {
    serde_json::from_str(text).ok()
}

/// Returns the fields of an object in a field, which are none if it is absent or another value.
pub(super) fn object<'l>(fields: &Fields<'l>, name: &str) -> Fields<'l> {
    fields.get(name).and_then(|value| self::fields(value.get())).unwrap_or_default()
}

/// Returns the text in a field.
pub(super) fn text(fields: &Fields<'_>, name: &str) -> Option<String> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}

/// Returns an id as it is written.
pub(super) fn id(fields: &Fields<'_>, name: &str) -> Option<String> {
    fields.get(name).map(|id| id.get().to_owned())
}

/// Replaces a value in a line, of which it is a part.
pub(super) fn replace(line: &str, value: &RawValue, text: &str) -> String {
    let start = value.get().as_ptr().addr() - line.as_ptr().addr();
    format!("{}{text}{}", &line[..start], &line[start + value.get().len()..])
}

/// Appends an item to an array in a line, of which it is a part. Another value remains.
pub(super) fn append(line: &str, array: &RawValue, item: &Value) -> String {
    match array.get().strip_prefix('[').and_then(|items| items.strip_suffix(']')) {
        Some(items) if items.trim().is_empty() => replace(line, array, &format!("[{item}]")),
        Some(items) => replace(line, array, &format!("[{items},{item}]")),
        None => line.to_owned(),
    }
}

/// Returns the response to a request with the id `id`.
pub(super) fn response(id: &str, result: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Returns the response to a request that failed.
pub(super) fn error(id: &str, code: i32, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, json!({ "code": code, "message": message }))
}

/// Returns a notification.
pub(super) fn notification(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}
