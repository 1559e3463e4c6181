//! Conversion of unsupported keywords to sentences in the description.

use serde_json::Value;

use super::lowering::{Keywords, Lowering};
use super::rules::append;
use crate::loss::Effect;
use toolkit_schema::walk;

impl Lowering<'_> {
    /// Lowers each remaining keyword: keeps it, moves it to the description, or removes it.
    pub(super) fn lower_remaining(&mut self, keywords: &mut Keywords, at: &str) {
        self.lower_integer_bounds(keywords);
        self.lower_unsupported_references(keywords, at);
        let mut names: Vec<String> = keywords.keys().cloned().collect();
        names.sort_unstable();
        for keyword in names {
            self.lower_keyword(keywords, &keyword, at);
        }
    }

    fn lower_keyword(&mut self, keywords: &mut Keywords, keyword: &str, at: &str) {
        match keyword {
            "nullable" if self.dialect.nullable => {}
            _ if self.dialect.reads(keyword) && self.accepts(keywords, keyword) => {}
            "format" | "default" => {
                self.describe(keywords, keyword);
                keywords.remove(keyword);
                self.report(at, keyword, Effect::MetadataOnly, "is moved to the description");
            }
            _ if walk::is_annotation(keyword) || matches!(keyword, "$schema" | "$id" | "$defs" | "definitions") => {
                keywords.remove(keyword);
                self.report(at, keyword, Effect::MetadataOnly, "is not supported");
            }
            _ => {
                let is_described = self.describe(keywords, keyword);
                keywords.remove(keyword);
                let reason = if is_described { "is moved to the description" } else { "is not supported" };
                // Empty conditions accept every value.
                self.report(at, keyword, Effect::Widened, reason);
            }
        }
    }

    /// Returns true if the dialect supports the value of a keyword that it reads.
    fn accepts(&self, keywords: &Keywords, keyword: &str) -> bool {
        match keyword {
            "format" => self.accepts_format(keywords),
            "enum" => self.dialect.mixed_enums || contains_only_strings(keywords),
            // These have been lowered.
            "items" | "prefixItems" | "properties" | "anyOf" | "oneOf" | "allOf" | "additionalProperties" | "type" => {
                true
            }
            _ => !self.breaks_rule(keywords, keyword),
        }
    }

    fn accepts_format(&self, keywords: &Keywords) -> bool {
        let Some(formats) = self.dialect.formats else { return true };
        let format = keywords.get("format").and_then(Value::as_str).unwrap_or_default();
        let of_type = match format {
            "int32" | "int64" => "integer",
            "float" | "double" => "number",
            _ => "string",
        };
        let fits = match keywords.get("type") {
            Some(Value::Array(names)) => names.iter().any(|name| name == of_type),
            Some(name) => name == of_type,
            None => true,
        };
        fits && formats.contains(&format)
    }

    /// Replaces exclusive bounds of integers: more than 3 is at least 4.
    fn lower_integer_bounds(&self, keywords: &mut Keywords) {
        if keywords.get("type").is_none_or(|name| name != "integer") {
            return;
        }
        for (exclusive, inclusive, step) in [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)] {
            let bound = keywords.get(exclusive).and_then(Value::as_i64).and_then(|bound| bound.checked_add(step));
            if let Some(bound) = bound
                && !self.dialect.reads(exclusive)
                && !keywords.contains_key(inclusive)
            {
                keywords.remove(exclusive);
                keywords.insert(inclusive.to_owned(), bound.into());
            }
        }
    }

    /// Appends a sentence about `keyword` to the description; returns false if there is no sentence for it.
    pub(super) fn describe(&self, keywords: &mut Keywords, keyword: &str) -> bool {
        let Some(sentence) = keywords.get(keyword).and_then(|value| sentence(keyword, value)) else {
            return false;
        };
        append(keywords, &sentence);
        true
    }
}

fn sentence(keyword: &str, value: &Value) -> Option<String> {
    Some(match keyword {
        "minimum" => format!("At least {value}."),
        "maximum" => format!("At most {value}."),
        "exclusiveMinimum" => format!("More than {value}."),
        "exclusiveMaximum" => format!("Less than {value}."),
        "multipleOf" => format!("A multiple of {value}."),
        "minLength" => format!("At least {}.", pluralized(value, "character")),
        "maxLength" => format!("At most {}.", pluralized(value, "character")),
        "minItems" => format!("At least {}.", pluralized(value, "item")),
        "maxItems" => format!("At most {}.", pluralized(value, "item")),
        "minProperties" => format!("At least {}.", pluralized(value, "property")),
        "maxProperties" => format!("At most {}.", pluralized(value, "property")),
        "uniqueItems" if *value == true => "Items are unique.".to_owned(),
        "pattern" => format!("Matches the pattern `{}`.", value.as_str()?),
        "format" => format!("Format: {}.", value.as_str()?),
        "default" => format!("Default: {value}."),
        "enum" => {
            let values: Vec<String> = value.as_array()?.iter().map(Value::to_string).collect();
            format!("One of {}.", values.join(", "))
        }
        _ => return None,
    })
}

fn pluralized(n: &Value, what: &str) -> String {
    match (n.as_f64() == Some(1.0), what) {
        (true, what) => format!("{n} {what}"),
        (false, "property") => format!("{n} properties"),
        (false, what) => format!("{n} {what}s"),
    }
}

fn contains_only_strings(keywords: &Keywords) -> bool {
    keywords.get("enum").and_then(Value::as_array).is_some_and(|values| values.iter().all(Value::is_string))
}
