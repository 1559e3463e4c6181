//! Normalization of schemas: draft 2020-12, with all references to definitions of the root.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::merge::Keywords;
use super::pointer::{child, last_token};
use super::walk;

/// The maximum number of consecutive references that are followed from the root.
const MAX_HOPS: usize = 32;

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

/// A normalized schema.
#[derive(Clone)]
pub struct Normal {
    /// The schema.
    pub schema: Value,
    /// The schema has a nested `$id`. It changes the base of the references below it, so that references cannot be
    /// resolved by their pointers.
    pub is_opaque: bool,
    /// The positions of anchors that references no longer use.
    pub anchors: Vec<(String, &'static str)>,
}

/// Normalizes `schema`.
///
/// References to the root stay `#` if `keeps_root` returns true. Otherwise the root becomes a definition, too, which
/// may be lowered differently.
pub fn normalized(schema: &Value, keeps_root: impl FnOnce(&Keywords) -> bool) -> Normal {
    if has_nested_id(schema, 0) {
        let mut document = schema.clone();
        modernize(&mut document);
        return Normal { schema: document, is_opaque: true, anchors: Vec::new() };
    }
    // References are resolved before anything moves.
    let root = followed_root(schema);
    let keeps_root = root.as_object().is_some_and(keeps_root);
    let mut hoist =
        Hoist { document: schema, keeps_root, names: BTreeMap::new(), taken: BTreeSet::new(), pending: Vec::new() };
    for (container, name) in hoist.definitions() {
        let pointer = child(&child("", container), &name);
        hoist.name_definition(pointer, &name);
    }
    let mut root = hoist.copy(&root);
    let mut definitions = Map::new();
    while let Some((pointer, name)) = hoist.pending.pop() {
        let mut copy = hoist.copy(schema.pointer(&pointer).unwrap_or(&Value::Bool(true)));
        if let Value::Object(copy) = &mut copy {
            copy.retain(|keyword, _| !matches!(keyword.as_str(), "$schema" | "$id"));
        }
        definitions.insert(name, copy);
    }
    if let (Value::Object(root), false) = (&mut root, definitions.is_empty()) {
        root.insert("$defs".to_owned(), definitions.into());
    }
    modernize(&mut root);
    let mut anchors = Vec::new();
    find_anchors(schema, "", &mut anchors);
    Normal { schema: root, is_opaque: false, anchors }
}

fn find_anchors(schema: &Value, at: &str, found: &mut Vec<(String, &'static str)>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    let names = ["$anchor", "$dynamicAnchor"].into_iter().filter(|name| keywords.contains_key(*name));
    found.extend(names.map(|name| (at.to_owned(), name)));
    walk::each_at(keywords, |keyword, token, sub| {
        find_anchors(sub, &token.below(child(at, keyword)), found);
    });
}

fn has_nested_id(schema: &Value, depth: usize) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    let mut found = depth > 0 && keywords.get("$id").is_some_and(Value::is_string);
    walk::each(keywords, |_, sub| found = found || has_nested_id(sub, depth + 1));
    found
}

/// Returns the root with its reference replaced by the target, since the root itself has to be an object schema.
fn followed_root(document: &Value) -> Value {
    let mut root = document.clone();
    for _ in 0..MAX_HOPS {
        let target = root.get("$ref").and_then(Value::as_str).and_then(|reference| target(document, reference));
        let (Some(target), Value::Object(keywords)) = (target.filter(|target| *target != document), &mut root) else {
            break;
        };
        if is_legacy(document) {
            keywords.retain(|keyword, _| belongs_to_root(keyword) || walk::is_annotation(keyword));
        }
        keywords.shift_remove("$ref");
        let is_alone = keywords.keys().all(|keyword| belongs_to_root(keyword) || walk::is_annotation(keyword));
        match target {
            Value::Object(target) if is_alone => {
                for (keyword, value) in target {
                    keywords.entry(keyword.clone()).or_insert_with(|| value.clone());
                }
            }
            target => {
                if let Value::Array(parts) = keywords.entry("allOf").or_insert_with(|| json!([])) {
                    parts.push(target.clone());
                }
                break;
            }
        }
    }
    root
}

fn belongs_to_root(keyword: &str) -> bool {
    matches!(keyword, "$defs" | "definitions" | "$schema" | "$id" | "$anchor" | "$dynamicAnchor" | "$vocabulary")
}

fn target<'s>(document: &'s Value, reference: &str) -> Option<&'s Value> {
    walk::resolve(document, reference).or_else(|| walk::anchored(document, reference.strip_prefix('#')?))
}

/// Copies parts of a document and turns the targets of their references into definitions.
struct Hoist<'s> {
    document: &'s Value,
    keeps_root: bool,
    /// The name of the definition for each pointer.
    names: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    pending: Vec<(String, String)>,
}

