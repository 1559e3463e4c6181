//! The keywords that are left: each is kept, moved to the description or removed, by the rules of the dialect about its
//! value.
//!
//! The rules are checked also where no other pass looks.

use serde_json::{Value, json};

use super::keywords::applies_only_to;
use super::lowering::{Lowering, describe};
use super::reference::lower_unsupported_references;
use crate::loss::Effect;
use crate::rules::type_of_format;
use toolkit_schema::merge::{Keywords, append};
use toolkit_schema::patterns::is_portable;
use toolkit_schema::walk;

/// Lowers each remaining keyword: keeps it, moves it to the description, or removes it.
pub(super) fn lower_remaining(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    lower_integer_bounds(lowering, keywords);
    lower_unsupported_references(lowering, keywords, at);
    let mut names: Vec<String> = keywords.keys().cloned().collect();
    names.sort_unstable();
    for keyword in names {
        lower_keyword(lowering, keywords, &keyword, at);
    }
}

fn lower_keyword(lowering: &mut Lowering<'_>, keywords: &mut Keywords, keyword: &str, at: &str) {
    match keyword {
        "nullable" if lowering.dialect.nullable => {}
        _ if lowering.dialect.reads(keyword) && accepts_value(lowering, keywords, keyword) => {}
        "format" | "default" => {
            describe(keywords, keyword);
            keywords.remove(keyword);
            lowering.report(at, keyword, Effect::MetadataOnly, "is moved to the description");
        }
        _ if walk::is_annotation(keyword) || matches!(keyword, "$schema" | "$id" | "$defs" | "definitions") => {
            keywords.remove(keyword);
            lowering.report(at, keyword, Effect::MetadataOnly, "is not supported");
        }
        _ => {
            let is_described = describe(keywords, keyword);
            keywords.remove(keyword);
            let reason = if is_described { "is moved to the description" } else { "is not supported" };
            // Empty conditions accept every value.
            lowering.report(at, keyword, Effect::Widened, reason);
        }
    }
}

/// Returns true if the dialect supports the value of a keyword that it reads.
fn accepts_value(lowering: &Lowering<'_>, keywords: &Keywords, keyword: &str) -> bool {
    match keyword {
        "format" => accepts_format(lowering, keywords),
        "enum" => lowering.dialect.mixed_enums || contains_only_strings(keywords),
        // These have been lowered.
        "items" | "prefixItems" | "properties" | "anyOf" | "oneOf" | "allOf" | "additionalProperties" | "type" => true,
        _ => !breaks_rule(lowering, keywords, keyword),
    }
}

fn accepts_format(lowering: &Lowering<'_>, keywords: &Keywords) -> bool {
    let Some(formats) = lowering.dialect.formats else { return true };
    let format = keywords.get("format").and_then(Value::as_str).unwrap_or_default();
    let of_type = type_of_format(format);
    let fits = match keywords.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == of_type),
        Some(name) => name == of_type,
        None => true,
    };
    fits && formats.contains(&format)
}

/// Gemini rejects an empty text in an enum.
fn contains_only_strings(keywords: &Keywords) -> bool {
    keywords
        .get("enum")
        .and_then(Value::as_array)
        .is_some_and(|values| values.iter().all(|value| value.is_string() && value != ""))
}

/// Replaces exclusive bounds of integers: more than 3 is at least 4.
fn lower_integer_bounds(lowering: &Lowering<'_>, keywords: &mut Keywords) {
    if keywords.get("type").is_none_or(|name| name != "integer") {
        return;
    }
    for (exclusive, inclusive, step) in [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)] {
        let bound = keywords.get(exclusive).and_then(Value::as_i64).and_then(|bound| bound.checked_add(step));
        if let Some(bound) = bound
            && !lowering.dialect.reads(exclusive)
            && !keywords.contains_key(inclusive)
        {
            keywords.remove(exclusive);
            keywords.insert(inclusive.to_owned(), bound.into());
        }
    }
}

