//! Closed objects, which accept only declared properties.

use serde_json::{Value, json};

use super::lowering::{Keywords, Lowering};
use crate::loss::Effect;
use toolkit_schema::{child, walk};

impl Lowering<'_> {
    /// Closes an object if the dialect requires it.
    pub(super) fn close(&mut self, keywords: &mut Keywords, at: &str) {
        if !self.dialect.closed || !describes_objects(keywords) {
            return;
        }
        let declares = keywords.get("properties").and_then(Value::as_object).is_some_and(|named| !named.is_empty());
        let others = keywords.insert("additionalProperties".to_owned(), false.into());
        let unevaluated = keywords.remove("unevaluatedProperties");
        let reason = match (others, unevaluated) {
            (Some(Value::Bool(false)), _) => return,
            (Some(_), _) => "has to be `false`; properties of arbitrary names cannot be sent",
            (None, unevaluated) if has_in_place(keywords) => match unevaluated {
                Some(_) => "is set to `false`; properties that another part of the schema declares cannot be sent",
                None => "is set to `false`; properties that only another part of the schema declares cannot be sent",
            },
            (None, Some(Value::Bool(false))) => return,
            (None, None) if declares && !keywords.contains_key("enum") && !keywords.contains_key("const") => {
                let reason = "is set to `false`; undeclared properties cannot be sent";
                return self.report(at, "additionalProperties", Effect::MetadataOnly, reason);
            }
            (None, _) => "has to be `false`; properties of arbitrary names cannot be sent",
        };
        self.report(at, "additionalProperties", Effect::Narrowed, reason);
    }

    /// Replaces `unevaluatedProperties` by `additionalProperties` where both have the same meaning, and removes it if
    /// the dialect does not support it.
    pub(super) fn lower_unevaluated(&mut self, keywords: &mut Keywords, at: &str) {
        let is_closed = keywords.get("unevaluatedProperties") == Some(&Value::Bool(false));
        let reads = self.dialect.reads("unevaluatedProperties");
        let reads_additional = self.dialect.reads("additionalProperties");
        if (is_closed || !reads) && (reads_additional || keywords.contains_key("additionalProperties")) {
            let is_schema = keywords.get("unevaluatedProperties").is_some_and(Value::is_object);
            simplify_unevaluated(keywords);
            let describes = is_schema && keywords.get("additionalProperties").is_some_and(Value::is_object);
            if describes && self.dialect.all_required && requires_undeclared(keywords) {
                // A validator does not report violations inside unevaluated properties.
                let reason =
                    "applies to required properties; a null inside them that represents an absent property is rejected";
                self.report(at, "unevaluatedProperties", Effect::Widened, reason);
            }
        }
        // The object will be closed, which has the same meaning.
        if !reads && !self.dialect.closed && keywords.remove("unevaluatedProperties").is_some() {
            self.report(at, "unevaluatedProperties", Effect::Widened, "is not supported");
        }
    }

    /// Removes `patternProperties` if the dialect does not support it.
    ///
    /// A closed object then rejects the properties that match a pattern, and an open one accepts properties with any
    /// name.
    pub(super) fn lower_patterns(&mut self, keywords: &mut Keywords, at: &str) {
        if self.dialect.reads("patternProperties") && !self.breaks_rule(keywords, "patternProperties") {
            return self.lower_supported_patterns(keywords, at);
        }
        let Some(Value::Object(patterns)) = keywords.remove("patternProperties") else {
            return;
        };
        let refuses_others = keywords.get("additionalProperties").is_some_and(|others| *others != true);
        if patterns.is_empty() {
            return;
        }
        if !self.dialect.closed {
            if refuses_others {
                let others = keywords.remove("additionalProperties");
                let reason = "cannot be restricted without `patternProperties`";
                self.report(at, "additionalProperties", Effect::Widened, reason);
                let mut schemas = patterns.into_values();
                if let (Some(Value::Bool(false)), Some(only), None) = (others, schemas.next(), schemas.next()) {
                    keywords.insert("additionalProperties".to_owned(), only);
                }
            }
            self.report(at, "patternProperties", Effect::Widened, "is not supported; keys need not match a pattern");
            return;
        }
        let reason = "is not supported; keys that match a pattern cannot be sent";
        self.report(at, "patternProperties", Effect::Narrowed, reason);
        // A declared or required property may match a pattern, too.
        let is_empty =
            |keyword: &str, size: fn(&Value) -> usize| keywords.get(keyword).is_none_or(|has| size(has) == 0);
        let n_properties = |has: &Value| has.as_object().map_or(0, serde_json::Map::len);
        let n_required = |has: &Value| has.as_array().map_or(0, Vec::len);
        if !is_empty("properties", n_properties) || !is_empty("required", n_required) {
            let reason = "is not supported; a declared property need not match the schema of its pattern";
            self.report(at, "patternProperties", Effect::Widened, reason);
            // A required property may be present, even if a closed object rejects other properties.
            if keywords.get("additionalProperties") == Some(&Value::Bool(false)) {
                keywords.insert("additionalProperties".to_owned(), json!({}));
            }
        }
    }

    fn lower_supported_patterns(&mut self, keywords: &mut Keywords, at: &str) {
        if self.follows_references() {
            return;
        }
        if let Some(Value::Object(patterns)) = keywords.get_mut("patternProperties") {
            let at_patterns = child(at, "patternProperties");
            for (pattern, schema) in patterns {
                let lowered = self.schema(schema.take(), &child(&at_patterns, pattern));
                *schema = lowered.unwrap_or(Value::Bool(false));
            }
        }
    }
}

