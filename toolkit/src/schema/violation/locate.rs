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

/// The same schema, `$ref` followed.
pub(super) fn followed<'s>(root: &'s Value, mut node: &'s Value) -> &'s Value {
    for _ in 0..MAX_DEPTH {
        let reference = node.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        match reference.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => node = target,
            None => break,
        }
    }
    node
}

/// Whether the value at `pointer`, refused at `evaluation_path`, is a property that its object need not have.
pub(super) fn is_optional(root: &Value, evaluation_path: &str, pointer: &str) -> bool {
    let Some(name) = tokens(pointer).pop() else {
        return false;
    };
    let path = tokens(evaluation_path);
    let passed = nodes(root, evaluation_path);
    let stays = |token: &String| {
        matches!(token.as_str(), "$ref" | "anyOf" | "oneOf" | "allOf")
            || token.bytes().all(|byte| byte.is_ascii_digit())
    };
    let declared = (0..path.len().saturating_sub(1)).rev().find(|&idx| {
        let within = path.get(idx + 2..path.len() - 1).unwrap_or_default();
        path[idx] == "properties" && path[idx + 1] == name && within.iter().all(stays)
    });
    let required = declared.and_then(|idx| passed.get(idx)).map(|object| object.get("required"));
    required.is_some_and(|names| !names.and_then(Value::as_array).is_some_and(|names| names.contains(&name.into())))
}

/// Whether a value refused at this path may not be repeated: a schema on the way there, or inside the one that
/// refuses, is `writeOnly`.
pub(super) fn is_secret(root: &Value, path: &[&Value]) -> bool {
    let write_only = |node: &Value| node.get("writeOnly") == Some(&Value::Bool(true));
    path.iter().any(|node| write_only(node))
        || path.iter().rev().find(|node| node.is_object()).is_some_and(|node| holds_secret(root, node))
}

/// Nobody nests secrets this deep, and a schema may be hostile.
const MAX_DEPTH: usize = 32;

/// Whether a schema, or one that it refers to, says `writeOnly`.
pub(crate) fn holds_secret(root: &Value, node: &Value) -> bool {
    fn search<'s>(root: &'s Value, node: &'s Value, seen: &mut Vec<&'s str>, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return true;
        }
        match node {
            Value::Object(object) => {
                let target = object.get("$ref").and_then(Value::as_str).filter(|target| !seen.contains(target));
                let target = target.and_then(|target| {
                    seen.push(target);
                    root.pointer(target.strip_prefix('#')?)
                });
                object.get("writeOnly") == Some(&Value::Bool(true))
                    || target.is_some_and(|target| search(root, target, seen, depth + 1))
                    || object.values().any(|value| search(root, value, seen, depth + 1))
            }
            Value::Array(array) => array.iter().any(|value| search(root, value, seen, depth + 1)),
            _ => false,
        }
    }
    search(root, node, &mut Vec::new(), 0)
}
