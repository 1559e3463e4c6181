//! Objects: their properties, which of them are required, and what else they may have.

use serde_json::{Map, Value, json};

use super::{Keywords, Lowering};
use crate::adapter::loss::Effect;
use crate::schema::child;

impl Lowering<'_> {
    pub(super) fn say_objects(&mut self, keywords: &mut Keywords, at: &str) {
        self.say_closed(keywords, at);
        if self.dialect.closed {
            declare_required(keywords);
        }
        if let Some(Value::Object(properties)) = keywords.remove("properties") {
            let at_properties = child(at, "properties");
            let properties: Map<String, Value> = properties
                .into_iter()
                .map(|(name, schema)| {
                    let lowered = self.schema(schema, &child(&at_properties, &name));
                    (name, lowered)
                })
                .collect();
            keywords.insert("properties".to_owned(), properties.into());
        }
        match keywords.remove("additionalProperties") {
            Some(Value::Bool(open)) => drop(keywords.insert("additionalProperties".to_owned(), open.into())),
            Some(others) => {
                let others = self.schema(others, &child(at, "additionalProperties"));
                keywords.insert("additionalProperties".to_owned(), others);
            }
            None => {}
        }
        if self.dialect.all_required {
            require_all(keywords);
        }
    }

    /// Says that an object has no other properties, where the dialect demands it or has a word for it.
    fn say_closed(&mut self, keywords: &mut Keywords, at: &str) {
        if !describes_objects(keywords) {
            return;
        }
        let chooses = ["anyOf", "oneOf", "allOf"].iter().any(|keyword| keywords.contains_key(*keyword));
        if keywords.get("unevaluatedProperties") == Some(&Value::Bool(false)) && !chooses {
            keywords.remove("unevaluatedProperties");
            keywords.insert("additionalProperties".to_owned(), false.into());
        }
        if !self.dialect.closed {
            return;
        }
        let declares = keywords.get("properties").and_then(Value::as_object).is_some_and(|named| !named.is_empty());
        match keywords.insert("additionalProperties".to_owned(), false.into()) {
            Some(Value::Bool(false)) => {}
            None if declares => {
                let reason = "is false here; properties that are not declared can no longer be sent";
                self.lose(at, "additionalProperties", Effect::Untold, reason);
            }
            _ => {
                let reason = "cannot be left open; properties of any name cannot be sent";
                self.lose(at, "additionalProperties", Effect::Narrowed, reason);
            }
        }
    }
}

/// What is required has to be declared, where nothing else may be there.
fn declare_required(keywords: &mut Keywords) {
    let Some(Value::Array(required)) = keywords.get("required") else {
        return;
    };
    let names: Vec<String> = required.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    if let (false, Value::Object(properties)) =
        (names.is_empty(), keywords.entry("properties").or_insert_with(|| json!({})))
    {
        for name in names {
            properties.entry(name).or_insert_with(|| json!({}));
        }
    }
}

fn describes_objects(keywords: &Keywords) -> bool {
    let names_object = match keywords.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => false,
    };
    names_object || keywords.contains_key("properties")
}

/// Makes every property required, and null what stands for one that is absent.
fn require_all(keywords: &mut Keywords) {
    let Some(Value::Object(properties)) = keywords.get_mut("properties") else {
        return;
    };
    let names: Vec<Value> = properties.keys().map(|name| json!(name)).collect();
    let required = match keywords.insert("required".to_owned(), names.into()) {
        Some(Value::Array(required)) => required,
        _ => Vec::new(),
    };
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        let optional = properties.iter_mut().filter(|(name, _)| !required.iter().any(|other| other == name.as_str()));
        optional.for_each(|(_, schema)| allow_null(schema));
    }
}

fn allow_null(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    match keywords.get_mut("type") {
        Some(Value::String(name)) if name == "null" => return,
        Some(kind @ Value::String(_)) => *kind = json!([kind.take(), "null"]),
        Some(Value::Array(names)) => {
            if !names.iter().any(|name| name == "null") {
                names.push(json!("null"));
            }
        }
        _ => {
            if keywords.contains_key("anyOf") && !keywords.contains_key("$ref") {
                push_null(keywords);
                return;
            }
            let described = keywords.remove("description");
            let inner = std::mem::take(keywords);
            keywords.extend(described.map(|text| ("description".to_owned(), text)));
            keywords.insert("anyOf".to_owned(), json!([inner, { "type": "null" }]));
            return;
        }
    }
    if let Some(Value::Array(values)) = keywords.get_mut("enum")
        && !values.iter().any(Value::is_null)
    {
        values.push(Value::Null);
    }
}

fn push_null(keywords: &mut Keywords) {
    let null = json!({ "type": "null" });
    if let Some(Value::Array(branches)) = keywords.get_mut("anyOf")
        && !branches.contains(&null)
    {
        branches.push(null);
    }
}
