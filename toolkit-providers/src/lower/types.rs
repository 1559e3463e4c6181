//! Types: lists of types, and schemas without a type.

use serde_json::{Value, json};

use super::disjoint::same;
use super::lowering::{Keywords, Lowering};
use crate::loss::Effect;
use toolkit_schema::walk::{self, type_of};

impl Lowering<'_> {
    /// Lowers `type`; `None` if no value is left.
    pub(super) fn lower_types(&mut self, keywords: &mut Keywords, at: &str) -> Option<()> {
        if !keywords.contains_key("type") {
            self.lower_implied_type(keywords, at);
        }
        if self.dialect.type_lists {
            return Some(());
        }
        let Some(Value::Array(names)) = keywords.get("type") else {
            return Some(());
        };
        let mut names: Vec<String> = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        if let Some(values) = values(keywords) {
            names.retain(|name| values.iter().any(|value| has_type(value, name)));
        }
        let kinds: Vec<&String> = names.iter().filter(|name| *name != "null").collect();
        match kinds[..] {
            [] if names.is_empty() => return None,
            [] => drop(keywords.insert("type".to_owned(), json!("null"))),
            [kind] if names.len() == 1 => drop(keywords.insert("type".to_owned(), json!(kind))),
            [kind] if self.dialect.nullable && !keywords.contains_key("anyOf") => {
                keywords.insert("type".to_owned(), json!(kind));
                keywords.insert("nullable".to_owned(), json!(true));
                if let Some(Value::Array(values)) = keywords.get_mut("enum") {
                    values.retain(|value| !value.is_null());
                }
            }
            _ if keywords.contains_key("anyOf") => {
                keywords.remove("type");
                self.report(at, "type", Effect::Widened, "is not supported beside a choice");
            }
            _ => return self.split(keywords, &names, at),
        }
        Some(())
    }

    /// Replaces a list of types by a choice with a branch for each type.
    fn split(&mut self, keywords: &mut Keywords, names: &[String], at: &str) -> Option<()> {
        let outside: Keywords = take(keywords, walk::is_annotation);
        let values = values(keywords);
        keywords.remove("enum");
        keywords.remove("const");
        let branches = names.iter().map(|name| {
            let about = keywords.iter().filter(|(keyword, _)| keyword.as_str() != "type" && applies_to(keyword, name));
            let mut branch: Keywords = about.map(|(keyword, value)| (keyword.clone(), value.clone())).collect();
            branch.insert("type".to_owned(), json!(name));
            if let Some(values) = &values
                && name != "null"
            {
                let values: Vec<Value> = values.iter().filter(|value| has_type(value, name)).cloned().collect();
                branch.insert("enum".to_owned(), values.into());
            }
            Value::Object(branch)
        });
        let branches: Vec<Value> = branches.collect();
        let branches: Vec<Value> = branches.into_iter().filter_map(|branch| self.schema(branch, at)).collect();
        *keywords = outside;
        if branches.is_empty() {
            return None;
        }
        keywords.insert("anyOf".to_owned(), branches.into());
        Some(())
    }

    /// Adds a missing type, from the enum or else from the other keywords.
    fn lower_implied_type(&mut self, keywords: &mut Keywords, at: &str) {
        if keywords.keys().any(|keyword| matches!(keyword.as_str(), "anyOf" | "oneOf" | "allOf")) {
            return;
        }
        if let Some(values) = values(keywords) {
            let mut names: Vec<&str> = values.iter().map(type_of).collect();
            names.sort_unstable();
            names.dedup();
            if names.is_empty() {
                return;
            }
            let names = if let [name] = names[..] { json!(name) } else { json!(names) };
            keywords.insert("type".to_owned(), names);
            return;
        }
        if self.dialect.untyped {
            return;
        }
        // The keywords do not exclude other types, so that this narrows the schema.
        let about = ["object", "array", "string", "number"];
        let named = about
            .into_iter()
            .find(|name| keywords.keys().any(|keyword| !applies_to_all_types(keyword) && applies_to(keyword, name)));
        let (name, reason) = match named {
            Some(name) => (name, "is missing, but required; values of other types cannot be sent"),
            None => ("string", "is missing, but required; only strings can be sent"),
        };
        keywords.insert("type".to_owned(), json!(name));
        self.report(at, "type", Effect::Narrowed, reason);
    }
}

/// Returns the values of `enum` or `const`.
pub(super) fn values(keywords: &Keywords) -> Option<Vec<Value>> {
    match (keywords.get("enum"), keywords.get("const")) {
        (Some(Value::Array(values)), None) => Some(values.clone()),
        (Some(Value::Array(values)), Some(constant)) => {
            Some(values.iter().filter(|value| same(value, constant)).cloned().collect())
        }
        (_, Some(constant)) => Some(vec![constant.clone()]),
        (_, None) => None,
    }
}

pub(super) fn take(keywords: &mut Keywords, wanted: impl Fn(&str) -> bool) -> Keywords {
    let (taken, rest) = std::mem::take(keywords).into_iter().partition(|(keyword, _)| wanted(keyword));
    *keywords = rest;
    taken
}

/// Returns true if a keyword restricts values of a type.
fn applies_to(keyword: &str, name: &str) -> bool {
    match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            matches!(name, "integer" | "number")
        }
        "format" => !matches!(name, "null" | "boolean"),
        "minLength" | "maxLength" | "pattern" | "contentEncoding" | "contentMediaType" | "contentSchema" => {
            name == "string"
        }
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains"
        | "maxContains" | "unevaluatedItems" | "additionalItems" => name == "array",
        keyword if super::closed::constrains_object(keyword) => name == "object",
        _ => true,
    }
}

/// Returns true if a keyword restricts values of this type only.
pub(super) fn applies_only_to(keyword: &str, name: &str) -> bool {
    applies_to(keyword, name) && !applies_to_all_types(keyword)
}

/// Returns true if a keyword neither declares properties nor contains schemas that may.
pub(super) fn ignores_properties(keyword: &str) -> bool {
    applies_only_to(keyword, "string")
        || applies_only_to(keyword, "number")
        || applies_only_to(keyword, "array")
        || matches!(keyword, "type" | "enum" | "const" | "format" | "not" | "required")
        || matches!(keyword, "minProperties" | "maxProperties" | "propertyNames" | "dependentRequired")
}

fn applies_to_all_types(keyword: &str) -> bool {
    ["string", "array", "object", "number"].into_iter().all(|name| applies_to(keyword, name))
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        name => type_of(value) == name,
    }
}