/// Replaces the null branch of a choice by `nullable`, and writes types in capitals, if the dialect requires it.
pub(super) fn lower_nullable(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    if lowering.dialect.upper_case_types
        && let Some(Value::String(name)) = keywords.get_mut("type")
    {
        name.make_ascii_uppercase();
    }
    if !lowering.dialect.nullable {
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
        keywords.insert("type".to_owned(), json!(if lowering.dialect.upper_case_types { "NULL" } else { "null" }));
        return;
    }
    let refuses_null = keywords.contains_key("type") || !lists_null(keywords);
    if let Some(Value::Array(branches)) = keywords.get("anyOf")
        && let [Value::Object(only)] = &branches[..]
    {
        let only = only.clone();
        merge_branch(lowering, keywords, only, at);
    }
    match refuses_null {
        true => drop(keywords.remove("nullable")),
        false => drop(keywords.insert("nullable".to_owned(), json!(true))),
    }
}

/// Merges the only remaining branch of a choice into the schema; existing annotations are kept.
fn merge_branch(lowering: &mut Lowering<'_>, keywords: &mut Keywords, only: Keywords, at: &str) {
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
            Some(_) => lowering.report(
                at,
                &keyword,
                Effect::MetadataOnly,
                "of a branch is replaced by that of the whole schema",
            ),
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

/// Returns true if the dialect rejects the value of a keyword: a pattern, or a schema that contains one, or an array
/// without items.
pub(super) fn breaks_rule(lowering: &Lowering<'_>, keywords: &Keywords, keyword: &str) -> bool {
    let has_rules = lowering.dialect.portable_patterns || lowering.dialect.items_required;
    let is_plain = |value: &Value| !(value.is_object() || value.is_array());
    let is_free = |value: &Value| walk::is_annotation(keyword) || keyword != "pattern" && is_plain(value);
    let Some(value) = keywords.get(keyword).filter(|value| has_rules && (keyword == "type" || !is_free(value))) else {
        return false;
    };
    rejects_any(lowering, &Keywords::from_iter([(keyword.to_owned(), value.clone())]))
}

fn rejects_any(lowering: &Lowering<'_>, keywords: &Keywords) -> bool {
    let rejects = |pattern: &String| lowering.dialect.portable_patterns && !is_portable(pattern);
    let patterns = keywords.get("patternProperties").and_then(Value::as_object);
    let mut is_rejected = matches!(keywords.get("pattern"), Some(Value::String(pattern)) if rejects(pattern))
        || patterns.is_some_and(|patterns| patterns.keys().any(rejects))
        || lowering.dialect.items_required
            && may_be(keywords, "array")
            && !keywords.get("items").is_some_and(Value::is_object);
    walk::each(keywords, |_, sub| {
        is_rejected = is_rejected || sub.as_object().is_some_and(|sub| rejects_any(lowering, sub));
    });
    is_rejected
}

/// Removes the keywords beside a reference that the dialect rejects.
pub(super) fn remove_rejected(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    let mut names: Vec<String> = keywords.keys().cloned().collect();
    names.sort_unstable();
    for keyword in names.into_iter().filter(|keyword| keyword != "$defs") {
        if breaks_rule(lowering, keywords, &keyword) {
            describe(keywords, &keyword);
            keywords.remove(&keyword);
            lowering.report(at, &keyword, Effect::Widened, "is not supported beside a reference");
        }
    }
}

/// Applies the rules about choices, objects without properties and required properties to a lowered schema.
pub(super) fn lower_to_rules(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    if lowering.dialect.bare_choices {
        lower_bare_choice(lowering, keywords, at);
        for (keyword, name) in [("properties", "object"), ("required", "object"), ("items", "array")] {
            let is_root = at.is_empty() && name == "object";
            if keywords.contains_key("type")
                && !may_be(keywords, name)
                && !is_root
                && keywords.remove(keyword).is_some()
            {
                lowering.report(at, keyword, Effect::MetadataOnly, "has no effect beside another type");
            }
        }
    }
    if !lowering.dialect.empty_objects && !at.is_empty() {
        lower_empty_object(lowering, keywords, at);
    }
    if lowering.dialect.declared_required {
        remove_undeclared(lowering, keywords, at);
    }
    if !lowering.dialect.mixed_enums && keywords.contains_key("enum") && !may_be(keywords, "string") {
        keywords.remove("enum");
        lowering.report(at, "enum", Effect::Widened, "of texts is not supported beside another type");
    }
}

fn remove_undeclared(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    let Some(Value::Array(mut required)) = keywords.remove("required") else { return };
    let properties = keywords.get("properties").and_then(Value::as_object);
    let n_required = required.len();
    required.retain(|name| {
        name.as_str().is_some_and(|name| properties.is_some_and(|properties| properties.contains_key(name)))
    });
    if required.len() < n_required {
        lowering.report(at, "required", Effect::Widened, "of properties that are not declared is not supported");
    }
    if !required.is_empty() {
        keywords.insert("required".to_owned(), required.into());
    }
}

/// Replaces an object without properties by text, which [`Coercion::Lossless`](toolkit::Coercion) reads.
fn lower_empty_object(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    let has_properties =
        keywords.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty());
    if has_properties || keywords.contains_key("anyOf") || !may_be(keywords, "object") {
        return;
    }
    keywords.retain(|keyword, _| !applies_only_to(keyword, "object") && keyword != "enum");
    let text = if lowering.dialect.upper_case_types { "STRING" } else { "string" };
    keywords.insert("type".to_owned(), text.into());
    append(keywords, "The JSON text of an object.");
    let reason = "is required, but the object declares none; only its JSON text can be sent";
    lowering.report(at, "properties", Effect::Narrowed, reason);
    lowering.report(at, "properties", Effect::Widened, reason);
}

