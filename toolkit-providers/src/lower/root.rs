//! The root, which has to be an object in every dialect and not a choice in most.

use serde_json::{Map, Value, json};

use super::lowering::{Keywords, Lowering};
use super::merge_objects::merge_objects;
use super::reference::no_arguments;
use crate::dialect::Dialect;
use crate::loss::{Effect, Side};
use toolkit_schema::child;

/// Returns true if the lowered root has the same meaning at the root and where it is referenced.
pub(super) fn keeps_root(root: &Keywords, dialect: &Dialect, side: Side) -> bool {
    let chooses = ["anyOf", "oneOf", "allOf", "const", "enum", "not"].iter().any(|keyword| root.contains_key(*keyword));
    side != Side::Input || (root.get("type").is_some_and(|name| name == "object") && (dialect.root_choice || !chooses))
}

impl Lowering<'_> {
    pub(super) fn root(&mut self, schema: Value) -> Value {
        let mut keywords = match schema {
            Value::Object(keywords) => keywords,
            other => return self.schema(other, "").unwrap_or_else(|| self.reject_all()),
        };
        if keywords.remove("$schema").is_some() {
            self.report("", "$schema", Effect::MetadataOnly, "is removed; the dialect supports a single draft");
        }
        let definitions = ["$defs", "definitions"].map(|container| (container, keywords.remove(container)));
        if self.side == Side::Input {
            if !set_object_type(&mut keywords) {
                return self.reject_all();
            }
            self.lower_root_choice(&mut keywords);
            self.remove_named(&mut keywords);
        }
        if self.side == Side::Input && self.dialect.described_arguments {
            self.describe_arguments(&mut keywords);
        }
        let Some(mut keywords) = self.keywords(keywords, "") else {
            return self.reject_all();
        };
        // What is left of parts that accept nothing.
        let has_choice = ["allOf", "anyOf", "oneOf"].iter().any(|keyword| keywords.contains_key(*keyword));
        if self.side == Side::Input && !self.dialect.root_choice && has_choice {
            return self.reject_all();
        }
        for (container, definitions) in definitions {
            self.keep_definitions(&mut keywords, container, definitions);
        }
        if self.side == Side::Input {
            let object = if self.dialect.upper_case_types { "OBJECT" } else { "object" };
            keywords.insert("type".to_owned(), json!(object));
            // OpenAI rejects an object without `properties`.
            keywords.entry("properties").or_insert_with(|| json!({}));
        }
        keywords.into()
    }

    /// Returns a schema in place of one that accepts no arguments, or none that the dialect can express.
    fn reject_all(&mut self) -> Value {
        let reason = "accepts nothing that can be expressed; it is replaced by an object without properties";
        self.report("", "type", Effect::Narrowed, reason);
        self.report("", "type", Effect::Widened, reason);
        let mut schema = no_arguments(self.dialect.closed);
        if self.dialect.upper_case_types {
            schema["type"] = json!("OBJECT");
        }
        schema
    }

    /// Keeps the definitions of recursive schemas if the dialect supports references.
    fn keep_definitions(&mut self, keywords: &mut Keywords, container: &str, definitions: Option<Value>) {
        let Some(Value::Object(definitions)) = definitions else {
            return;
        };
        if definitions.is_empty() || !self.follows_references() {
            return;
        }
        let at = child("", container);
        let mut lowered = Map::new();
        for (name, schema) in definitions {
            let at = child(&at, &name);
            let schema = self.schema(schema, &at).unwrap_or_else(|| {
                let reason = "accepts nothing, which is not supported; it is replaced by null";
                self.report(&at, "type", Effect::Widened, reason);
                json!({ "type": "null" })
            });
            lowered.insert(name, schema);
        }
        keywords.insert(container.to_owned(), lowered.into());
    }

    /// Merges a choice between objects into a single object with the properties of all of them.
    fn lower_root_choice(&mut self, keywords: &mut Keywords) {
        if self.dialect.root_choice {
            return;
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let Some(Value::Array(parts)) = keywords.remove(keyword) else {
                continue;
            };
            let is_join = keyword == "allOf";
            let parts = if is_join { super::choice::join_all(keywords, parts) } else { parts };
            if is_join && parts.is_empty() {
                continue;
            }
            let reason = match is_join {
                true => "at the root is merged into one object",
                false => "at the root is merged into one object; the combinations of properties are not expressed",
            };
            self.report("", keyword, Effect::Widened, reason);
            if let Some(reason) = merge_objects(keywords, &parts, is_join, self.dialect.closed) {
                self.report("", keyword, Effect::Narrowed, reason);
            }
        }
        // A part of `allOf` may have them, too.
        for keyword in ["const", "enum", "not"] {
            if keywords.contains_key(keyword) {
                self.describe(keywords, keyword);
                keywords.remove(keyword);
                self.report("", keyword, Effect::Widened, "is not supported at the root");
            }
        }
    }

    fn describe_arguments(&mut self, keywords: &mut Keywords) {
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
                let text = argument.get("title").and_then(Value::as_str).unwrap_or(name).to_owned();
                argument.insert("description".to_owned(), json!(text));
                undescribed.push(name.clone());
            }
        }
        for name in undescribed {
            let at = child("/properties", &name);
            self.report(
                &at,
                "description",
                Effect::MetadataOnly,
                "is missing; the title or the name of the argument is used",
            );
        }
    }
}

/// Sets the type to `object`; false if the schema does not allow it.
fn set_object_type(keywords: &mut Keywords) -> bool {
    let allows = match keywords.get("type") {
        None => true,
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(name) => name == "object",
    };
    if allows {
        keywords.insert("type".to_owned(), json!("object"));
    }
    allows
}
