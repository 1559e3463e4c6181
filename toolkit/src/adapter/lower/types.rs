//! Types: lists of them, none at all, and null.

use serde_json::{Value, json};

use super::{Keywords, Lowering};
use crate::adapter::loss::Effect;
use crate::schema::walk::{self, type_of};

impl Lowering<'_> {
    pub(super) fn say_types(&mut self, keywords: &mut Keywords, at: &str) {
        if !keywords.contains_key("type") {
            self.say_implied_type(keywords, at);
        }
        if self.dialect.type_lists {
            return;
        }
        let Some(Value::Array(names)) = keywords.get("type") else {
            return;
        };
        let names: Vec<String> = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let kinds: Vec<&String> = names.iter().filter(|name| *name != "null").collect();
        match kinds[..] {
            [] => drop(keywords.insert("type".to_owned(), json!("null"))),
            [kind] if names.len() == 1 => drop(keywords.insert("type".to_owned(), json!(kind))),
            [kind] if self.dialect.nullable => {
                keywords.insert("type".to_owned(), json!(kind));
                keywords.insert("nullable".to_owned(), json!(true));
                if let Some(Value::Array(values)) = keywords.get_mut("enum") {
                    values.retain(|value| !value.is_null());
                }
            }
            _ if keywords.contains_key("anyOf") => {
                keywords.remove("type");
                self.lose(at, "type", Effect::Widened, "cannot be said beside a choice");
            }
            _ => self.split(keywords, &names, at),
        }
    }

    /// One branch for each type, with what is said of it.
    fn split(&mut self, keywords: &mut Keywords, names: &[String], at: &str) {
        let outside: Keywords = take(keywords, walk::is_annotation);
        let values = keywords.remove("enum").or_else(|| keywords.remove("const").map(|constant| json!([constant])));
        let branches = names.iter().filter_map(|name| {
            let about = keywords.iter().filter(|(keyword, _)| keyword.as_str() != "type" && is_about(keyword, name));
            let mut branch: Keywords = about.map(|(keyword, value)| (keyword.clone(), value.clone())).collect();
            branch.insert("type".to_owned(), json!(name));
            if let Some(Value::Array(values)) = &values {
                let values: Vec<Value> = values.iter().filter(|value| is_of(value, name)).cloned().collect();
                if values.is_empty() {
                    return None;
                }
                if name != "null" {
                    branch.insert("enum".to_owned(), values.into());
                }
            }
            Some(Value::Object(branch))
        });
        let branches: Vec<Value> = branches.collect();
        let branches: Vec<Value> = branches.into_iter().map(|branch| self.schema(branch, at)).collect();
        *keywords = outside;
        keywords.insert("anyOf".to_owned(), branches.into());
    }

    /// What the other keywords only leave open.
    fn say_implied_type(&mut self, keywords: &mut Keywords, at: &str) {
        if keywords.keys().any(|keyword| matches!(keyword.as_str(), "anyOf" | "oneOf" | "allOf")) {
            return;
        }
        let values = keywords.get("enum").cloned().or_else(|| Some(json!([keywords.get("const")?])));
        if let Some(Value::Array(values)) = values {
            let mut names: Vec<&str> = values.iter().map(type_of).collect();
            names.sort_unstable();
            names.dedup();
            let names = if let [name] = names[..] { json!(name) } else { json!(names) };
            keywords.insert("type".to_owned(), names);
            return;
        }
        if self.dialect.untyped {
            return;
        }
        // To say the type that the keywords are about is to say less than they do.
        let about = ["object", "array", "string", "number"];
        let named = about
            .into_iter()
            .find(|name| keywords.keys().any(|keyword| !is_about_all(keyword) && is_about(keyword, name)));
        let (name, reason) = match named {
            Some(name) => (name, "is not said, and cannot be left open; other types are lost"),
            None => ("string", "is not said, and cannot be left open; only a text can be sent"),
        };
        keywords.insert("type".to_owned(), json!(name));
        self.lose(at, "type", Effect::Narrowed, reason);
    }

    /// The null that a choice allows, where the dialect has a word for it.
    pub(super) fn say_null(&mut self, keywords: &mut Keywords, at: &str) {
        if self.dialect.upper_case_types
            && let Some(Value::String(name)) = keywords.get_mut("type")
        {
            name.make_ascii_uppercase();
        }
        if !self.dialect.nullable {
            return;
        }
        let is_null = |branch: &Value| branch.get("type").is_some_and(|name| name == "null" || name == "NULL");
        let Some(Value::Array(branches)) = keywords.get_mut("anyOf") else {
            return;
        };
        let before = branches.len();
        branches.retain(|branch| !is_null(branch));
        if branches.len() == before {
            return;
        }
        if let [Value::Object(only)] = &branches[..] {
            let only = only.clone();
            self.say_alone(keywords, only, at);
        }
        keywords.insert("nullable".to_owned(), json!(true));
    }

    /// The only branch of a choice that is left, written beside what holds for all; of two descriptions the one that
    /// stood there is kept.
    fn say_alone(&mut self, keywords: &mut Keywords, only: Keywords, at: &str) {
        let contradicts = |keyword: &String, value: &Value| {
            !walk::is_annotation(keyword) && keywords.get(keyword).is_some_and(|there| there != value)
        };
        if only.iter().any(|(keyword, value)| contradicts(keyword, value)) {
            return;
        }
        keywords.remove("anyOf");
        for (keyword, value) in only {
            match keywords.get(&keyword) {
                None => drop(keywords.insert(keyword, value)),
                Some(there) if *there == value => {}
                Some(_) => self.lose(at, &keyword, Effect::Untold, "of a branch gives way to that of the whole"),
            }
        }
    }
}

pub(super) fn take(keywords: &mut Keywords, wanted: impl Fn(&str) -> bool) -> Keywords {
    let (taken, rest) = std::mem::take(keywords).into_iter().partition(|(keyword, _)| wanted(keyword));
    *keywords = rest;
    taken
}

/// Whether a keyword says anything of values of this type.
fn is_about(keyword: &str, name: &str) -> bool {
    match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            matches!(name, "integer" | "number")
        }
        "format" => !matches!(name, "null" | "boolean"),
        "minLength" | "maxLength" | "pattern" | "contentEncoding" | "contentMediaType" => name == "string",
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains"
        | "maxContains" | "unevaluatedItems" | "additionalItems" => name == "array",
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "dependencies"
        | "unevaluatedProperties" => name == "object",
        _ => true,
    }
}

fn is_about_all(keyword: &str) -> bool {
    ["string", "array", "object", "number"].into_iter().all(|name| is_about(keyword, name))
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        name => type_of(value) == name,
    }
}