/// Leaves nothing beside a choice.
fn lower_bare_choice(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    let Some(Value::Array(mut branches)) = keywords.remove("anyOf") else { return };
    if branches.iter().all(|branch| branch.get("type") == keywords.get("type")) {
        keywords.remove("type");
    }
    if keywords.contains_key("type") {
        let reason = "is not supported beside a type; any value of that type can be sent";
        return lowering.report(at, "anyOf", Effect::Widened, reason);
    }
    if keywords.remove("nullable") == Some(Value::Bool(true)) {
        branches.iter_mut().for_each(|branch| {
            each_leaf(branch, &mut |leaf| {
                leaf.insert("nullable".to_owned(), true.into());
            })
        });
    }
    describe(keywords, "default");
    let mut names: Vec<String> = keywords.keys().cloned().collect();
    names.sort_unstable();
    for keyword in names {
        let text = keywords.remove(&keyword).unwrap_or_default();
        let mut is_first = keyword == "description";
        if let (Some(text), Some(first)) = (text.as_str(), branches.first_mut()) {
            each_leaf(first, &mut |leaf| {
                if std::mem::take(&mut is_first) {
                    prepend(leaf, text);
                }
            });
        }
        let effect = if walk::is_annotation(&keyword) { Effect::MetadataOnly } else { Effect::Widened };
        lowering.report(at, &keyword, effect, "is not supported beside a choice");
    }
    keywords.insert("anyOf".to_owned(), branches.into());
}

/// Returns true if a schema names a type, in any case.
fn may_be(keywords: &Keywords, name: &str) -> bool {
    let is_name = |value: &Value| value.as_str().is_some_and(|value| value.eq_ignore_ascii_case(name));
    match keywords.get("type") {
        Some(Value::Array(names)) => names.iter().any(is_name),
        Some(value) => is_name(value),
        None => false,
    }
}

/// Visits the branches of nested choices.
fn each_leaf(branch: &mut Value, visit: &mut impl FnMut(&mut Keywords)) {
    let Value::Object(keywords) = branch else { return };
    match keywords.get_mut("anyOf") {
        Some(Value::Array(branches)) => branches.iter_mut().for_each(|branch| each_leaf(branch, visit)),
        _ => visit(keywords),
    }
}

fn prepend(keywords: &mut Keywords, text: &str) {
    let own = keywords.remove("description");
    keywords.insert("description".to_owned(), text.into());
    if let Some(own) = own.as_ref().and_then(Value::as_str) {
        append(keywords, own);
    }
}
