//! Rewriting of choices, so that `jsonschema` visits only the branch of a tag: each branch becomes an `if` on the tag
//! with a `then`.

use serde_json::{Map, Value, json};

use super::tag;
use crate::walk;

/// Returns the schema with choices rewritten by their tags, or `None` if a reference points into one of them.
pub(crate) fn by_discriminator(schema: &Value) -> Option<Value> {
    let mut schema = schema.clone();
    rewrite(&mut schema)?;
    Some(schema)
}

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
            keywords.remove(keyword);
        }
    }
    Some(())
}

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