/// Replaces `unevaluatedProperties` by `additionalProperties` if no other schema of the same value can declare
/// properties, and removes it if `additionalProperties` makes it irrelevant.
pub(super) fn simplify_unevaluated(keywords: &mut Keywords) {
    if keywords.contains_key("additionalProperties") {
        keywords.remove("unevaluatedProperties");
    } else if !has_in_place(keywords)
        && let Some(others) = keywords.remove("unevaluatedProperties")
    {
        keywords.insert("additionalProperties".to_owned(), others);
    }
}

fn requires_undeclared(keywords: &Keywords) -> bool {
    let is_declared = |name: &str| keywords.get("properties").is_some_and(|properties| properties.get(name).is_some());
    let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
    required.filter_map(Value::as_str).any(|name| !is_declared(name))
}

/// Returns true if another schema of the same value may declare properties that this one does not.
pub(super) fn has_in_place(keywords: &Keywords) -> bool {
    applies_beyond(keywords, keywords.get("properties").and_then(Value::as_object))
}

fn applies_beyond(keywords: &Keywords, known: Option<&Keywords>) -> bool {
    let declares = |value: &Value| match value {
        Value::Array(parts) => parts.iter().any(|part| declares_beyond(part, known)),
        Value::Object(named) => named.values().any(|schema| declares_beyond(schema, known)),
        _ => false,
    };
    keywords.iter().any(|(keyword, value)| match keyword.as_str() {
        "$ref" | "$dynamicRef" => true,
        "allOf" | "anyOf" | "oneOf" | "dependentSchemas" | "dependencies" => declares(value),
        "if" | "then" | "else" => declares_beyond(value, known),
        _ => false,
    })
}

/// Returns true if a schema may declare properties that are not in `known`.
pub(super) fn declares_beyond(schema: &Value, known: Option<&Keywords>) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    let welcomes = |keyword: &str| keywords.get(keyword).is_some_and(|others| *others != false);
    let properties = keywords.get("properties").and_then(Value::as_object);
    let is_known = |name: &String| known.is_some_and(|known| known.contains_key(name));
    welcomes("additionalProperties")
        || welcomes("unevaluatedProperties")
        || keywords.contains_key("patternProperties")
        || properties.is_some_and(|properties| !properties.keys().all(is_known))
        || applies_beyond(keywords, known)
}

/// Returns true if a closed schema restricts the properties of objects.
pub(super) fn describes_objects(keywords: &Keywords) -> bool {
    let names_object = match keywords.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => false,
    };
    names_object || keywords.contains_key("properties")
}

/// Returns true if a keyword only applies to objects.
pub(super) fn constrains_object(keyword: &str) -> bool {
    matches!(
        keyword,
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
            | "unevaluatedProperties"
    )
}

/// Returns true if a schema, or one that applies to the same value, may restrict objects.
pub(super) fn may_concern_objects(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    let mut concerns = keywords.keys().any(|keyword| constrains_object(keyword) || keyword == "$ref");
    walk::each(keywords, |keyword, sub| {
        let is_in_place = matches!(keyword, "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else");
        concerns = concerns || is_in_place && may_concern_objects(sub);
    });
    concerns
}