impl Hoist<'_> {
    fn definitions(&self) -> Vec<(&'static str, String)> {
        let containers = walk::CONTAINERS.into_iter();
        let named = containers.filter_map(|container| Some((container, self.document.get(container)?.as_object()?)));
        named.flat_map(|(container, named)| named.keys().map(move |name| (container, name.clone()))).collect()
    }

    /// Assigns a definition name to the schema at `pointer`.
    fn name_definition(&mut self, pointer: String, base: &str) -> String {
        if let Some(name) = self.names.get(&pointer) {
            return name.clone();
        }
        let numbered = (2..).map(|n| format!("{base}{n}"));
        let mut free = std::iter::once(base.to_owned()).chain(numbered);
        let name = free.find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.taken.insert(name.clone());
        self.names.insert(pointer.clone(), name.clone());
        self.pending.push((pointer, name.clone()));
        name
    }

    /// Copies a schema without its definitions; its references point to the new ones.
    fn copy(&mut self, schema: &Value) -> Value {
        let Value::Object(keywords) = schema else {
            return schema.clone();
        };
        let mut copy = Keywords::new();
        for (keyword, value) in keywords {
            match (keyword.as_str(), value) {
                ("$defs" | "definitions" | "$anchor" | "$dynamicAnchor", _) => {}
                ("$ref", Value::String(reference)) => {
                    copy.insert(keyword.clone(), self.reference(reference).into());
                }
                ("$dynamicRef", Value::String(reference)) => self.add_dynamic(&mut copy, keywords, reference),
                _ => {
                    let value = walk::rebuild(keyword, value, |sub| self.copy(sub));
                    copy.insert(keyword.clone(), value);
                }
            }
        }
        copy.into()
    }

    /// In a document without a nested `$id`, a dynamic reference has the same target as a static one.
    fn add_dynamic(&mut self, copy: &mut Keywords, keywords: &Keywords, reference: &str) {
        let reference = self.reference(reference);
        if !keywords.contains_key("$ref") {
            copy.insert("$ref".to_owned(), reference.into());
        } else if !keywords.contains_key("allOf") {
            copy.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
        } else {
            copy.insert("$dynamicRef".to_owned(), reference.into());
        }
    }

    fn reference(&mut self, reference: &str) -> String {
        let pointer = match walk::pointer(reference) {
            Some(pointer) => {
                Some(pointer).filter(|pointer| self.document.pointer(pointer).is_some_and(walk::is_schema))
            }
            None => reference.strip_prefix('#').and_then(|name| place_of_anchor(self.document, name)),
        };
        let Some(pointer) = pointer else {
            return reference.to_owned();
        };
        if pointer.is_empty() && self.keeps_root {
            return "#".to_owned();
        }
        let base = last_token(&pointer).unwrap_or("root".into()).into_owned();
        walk::reference("$defs", &self.name_definition(pointer, &base))
    }
}

/// Returns the pointer of the schema with an anchor.
fn place_of_anchor(document: &Value, name: &str) -> Option<String> {
    let anchored = walk::anchored(document, name)?;
    let mut pending = vec![(document, String::new())];
    while let Some((value, pointer)) = pending.pop() {
        if std::ptr::eq(value, anchored) {
            return Some(pointer);
        }
        match value {
            Value::Object(object) => {
                pending.extend(object.iter().map(|(key, value)| (value, child(&pointer, key))));
            }
            Value::Array(list) => {
                pending.extend(list.iter().enumerate().map(|(idx, item)| (item, child(&pointer, &idx.to_string()))));
            }
            _ => {}
        }
    }
    None
}

/// Rewrites a document with the `$schema` of draft-07 to draft 2020-12.
fn modernize(document: &mut Value) {
    if is_legacy(document) {
        rewrite(document);
    }
}

/// Returns true if the `$schema` of a document is a draft before 2019-09, which ignores the keywords beside a `$ref`.
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
        keywords.shift_remove(keyword);
    }
    if let Some(anchor) = keywords.get("$id").and_then(Value::as_str).and_then(|id| id.strip_prefix('#')) {
        let anchor = anchor.into();
        keywords.shift_remove("$id");
        keywords.insert("$anchor".to_owned(), anchor);
    }
    let others = keywords.shift_remove("additionalItems");
    if let Some(Value::Array(items)) = keywords.get_mut("items") {
        let items = std::mem::take(items);
        keywords.shift_remove("items");
        keywords.extend(others.map(|others| ("items".to_owned(), others)));
        if !items.is_empty() {
            keywords.insert("prefixItems".to_owned(), items.into());
        }
    }
    if let Some(Value::Object(dependencies)) = keywords.shift_remove("dependencies") {
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
