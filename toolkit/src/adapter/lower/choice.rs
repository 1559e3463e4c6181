//! Choices and joins: `oneOf`, `anyOf`, `allOf`, `const`.

use serde_json::{Value, json};

use super::{Keywords, Lowering};
use crate::adapter::loss::Effect;
use crate::schema::{child, walk};

impl Lowering<'_> {
    pub(super) fn say_choices(&mut self, keywords: &mut Keywords, at: &str) {
        if self.dialect.closed {
            distribute(keywords);
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = keywords.remove(keyword) else {
                continue;
            };
            let is_either = keyword == "anyOf" || are_apart(&branches);
            let n_losses = self.losses.len();
            let at_branches = child(at, keyword);
            let branches: Vec<Value> = branches
                .into_iter()
                .enumerate()
                .map(|(idx, branch)| self.schema(branch, &child(&at_branches, &idx.to_string())))
                .collect();
            // A branch that takes more than it did would shut out the others.
            let is_exact = self.losses[n_losses..].iter().all(|loss| loss.effect == Effect::Untold);
            if self.dialect.reads(keyword) && (keyword == "anyOf" || is_exact) {
                keywords.insert(keyword.to_owned(), branches.into());
            } else if !self.dialect.reads("anyOf") {
                self.lose(at, keyword, Effect::Widened, "cannot be said; any value may stand there");
            } else if keywords.contains_key("anyOf") {
                self.lose(at, keyword, Effect::Widened, "cannot be said beside another choice");
            } else {
                if !is_either {
                    self.lose(at, keyword, Effect::Widened, "is said as `anyOf`, so that several may fit at once");
                }
                keywords.insert("anyOf".to_owned(), branches.into());
            }
        }
    }

    /// Parts that all hold, written as one where they say nothing of the same thing.
    pub(super) fn say_joins(&mut self, keywords: &mut Keywords, at: &str) {
        if self.dialect.reads("allOf") {
            if let Some(Value::Array(parts)) = keywords.get_mut("allOf") {
                let at_parts = child(at, "allOf");
                for (idx, part) in parts.iter_mut().enumerate() {
                    *part = self.schema(part.take(), &child(&at_parts, &idx.to_string()));
                }
            }
            return;
        }
        let Some(Value::Array(parts)) = keywords.remove("allOf") else {
            return;
        };
        for part in parts {
            let mut part = match part {
                Value::Object(part) => part,
                Value::Bool(false) => Keywords::from_iter([("not".to_owned(), json!({}))]),
                _ => continue,
            };
            self.say_joins(&mut part, at);
            if !join(keywords, &part) {
                self.lose(at, "allOf", Effect::Widened, "cannot be said in one; a part of it is left out");
            }
        }
    }

    pub(super) fn say_constant(&mut self, keywords: &mut Keywords) {
        if self.dialect.reads("const") {
            return;
        }
        if let Some(constant) = keywords.remove("const") {
            keywords.insert("enum".to_owned(), json!([constant]));
        }
    }
}

/// Writes what stands beside a choice between objects into each branch: a closed object has to know all of its properties.
fn distribute(keywords: &mut Keywords) {
    let is_map = keywords.get("additionalProperties").is_some_and(|others| *others != false);
    if is_map || !keywords.contains_key("properties") {
        return;
    }
    let Some(choice) = ["anyOf", "oneOf"].into_iter().find(|choice| keywords.contains_key(*choice)) else {
        return;
    };
    let mut beside = keywords.clone();
    beside.retain(|keyword, _| keyword != choice && !walk::is_annotation(keyword));
    // Every branch is closed in the end, as the whole is.
    beside.remove("unevaluatedProperties");
    beside.remove("additionalProperties");
    let Some(Value::Array(branches)) = keywords.get(choice) else {
        return;
    };
    let spread = branches.iter().map(|branch| {
        let mut branch = branch.as_object()?.clone();
        let closed = branch.remove("additionalProperties");
        if !join(&mut branch, &beside) {
            return None;
        }
        branch.extend(closed.map(|closed| ("additionalProperties".to_owned(), closed)));
        Some(Value::Object(branch))
    });
    if let Some(spread) = spread.collect::<Option<Vec<_>>>() {
        keywords.retain(|keyword, _| walk::is_annotation(keyword));
        keywords.insert(choice.to_owned(), spread.into());
    }
}

