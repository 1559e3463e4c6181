//! The `nullable` keyword.

use serde_json::{Value, json};

use super::lowering::{Keywords, Lowering};
use super::types::applies_only_to;
use crate::loss::Effect;
use toolkit_schema::walk;

impl Lowering<'_> {
    /// Replaces the null branch of a choice by `nullable`, and writes types in capitals, if the dialect requires it.
    pub(super) fn lower_nullable(&mut self, keywords: &mut Keywords, at: &str) {
        if self.dialect.upper_case_types
            && let Some(Value::String(name)) = keywords.get_mut("type")
        {
            name.make_ascii_uppercase();
        }
        if !self.dialect.nullable {
            return;
        }
        let is_only_null = keywords.get("type").is_some_and(|name| name == "null" || name == "NULL")
            || keywords.get("enum").is_some_and(|values| *values == json!([null]));
        let Some(Value::Array(branches)) = keywords.get_mut("anyOf") else {
            return;
        };
        // A choice between nulls only is kept.
        if branches.iter().all(is_null) {
            branches.truncate(1);
            return;
        }
        let before = branches.len();
        branches.retain(|branch| !is_null(branch));
        if branches.len() == before {
            return;
        }
        if is_only_null {
            keywords.remove("anyOf");
            keywords.remove("enum");
            keywords.insert("type".to_owned(), json!(if self.dialect.upper_case_types { "NULL" } else { "null" }));
            return;
        }
        let refuses_null = keywords.contains_key("type") || !lists_null(keywords);
        if let Some(Value::Array(branches)) = keywords.get("anyOf")
            && let [Value::Object(only)] = &branches[..]
        {
            let only = only.clone();
            self.merge_branch(keywords, only, at);
        }
        match refuses_null {
            true => drop(keywords.remove("nullable")),
            false => drop(keywords.insert("nullable".to_owned(), json!(true))),
        }
    }

    /// Merges the only remaining branch of a choice into the schema; existing annotations are kept.
    fn merge_branch(&mut self, keywords: &mut Keywords, only: Keywords, at: &str) {
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
                Some(_) => self.report(
                    at,
                    &keyword,
                    Effect::MetadataOnly,
                    "of a branch is replaced by that of the whole schema",
                ),
            }
        }
    }
}

/// Returns true if a branch accepts null and nothing else.
fn is_null(branch: &Value) -> bool {
    let Value::Object(keywords) = branch else {
        return false;
    };
    keywords.get("type").is_some_and(|name| name == "null" || name == "NULL")
        && keywords.iter().all(|(keyword, value)| match keyword.as_str() {
            "type" | "nullable" => true,
            "enum" => value.as_array().is_some_and(|values| values.iter().any(Value::is_null)),
            "const" => value.is_null(),
            keyword => {
                walk::is_annotation(keyword)
                    || ["object", "array", "string", "number"].iter().any(|other| applies_only_to(keyword, other))
            }
        })
}

/// Removes null from the enum, since `nullable` expresses it; false if the enum does not contain it.
fn lists_null(keywords: &mut Keywords) -> bool {
    let Some(Value::Array(values)) = keywords.get_mut("enum") else {
        return true;
    };
    let n_values = values.len();
    values.retain(|value| !value.is_null());
    values.len() < n_values
}
