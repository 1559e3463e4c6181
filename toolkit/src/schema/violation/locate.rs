//! From an evaluation path back to the schemas it went through.

use serde_json::Value;

/// The schema nodes that an evaluation path goes through, the root first; `$ref` is followed.
pub(super) fn nodes<'s>(root: &'s Value, evaluation_path: &str) -> Vec<&'s Value> {
    let mut node = root;
    let mut passed = vec![root];
    for token in tokens(evaluation_path) {
        let next = match (node, token.as_str()) {
            (Value::Object(object), "$ref") => object
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| reference.strip_prefix('#'))
                .and_then(|pointer| root.pointer(pointer)),
            (Value::Object(object), key) => object.get(key),
            (Value::Array(array), index) => index.parse().ok().and_then(|idx: usize| array.get(idx)),
            _ => None,
        };
        match next {
            Some(next) => node = next,
            None => break,
        }
        passed.push(node);
    }
    passed
}

/// The tokens of a JSON Pointer, unescaped.
pub(crate) fn tokens(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect()
}

/// `pointer` and one more token.
pub(crate) fn child(pointer: &str, token: &str) -> String {
    format!("{pointer}/{}", token.replace('~', "~0").replace('/', "~1"))
}

/// Whether a value refused at this path may not be repeated: a schema on the way there, or inside the one that
/// refuses, is `writeOnly`.
pub(super) fn is_secret(path: &[&Value]) -> bool {
    let write_only = |node: &Value| node.get("writeOnly") == Some(&Value::Bool(true));
    path.iter().any(|node| write_only(node))
        || path.iter().rev().find(|node| node.is_object()).is_some_and(|node| holds_secret(node, 0))
}

fn holds_secret(node: &Value, depth: usize) -> bool {
    // Nobody nests secrets this deep, and a schema may be hostile.
    if depth > 32 {
        return true;
    }
    match node {
        Value::Object(object) => {
            object.get("writeOnly") == Some(&Value::Bool(true))
                || object.values().any(|value| holds_secret(value, depth + 1))
        }
        Value::Array(array) => array.iter().any(|value| holds_secret(value, depth + 1)),
        _ => false,
    }
}