/// Adds what `part` says, if each keyword is new or says the same, and none looks at those beside it.
fn join(keywords: &mut Keywords, part: &Keywords) -> bool {
    let alone = |keyword: &str| {
        !matches!(
            keyword,
            "additionalProperties"
                | "unevaluatedProperties"
                | "patternProperties"
                | "items"
                | "prefixItems"
                | "contains"
                | "if"
        )
    };
    let fits = part.iter().all(|(keyword, value)| match keyword.as_str() {
        "properties" | "required" => true,
        keyword if walk::is_annotation(keyword) => true,
        keyword => alone(keyword) && keywords.get(keyword).is_none_or(|there| there == value),
    });
    let same_properties = |part: &Keywords| {
        let (Some(there), Some(new)) = (object(keywords, "properties"), object(part, "properties")) else {
            return true;
        };
        new.iter().all(|(name, schema)| there.get(name).is_none_or(|there| there == schema))
    };
    if !fits || !same_properties(part) || keywords.keys().any(|keyword| !alone(keyword)) {
        return false;
    }
    for (keyword, value) in part {
        match (keyword.as_str(), keywords.get_mut(keyword), value) {
            ("properties", Some(Value::Object(there)), Value::Object(new)) => {
                there.extend(new.iter().map(|(name, schema)| (name.clone(), schema.clone())));
            }
            ("required", Some(Value::Array(there)), Value::Array(new)) => {
                let missing: Vec<Value> = new.iter().filter(|name| !there.contains(name)).cloned().collect();
                there.extend(missing);
            }
            (_, Some(_), _) => {}
            (_, None, value) => drop(keywords.insert(keyword.clone(), value.clone())),
        }
    }
    true
}

fn object<'k>(keywords: &'k Keywords, keyword: &str) -> Option<&'k Keywords> {
    keywords.get(keyword)?.as_object()
}

/// Whether no value can fit two of the branches, as far as types, constants and tags tell.
fn are_apart(branches: &[Value]) -> bool {
    let mut pairs = branches.iter().enumerate().flat_map(|(idx, a)| branches[idx + 1..].iter().map(move |b| (a, b)));
    pairs.all(|(a, b)| types_apart(a, b) || values_apart(a, b) || tags_apart(a, b))
}

fn types_apart(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (types(a), types(b)) else {
        return false;
    };
    let overlap = |a: &str, b: &str| a == b || matches!((a, b), ("integer", "number") | ("number", "integer"));
    !a.iter().any(|a| b.iter().any(|b| overlap(a, b)))
}

fn types(schema: &Value) -> Option<Vec<&str>> {
    match schema.get("type")? {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => names.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

fn values_apart(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (values(a), values(b)) else {
        return false;
    };
    // `1` and `1.0` are one value.
    let same = |a: &Value, b: &Value| a == b || (a.is_number() && a.as_f64() == b.as_f64());
    !a.iter().any(|a| b.iter().any(|b| same(a, b)))
}

fn values(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(constant), _) => Some(vec![constant]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// Both are objects that must have a property whose values are apart.
fn tags_apart(a: &Value, b: &Value) -> bool {
    let requires = |schema: &Value, name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|required| required == name))
    };
    let is_object = |schema: &Value| schema.get("type").is_some_and(|name| name == "object");
    let (Some(of_a), Some(of_b)) = (a.get("properties"), b.get("properties")) else {
        return false;
    };
    let mut names = of_a.as_object().into_iter().flatten();
    is_object(a)
        && is_object(b)
        && names.any(|(name, tag)| {
            requires(a, name)
                && requires(b, name)
                && of_b.get(name).is_some_and(|other| values_apart(tag, other) || types_apart(tag, other))
        })
}
