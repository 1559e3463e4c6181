//! Choices whose branch is determined by a tag.
//!
//! To validate a value, the validator visits one branch; to report violations, it visits all of them. For a recursive
//! enum the latter is exponential in the depth of the value. Therefore only the branch of the tag is visited if a value
//! is large.

use std::collections::HashSet;

use serde_json::Value;
#[cfg(feature = "jsonschema")]
use serde_json::{Map, json};

use crate::walk;

/// Returns the key whose constant string distinguishes all branches of a choice, and these strings.
///
/// At least three branches are required, since the validator tries both branches of two.
pub(super) fn tag(branches: &[Value]) -> Option<(&str, Vec<&str>)> {
    let first = branches.first().filter(|_| branches.len() > 2)?;
    let mut keys = first.get("properties")?.as_object()?.keys().map(String::as_str);
    keys.find_map(|key| {
        let texts: Vec<&str> = branches.iter().map(|branch| constant(branch, key)).collect::<Option<_>>()?;
        let mut seen = HashSet::new();
        texts.iter().all(|text| seen.insert(*text)).then_some((key, texts))
    })
}

fn constant<'s>(branch: &'s Value, key: &str) -> Option<&'s str> {
    let property = branch.get("properties")?.get(key)?;
    let only = property.get("const").or_else(|| match property.get("enum")?.as_array()?.as_slice() {
        [only] => Some(only),
        _ => None,
    })?;
    only.as_str().filter(|_| walk::requires(branch, key))
}

/// Returns the schema with choices rewritten by their tags, or `None` if a reference points into one of them.
#[cfg(feature = "jsonschema")]
pub(crate) fn by_discriminator(schema: &Value) -> Option<Value> {
    let mut schema = schema.clone();
    rewrite(&mut schema)?;
    Some(schema)
}

#[cfg(feature = "jsonschema")]
fn rewrite(schema: &mut Value) -> Option<()> {
    let Value::Object(keywords) = schema else {
        return Some(());
    };
    let mut is_sound = true;
    walk::each_mut(keywords, |_, sub| is_sound &= rewrite(sub).is_some());
    if !is_sound || keywords.get("$ref").and_then(Value::as_str).is_some_and(walk::leads_into_a_choice) {
        return None;
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = keywords.get(keyword)
            && let Some(conditions) = conditions_on_tag(branches)
            && let Value::Array(parts) = keywords.entry("allOf").or_insert_with(|| json!([]))
        {
            parts.extend(conditions);
            keywords.shift_remove(keyword);
        }
    }
    Some(())
}

#[cfg(feature = "jsonschema")]
fn conditions_on_tag(branches: &[Value]) -> Option<Vec<Value>> {
    let (key, texts) = tag(branches)?;
    // A value that is not an object may match several branches.
    branches.iter().all(|branch| branch.get("type").is_some_and(|ty| ty == "object")).then_some(())?;
    let has = |rule: Value| json!({ "type": "object", "required": [key], "properties": Map::from_iter([(key.to_owned(), rule)]) });
    let any = has(json!({ "enum": texts }));
    let each =
        texts.iter().zip(branches).map(|(text, branch)| json!({ "if": has(json!({ "const": text })), "then": branch }));
    Some(std::iter::once(any).chain(each).collect())
}
