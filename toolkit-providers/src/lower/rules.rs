//! Rules of a dialect about values of keywords, checked also where no other pass looks.

use serde_json::{Value, json};

use super::lowering::{Keywords, Lowering};
use crate::loss::Effect;
use toolkit_schema::patterns::is_portable;
use toolkit_schema::{child, walk};

impl Lowering<'_> {
    /// Returns true if the dialect rejects the value of a keyword: a pattern, or a schema that contains one, or an array
    /// without items.
    pub(super) fn breaks_rule(&self, keywords: &Keywords, keyword: &str) -> bool {
        let has_rules = self.dialect.portable_patterns || self.dialect.items_required;
        let is_plain = |value: &Value| !(value.is_object() || value.is_array());
        let is_free = |value: &Value| walk::is_annotation(keyword) || keyword != "pattern" && is_plain(value);
        let Some(value) = keywords.get(keyword).filter(|value| has_rules && (keyword == "type" || !is_free(value)))
        else {
            return false;
        };
        self.rejects(&Keywords::from_iter([(keyword.to_owned(), value.clone())]))
    }

    fn rejects(&self, keywords: &Keywords) -> bool {
        let rejects = |pattern: &String| self.dialect.portable_patterns && !is_portable(pattern);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let mut is_rejected = matches!(keywords.get("pattern"), Some(Value::String(pattern)) if rejects(pattern))
            || patterns.is_some_and(|patterns| patterns.keys().any(rejects))
            || self.dialect.items_required
                && may_be(keywords, "array")
                && !keywords.get("items").is_some_and(Value::is_object);
        walk::each(keywords, |_, sub| {
            is_rejected = is_rejected || sub.as_object().is_some_and(|sub| self.rejects(sub));
        });
        is_rejected
    }

    /// Removes the arguments whose names the dialect rejects.
    pub(super) fn remove_named(&mut self, keywords: &mut Keywords) {
        let Some(Value::Object(properties)) = keywords.get_mut("properties").filter(|_| self.dialect.plain_names)
        else {
            return;
        };
        let (rejected, kept): (Keywords, Keywords) =
            std::mem::take(properties).into_iter().partition(|(name, _)| !is_plain(name));
        *properties = kept;
        if let Some(Value::Array(required)) = keywords.get_mut("required") {
            required.retain(|name| name.as_str().is_none_or(|name| !rejected.contains_key(name)));
        }
        let mut names: Vec<String> = rejected.into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        for name in names {
            let at = child("/properties", &name);
            for effect in [Effect::Narrowed, Effect::Widened] {
                let name = self.dialect.name;
                self.report(&at, "properties", effect, format!("has a name that {name} rejects; it cannot be sent"));
            }
        }
    }

    /// Removes the keywords beside a reference that the dialect rejects.
    pub(super) fn remove_rejected(&mut self, keywords: &mut Keywords, at: &str) {
        let mut names: Vec<String> = keywords.keys().cloned().collect();
        names.sort_unstable();
        for keyword in names.into_iter().filter(|keyword| keyword != "$defs") {
            if self.breaks_rule(keywords, &keyword) {
                self.describe(keywords, &keyword);
                keywords.remove(&keyword);
                self.report(at, &keyword, Effect::Widened, "is not supported beside a reference");
            }
        }
    }

    /// Applies the rules about choices, objects without properties and required properties to a lowered schema.
    pub(super) fn lower_to_rules(&mut self, keywords: &mut Keywords, at: &str) {
        if self.dialect.bare_choices {
            self.bare_choice(keywords, at);
        }
        if !self.dialect.empty_objects && !at.is_empty() {
            self.lower_empty_object(keywords, at);
        }
        if self.dialect.declared_required {
            self.remove_undeclared(keywords, at);
        }
    }

    fn remove_undeclared(&mut self, keywords: &mut Keywords, at: &str) {
        let Some(Value::Array(mut required)) = keywords.remove("required") else { return };
        let properties = keywords.get("properties").and_then(Value::as_object);
        let n_required = required.len();
        required.retain(|name| {
            name.as_str().is_some_and(|name| properties.is_some_and(|properties| properties.contains_key(name)))
        });
        if required.len() < n_required {
            self.report(at, "required", Effect::Widened, "of properties that are not declared is not supported");
        }
        if !required.is_empty() {
            keywords.insert("required".to_owned(), required.into());
        }
    }

    /// Replaces an object without properties by text, which [`Coercion::Lenient`](toolkit::Coercion) reads.
    fn lower_empty_object(&mut self, keywords: &mut Keywords, at: &str) {
        let has_properties =
            keywords.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty());
        if has_properties || keywords.contains_key("anyOf") || !may_be(keywords, "object") {
            return;
        }
        keywords.retain(|keyword, _| !super::types::applies_only_to(keyword, "object") && keyword != "enum");
        let text = if self.dialect.upper_case_types { "STRING" } else { "string" };
        keywords.insert("type".to_owned(), text.into());
        append(keywords, "The JSON text of an object.");
        let reason = "is required, but the object declares none; only its JSON text can be sent";
        self.report(at, "properties", Effect::Narrowed, reason);
        self.report(at, "properties", Effect::Widened, reason);
    }

    /// Leaves nothing beside a choice.
    fn bare_choice(&mut self, keywords: &mut Keywords, at: &str) {
        let Some(Value::Array(mut branches)) = keywords.remove("anyOf") else { return };
        if branches.iter().all(|branch| branch.get("type") == keywords.get("type")) {
            keywords.remove("type");
        }
        if keywords.contains_key("type") {
            let reason = "is not supported beside a type; any value of that type can be sent";
            return self.report(at, "anyOf", Effect::Widened, reason);
        }
        if keywords.remove("nullable") == Some(Value::Bool(true)) {
            branches.iter_mut().for_each(|branch| {
                each_leaf(branch, &mut |leaf| {
                    leaf.insert("nullable".to_owned(), true.into());
                })
            });
        }
        self.describe(keywords, "default");
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
            self.report(at, &keyword, effect, "is not supported beside a choice");
        }
        keywords.insert("anyOf".to_owned(), branches.into());
    }
}

/// Returns true if a dialect with plain names accepts the name of an argument.
pub(crate) fn is_plain(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(is_valid)
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

/// Appends a sentence to the description.
pub(super) fn append(keywords: &mut Keywords, sentence: &str) {
    let text = match keywords.get("description").and_then(Value::as_str).map(str::trim_end) {
        None | Some("") => sentence.to_owned(),
        Some(text) if text.ends_with(['.', '!', '?', ':']) => format!("{text} {sentence}"),
        Some(text) => format!("{text}. {sentence}"),
    };
    keywords.insert("description".to_owned(), json!(text));
}
