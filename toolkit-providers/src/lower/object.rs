//! Objects: properties, required properties and additional properties.

use serde_json::{Map, Value, json};

use super::closed::describes_objects;
use super::lowering::{Keywords, Lowering};
use crate::loss::Effect;
use toolkit_schema::child;

impl Lowering<'_> {
    /// Lowers the keywords of objects; `None` if no value is left.
    pub(super) fn lower_object(&mut self, keywords: &mut Keywords, at: &str) -> Option<()> {
        self.lower_patterns(keywords, at);
        if self.dialect.closed && describes_objects(keywords) && !declare_required(keywords) {
            return self.exclude_type(keywords, "object", at);
        }
        self.close(keywords, at);
        if let Some(Value::Object(properties)) = keywords.remove("properties") {
            let Some(properties) = self.lower_properties(keywords, properties, at) else {
                return self.exclude_type(keywords, "object", at);
            };
            keywords.insert("properties".to_owned(), properties.into());
        }
        match keywords.remove("additionalProperties") {
            Some(Value::Bool(open)) => drop(keywords.insert("additionalProperties".to_owned(), open.into())),
            Some(others) => {
                let others = self.schema(others, &child(at, "additionalProperties")).unwrap_or(Value::Bool(false));
                keywords.insert("additionalProperties".to_owned(), others);
            }
            None => {}
        }
        if self.dialect.all_required {
            super::optional::require_all(keywords);
        }
        Some(())
    }

    /// Lowers the properties; `None` if a required one accepts no value.
    fn lower_properties(
        &mut self,
        keywords: &Keywords,
        properties: Map<String, Value>,
        at: &str,
    ) -> Option<Map<String, Value>> {
        let at_properties = child(at, "properties");
        let refuses_others = keywords.get("additionalProperties") == Some(&Value::Bool(false))
            && self.dialect.reads("additionalProperties")
            && !keywords.contains_key("patternProperties");
        let is_required = |name: &str| {
            let required = keywords.get("required").and_then(Value::as_array);
            required.is_some_and(|names| names.iter().any(|required| required == name))
        };
        let mut lowered = Map::new();
        for (name, schema) in properties {
            let at = child(&at_properties, &name);
            match self.schema(schema, &at) {
                Some(schema) => drop(lowered.insert(name, schema)),
                None if is_required(&name) => return None,
                // Undeclared properties are rejected.
                None if refuses_others => {}
                None => drop(lowered.insert(name, self.accept_any(&at, "rejects every value, which is not supported"))),
            }
        }
        Some(lowered)
    }

    /// Removes a type from a schema that accepts no value of it; `None` if no type is left.
    pub(super) fn exclude_type(&mut self, keywords: &mut Keywords, name: &str, at: &str) -> Option<()> {
        let is_nullable = keywords.get("nullable") == Some(&Value::Bool(true));
        match keywords.get_mut("type") {
            Some(Value::String(other)) if other != name => {}
            Some(only @ Value::String(_)) if self.dialect.nullable && is_nullable => {
                *only = json!("null");
                // The enum does not contain the null any longer, which `nullable` expresses.
                keywords.retain(|keyword, _| !matches!(keyword.as_str(), "nullable" | "enum" | "const"));
            }
            Some(Value::Array(names)) if names.iter().any(|other| other != name) => {
                names.retain(|other| other != name);
                if let [only] = &names[..] {
                    let only = only.clone();
                    keywords.insert("type".to_owned(), only);
                }
            }
            Some(_) => return None,
            None => self.report(at, "type", Effect::Widened, format!("cannot exclude {name}; any type is accepted")),
        }
        keywords.retain(|keyword, _| !super::types::applies_only_to(keyword, name));
        Some(())
    }

    /// Returns a schema that accepts any value, in place of one that the dialect cannot express.
    pub(super) fn accept_any(&mut self, at: &str, reason: &str) -> Value {
        self.report(at, "not", Effect::Widened, reason);
        if self.dialect.untyped {
            return json!({});
        }
        self.report(at, "type", Effect::Narrowed, "is missing, but required; only strings can be sent");
        json!({ "type": "string" })
    }
}

/// Declares the required properties of a closed object; false if the object rejects one of them.
fn declare_required(keywords: &mut Keywords) -> bool {
    let Some(Value::Array(required)) = keywords.get("required") else {
        return true;
    };
    let names: Vec<String> = required.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let others = keywords.get("additionalProperties").cloned().unwrap_or_else(|| json!({}));
    if names.is_empty() {
        return true;
    }
    let Value::Object(properties) = keywords.entry("properties").or_insert_with(|| json!({})) else {
        return true;
    };
    for name in names {
        if !properties.contains_key(&name) {
            if others == false {
                return false;
            }
            properties.insert(name, others.clone());
        }
    }
    true
}
