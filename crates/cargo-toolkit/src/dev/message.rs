//! Messages of MCP as lines, which are changed in place, so that everything else passes as it came.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The notifications that a list has changed, each with the field by which a client asks for it.
pub(super) const CHANGES: [(&str, &str); 3] = [
    ("toolsListChanged", "notifications/tools/list_changed"),
    ("promptsListChanged", "notifications/prompts/list_changed"),
    ("resourcesListChanged", "notifications/resources/list_changed"),
];
/// The field of a notification with the id of the request that asked for it.
pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

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

/// Returns the notifications that the lists may have changed: all of them to a session, and to a request
/// `subscriptions/listen` those that it asks for.
pub(super) fn list_changes(listen: Option<&Fields<'_>>) -> Vec<String> {
    let params = listen.map(|request| object(request, "params")).unwrap_or_default();
    let wanted = object(&params, "notifications");
    let id = listen.and_then(|request| request.get("id"));
    let meta = id.map_or(json!({}), |id| json!({ "_meta": { SUBSCRIPTION: id } }));
    let is_wanted = |field: &str| listen.is_none() || wanted.get(field).is_some_and(|wanted| wanted.get() == "true");
    let changes = CHANGES.iter().filter(|(field, _)| is_wanted(field));
    changes.map(|(_, method)| json!({ "jsonrpc": "2.0", "method": method, "params": meta }).to_string()).collect()
}
