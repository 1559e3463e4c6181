//! The forms of `command` in the files of hosts: a program, a list of the program and its arguments (opencode), or an object
//! with `path`, `args` and `env` (Zed).

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Returns the keys of a server with the program in `command`, its arguments in `args`, and the variables of Zed in `env`.
pub(super) fn flattened<'f>(fields: &'f Map<String, Value>, wrong: &mut Vec<String>) -> Cow<'f, Map<String, Value>> {
    let parts: Vec<(&str, Value)> = match fields.get("command") {
        Some(Value::Array(words)) => {
            let Some((program, words)) = words.split_first() else {
                wrong.push("`command` must not be empty".to_owned());
                return Cow::Borrowed(fields);
            };
            let args = match fields.get("args") {
                None | Some(Value::Null) => words.into(),
                Some(Value::Array(more)) => words.iter().chain(more).cloned().collect(),
                Some(other) => other.clone(),
            };
            vec![("command", program.clone()), ("args", args)]
        }
        Some(Value::Object(command)) if command.contains_key("path") => {
            let name = |key: &'f str| if key == "path" { "command" } else { key };
            let twice = command.keys().filter(|key| *key != "path" && fields.contains_key(*key));
            wrong.extend(twice.map(|key| format!("`command.{key}` and `{key}` exclude each other")));
            command.iter().map(|(key, value)| (name(key), value.clone())).collect()
        }
        _ => return Cow::Borrowed(fields),
    };
    let mut flattened = fields.clone();
    flattened.extend(parts.into_iter().map(|(key, value)| (key.to_owned(), value)));
    Cow::Owned(flattened)
}
