//! The root, which is an object for everybody and no choice for most.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Keywords, Lowering};
use crate::adapter::loss::{Effect, Side};
use crate::schema::child;

impl Lowering<'_> {
    pub(super) fn root(&mut self, schema: Value) -> Value {
        let mut keywords = match schema {
            Value::Object(keywords) => keywords,
            other => return self.schema(other, ""),
        };
        if keywords.remove("$schema").is_some() {
            self.lose("", "$schema", Effect::Untold, "is not said; the target reads one draft");
        }
        let definitions = ["$defs", "definitions"].map(|container| (container, keywords.remove(container)));
        if self.side == Side::Input {
            self.say_one_object(&mut keywords);
        }
        if self.side == Side::Input && self.dialect.described_arguments {
            self.say_what_arguments_are(&mut keywords);
        }
        let mut keywords = self.keywords(keywords, "");
        for (container, definitions) in definitions {
            self.keep_definitions(&mut keywords, container, definitions);
        }
        if self.side == Side::Input {
            let object = if self.dialect.upper_case_types { "OBJECT" } else { "object" };
            keywords.insert("type".to_owned(), json!(object));
            // OpenAI refuses an object without them.
            keywords.entry("properties").or_insert_with(|| json!({}));
        }
        keywords.into()
    }

    /// What leads back to itself stays a definition, where the dialect follows references.
    fn keep_definitions(&mut self, keywords: &mut Keywords, container: &str, definitions: Option<Value>) {
        let Some(Value::Object(definitions)) = definitions else {
            return;
        };
        if definitions.is_empty() || !(self.dialect.recursion && self.dialect.reads("$ref")) {
            return;
        }
        let at = child("", container);
        let lowered: Map<String, Value> = definitions
            .into_iter()
            .map(|(name, schema)| {
                let lowered = self.schema(schema, &child(&at, &name));
                (name, lowered)
            })
            .collect();
        keywords.insert(container.to_owned(), lowered.into());
    }

    /// A choice between objects as one object that has what any of them has.
    fn say_one_object(&mut self, keywords: &mut Keywords) {
        if self.dialect.root_choice {
            return;
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            let Some(Value::Array(parts)) = keywords.remove(keyword) else {
                continue;
            };
            let joins = keyword == "allOf";
            let objects: Vec<Keywords> = parts
                .into_iter()
                .filter_map(|part| match part {
                    Value::Object(part) => Some(part),
                    _ => None,
                })
                .collect();
            let reason = match joins {
                true => "at the root is said as one object",
                false => "at the root is said as one object; which properties go together is not said",
            };
            self.lose("", keyword, Effect::Widened, reason);
            put_together(keywords, &objects, joins);
        }
    }

    fn say_what_arguments_are(&mut self, keywords: &mut Keywords) {
        let Some(Value::Object(properties)) = keywords.get_mut("properties") else {
            return;
        };
        let mut undescribed = Vec::new();
        for (name, schema) in properties {
            if schema.is_boolean() {
                *schema = if *schema == true { json!({}) } else { json!({ "not": {} }) };
            }
            let Value::Object(argument) = schema else {
                continue;
            };
            if argument.get("description").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()) {
                let said = argument.get("title").and_then(Value::as_str).unwrap_or(name).to_owned();
                argument.insert("description".to_owned(), json!(said));
                undescribed.push(name.clone());
            }
        }
        for name in undescribed {
            let at = child("/properties", &name);
            self.lose(&at, "description", Effect::Untold, "is missing; the argument's name stands in its place");
        }
    }
}

fn put_together(keywords: &mut Keywords, objects: &[Keywords], joins: bool) {
    let mut schemas: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut required: Option<Vec<Value>> = None;
    for object in objects {
        for (name, schema) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let there = schemas.entry(name.clone()).or_default();
            if !there.contains(schema) {
                there.push(schema.clone());
            }
        }
        let these = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        required = Some(match (required, joins) {
            (None, _) => these,
            (Some(those), true) => those.into_iter().chain(these).collect(),
            (Some(those), false) => those.into_iter().filter(|name| these.contains(name)).collect(),
        });
    }
    let is_closed = |object: &Keywords| object.get("additionalProperties") == Some(&Value::Bool(false));
    let are_closed = !objects.is_empty() && objects.iter().all(is_closed) && !joins;
    let properties = keywords.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        for (name, mut schemas) in schemas {
            let schema = if schemas.len() == 1 { schemas.remove(0) } else { either(schemas) };
            properties.entry(name).or_insert(schema);
        }
    }
    if let Value::Array(there) = keywords.entry("required").or_insert_with(|| json!([])) {
        for name in required.unwrap_or_default() {
            if !there.contains(&name) {
                there.push(name);
            }
        }
    }
    if keywords.get("unevaluatedProperties") == Some(&Value::Bool(false)) || are_closed {
        keywords.remove("unevaluatedProperties");
        keywords.insert("additionalProperties".to_owned(), json!(false));
    }
}

/// Constants as one list of them, anything else as a choice.
fn either(schemas: Vec<Value>) -> Value {
    let constants: Option<Vec<Value>> = schemas.iter().map(|schema| schema.get("const").cloned()).collect();
    match constants {
        Some(constants) => json!({ "enum": constants }),
        None => json!({ "anyOf": schemas }),
    }
}
