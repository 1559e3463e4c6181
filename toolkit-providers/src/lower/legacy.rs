//! Conversion from draft-07 to draft 2020-12.

use serde_json::{Map, Value};

use toolkit_schema::walk;

/// The keywords of later drafts, which draft-07 ignores.
const LATER: [&str; 11] = [
    "prefixItems",
    "unevaluatedProperties",
    "unevaluatedItems",
    "dependentRequired",
    "dependentSchemas",
    "minContains",
    "maxContains",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveRef",
];

/// Rewrites a document with the `$schema` of draft-07 to draft 2020-12.
pub(super) fn modernize(document: &mut Value) {
    if is_legacy(document) {
        rewrite(document);
    }
}

/// Returns true if the `$schema` of a document is a draft before 2019-09.
pub(super) fn is_legacy(document: &Value) -> bool {
    let dialect = document.get("$schema").and_then(Value::as_str).unwrap_or_default();
    dialect.contains("/draft-0")
}

fn rewrite(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if keywords.get("$ref").is_some_and(Value::is_string) {
        // Draft-07 ignores the keywords beside a reference.
        let stays = |keyword: &str| {
            walk::is_annotation(keyword) || matches!(keyword, "$ref" | "$schema" | "$defs" | "definitions")
        };
        keywords.retain(|keyword, _| stays(keyword));
    }
    for keyword in LATER {
        keywords.remove(keyword);
    }
    if let Some(anchor) = keywords.get("$id").and_then(Value::as_str).and_then(|id| id.strip_prefix('#')) {
        let anchor = anchor.into();
        keywords.remove("$id");
        keywords.insert("$anchor".to_owned(), anchor);
    }
    let others = keywords.remove("additionalItems");
    if let Some(Value::Array(items)) = keywords.get_mut("items") {
        let items = std::mem::take(items);
        keywords.remove("items");
        keywords.extend(others.map(|others| ("items".to_owned(), others)));
        if !items.is_empty() {
            keywords.insert("prefixItems".to_owned(), items.into());
        }
    }
    if let Some(Value::Object(dependencies)) = keywords.remove("dependencies") {
        let (schemas, names): (Map<_, _>, Map<_, _>) =
            dependencies.into_iter().partition(|(_, depends)| walk::is_schema(depends));
        for (keyword, depends) in [("dependentSchemas", schemas), ("dependentRequired", names)] {
            if !depends.is_empty() {
                keywords.insert(keyword.to_owned(), depends.into());
            }
        }
    }
    walk::each_mut(keywords, |_, sub| rewrite(sub));
}
