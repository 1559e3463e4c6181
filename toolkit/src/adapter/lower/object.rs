//! Objects: their properties, which of them are required, and what else they may have.

use serde_json::{Map, Value, json};

use super::closed::describes_objects;
use super::{Keywords, Lowering};
use crate::adapter::loss::Effect;
use toolkit_schema::child;

impl Lowering<'_> {
    /// Lowers what a schema says of objects; `None` where no value is left.
    pub(super) fn lower_object(&mut self, keywords: &mut Keywords, at: &str) -> Option<()> {
        self.lower_patterns(keywords, at);
        if self.dialect.closed && describes_objects(keywords) && !declare_required(keywords) {
            return self.without(keywords, "object", at);
        }
        self.close(keywords, at);
        if let Some(Value::Object(properties)) = keywords.remove("properties") {
            let Some(properties) = self.lower_properties(keywords, properties, at) else {
                return self.without(keywords, "object", at);
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

    /// Lowers the properties; `None` where one that is required fits nothing.
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
                // What is not declared is refused.
                None if refuses_others => {}
                None => drop(lowered.insert(name, self.anything(&at, "no value fits it, which is not supported"))),
            }
        }
        Some(lowered)
    }

    /// Takes one type from a schema that no value of that type fits; `None` where no type is left.
    pub(super) fn without(&mut self, keywords: &mut Keywords, name: &str, at: &str) -> Option<()> {
        let is_nullable = keywords.get("nullable") == Some(&Value::Bool(true));
        match keywords.get_mut("type") {
            Some(Value::String(other)) if other != name => {}
            Some(only @ Value::String(_)) if self.dialect.nullable && is_nullable => {
                *only = json!("null");
                // The values that are listed no longer hold the null that `nullable` stands for.
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
            None => self.lose(at, "type", Effect::Widened, format!("may be any; that no {name} fits cannot be said")),
        }
        keywords.retain(|keyword, _| !super::types::is_only_about(keyword, name));
        Some(())
    }

    /// A schema for any value, where none can be said for what stood there.
    pub(super) fn anything(&mut self, at: &str, reason: &str) -> Value {
        self.lose(at, "not", Effect::Widened, reason);
        if self.dialect.untyped {
            return json!({});
        }
        self.lose(at, "type", Effect::Narrowed, "is not said, and cannot be left open; only a text can be sent");
        json!({ "type": "string" })
    }
}

/// Declares what is required, where nothing else may be there; false, where that is refused.
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
