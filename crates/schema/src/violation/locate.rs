//! Resolution of an evaluation path to the schemas that it passes through.

use serde_json::Value;

use crate::pointer::tokens;
use crate::walk;

/// Returns the schema nodes along an evaluation path, starting with the root. Follows `$ref`.
pub(super) fn nodes<'s>(root: &'s Value, evaluation_path: &str) -> Vec<&'s Value> {
    let mut passed = vec![root];
    follow_path(root, evaluation_path, |_, node| passed.extend(node));
    passed
}

/// Returns the schema that contains the keyword at the end of an evaluation path.
pub(super) fn holder<'s>(root: &'s Value, evaluation_path: &str) -> Option<&'s Value> {
    let (path, _) = evaluation_path.rsplit_once('/')?;
    let mut holder = Some(root);
    follow_path(root, path, |_, node| holder = node);
    holder
}

/// Calls `visit` with each token of an evaluation path and its schema node, or `None` where the path does not resolve.
fn follow_path<'s>(root: &'s Value, evaluation_path: &str, mut visit: impl FnMut(&str, Option<&'s Value>)) {
    let mut node = Some(root);
    for token in tokens(evaluation_path) {
        node = match (node, &*token) {
            (Some(Value::Object(object)), "$ref") => {
                object.get("$ref").and_then(Value::as_str).and_then(|reference| target(root, reference))
            }
            (Some(Value::Object(object)), key) => object.get(key),
            (Some(Value::Array(array)), index) => index.parse().ok().and_then(|idx: usize| array.get(idx)),
            _ => None,
        };
        visit(&token, node);
    }
}

/// Returns the schema that a reference within the document points to.
pub(super) fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    walk::resolve(root, reference).or_else(|| walk::anchored(root, reference.strip_prefix('#')?))
}

/// Follows `$ref` to the schema it refers to.
pub(super) fn follow_refs<'s>(root: &'s Value, mut node: &'s Value) -> &'s Value {
    for _ in 0..MAX_DEPTH {
        let reference = node.get("$ref").and_then(Value::as_str);
        match reference.and_then(|reference| target(root, reference)) {
            Some(target) => node = target,
            None => break,
        }
    }
    node
}

/// Returns true if the value at `pointer`, rejected at `evaluation_path`, is an optional property of its object.
pub(super) fn is_optional(root: &Value, evaluation_path: &str, pointer: &str) -> bool {
    let name = tokens(pointer).next_back();
    let mut here = Some(root);
    // The object that declares the value as a property, while only references and choices follow.
    let mut declared: Option<&Value> = None;
    let mut declares: Option<&Value> = None;
    let mut stays = true;
    follow_path(root, evaluation_path, |token, node| {
        // The last token is the keyword that rejects; none of the tokens below is such a keyword.
        if !stays {
            declared = None;
        }
        let is_declaration = declares.is_some() && name.as_deref() == Some(token);
        if is_declaration {
            declared = declares;
        }
        declares = here.filter(|_| token == "properties");
        stays = is_declaration || is_in_place(token);
        here = node;
    });
    declared.is_some_and(|object| !name.is_some_and(|name| walk::requires(object, &name)))
}

/// Returns true if a value rejected at `evaluation_path` must not be repeated, because a schema along the path, or
/// inside the one that rejects, is `writeOnly`.
pub(super) fn is_secret(root: &Value, evaluation_path: &str) -> bool {
    let mut last_object = root;
    let mut is_secret = is_write_only(root);
    follow_path(root, evaluation_path, |_, node| {
        if let Some(node) = node.filter(|node| node.is_object()) {
            is_secret |= is_write_only(node);
            last_object = node;
        }
    });
    is_secret || holds_secret(root, last_object)
}

/// Returns true if a token leads to another schema of the same value.
fn is_in_place(token: &str) -> bool {
    matches!(token, "$ref" | "anyOf" | "oneOf" | "allOf") || token.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_write_only(node: &Value) -> bool {
    node.get("writeOnly") == Some(&Value::Bool(true))
}

/// The maximum depth of the search for secrets. Real schemas are far below it, but a schema may be hostile.
const MAX_DEPTH: usize = 32;

/// Returns true if a schema, or one that it refers to, is `writeOnly`.
pub(crate) fn holds_secret(root: &Value, node: &Value) -> bool {
    fn search<'s>(root: &'s Value, node: &'s Value, seen: &mut Vec<&'s str>, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return true;
        }
        match node {
            Value::Object(object) => {
                let target = object.get("$ref").and_then(Value::as_str).filter(|target| !seen.contains(target));
                let target = target.and_then(|reference| {
                    seen.push(reference);
                    self::target(root, reference)
                });
                is_write_only(node)
                    || target.is_some_and(|target| search(root, target, seen, depth + 1))
                    || object.values().any(|value| search(root, value, seen, depth + 1))
            }
            Value::Array(array) => array.iter().any(|value| search(root, value, seen, depth + 1)),
            _ => false,
        }
    }
    search(root, node, &mut Vec::new(), 0)
}

/// The maximum number of schemas that are read for the keys of one object, since a schema may be hostile.
const MAX_SCHEMAS: usize = 256;

/// The keys that an object may have.
#[derive(Debug, Default)]
pub(super) struct Keys<'s> {
    pub(super) names: Vec<&'s str>,
    pub(super) patterns: Vec<&'s str>,
}

impl<'s> Keys<'s> {
    /// Returns the keys that `holder` declares. If `sees_all` is set, includes those of every schema that applies to
    /// the same value.
    ///
    /// `additionalProperties` considers only adjacent keywords, `unevaluatedProperties` considers all of these schemas.
    pub(super) fn declared_in(root: &'s Value, holder: &'s Value, sees_all: bool) -> Self {
        let mut keys = Self::default();
        let mut seen: Vec<*const Value> = Vec::new();
        let mut pending = vec![holder];
        while let Some(schema) = pending.pop() {
            let Value::Object(keywords) = schema else {
                continue;
            };
            if seen.len() == MAX_SCHEMAS || seen.contains(&std::ptr::from_ref(schema)) {
                continue;
            }
            seen.push(schema);
            add(&mut keys.names, keywords.get("properties"));
            add(&mut keys.patterns, keywords.get("patternProperties"));
            if !sees_all {
                break;
            }
            let reference = keywords.get("$ref").and_then(Value::as_str);
            pending.extend(reference.and_then(|reference| target(root, reference)));
            let before = pending.len();
            walk::each(keywords, |keyword, sub| {
                if matches!(keyword, "allOf" | "anyOf" | "oneOf" | "if" | "then" | "else" | "dependentSchemas") {
                    pending.push(sub);
                }
            });
            // Reversed, so that the first subschema is popped first.
            pending[before..].reverse();
        }
        keys
    }
}

fn add<'s>(to: &mut Vec<&'s str>, named: Option<&'s Value>) {
    let Some(Value::Object(named)) = named else { return };
    to.reserve(named.len());
    // The names of one schema differ.
    let before = to.len();
    for name in named.keys() {
        if !to[..before].contains(&name.as_str()) {
            to.push(name);
        }
    }
}
