//! Schemas as tables: one row for each field, with a short description of its values, and nested fields and
//! alternatives in `<details>` below it.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;

use super::escape::{prose, text};
use toolkit_schema::pointer::last_token;
use toolkit_schema::walk;

/// The maximum depth of the tables. The JSON is easier to read below that.
const MAX_DEPTH: usize = 8;

/// The direction of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Arguments: required fields are marked.
    Arguments,
    /// Results: optional fields are marked.
    Result,
}

/// Renders the fields of an inlined schema; empty if its kind is a complete description.
pub(super) fn fields(schema: &Value, direction: Direction) -> String {
    let first = if direction == Direction::Arguments { "argument" } else { "field" };
    Reader { direction, root: schema, visited: HashSet::new() }.within(schema, first, 0)
}

struct Reader<'s> {
    direction: Direction,
    root: &'s Value,
    /// The references that were followed: a recursive schema is shown once, at its first use.
    visited: HashSet<&'s str>,
}

impl<'s> Reader<'s> {
    fn within(&mut self, schema: &'s Value, first: &str, depth: usize) -> String {
        let mut out = String::new();
        if depth == MAX_DEPTH || !schema.is_object() {
            return out;
        }
        if let Some(target) = self.followed(schema) {
            out.push_str(&self.within(target, first, depth + 1));
        }
        out.push_str(&self.table(schema, first, depth));
        for (keyword, heading) in [("anyOf", "Any of these"), ("oneOf", "One of these"), ("allOf", "All of these")] {
            let branches = branches(schema, keyword);
            if let [branch] = branches[..] {
                out.push_str(&self.within(branch, first, depth + 1));
                continue;
            }
            let alternatives =
                branches.into_iter().enumerate().filter_map(|(idx, branch)| self.alternative(idx, branch, depth));
            let alternatives: String = alternatives.collect();
            if !alternatives.is_empty() {
                out.push_str(&format!("<p class=\"of\">{heading}:</p>{alternatives}"));
            }
        }
        if let Some(items) = schema.get("items") {
            out.push_str(&self.within(items, "field of each item", depth + 1));
        }
        let places = schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten().enumerate();
        out.extend(places.filter_map(|(idx, place)| self.alternative(idx, place, depth)));
        if let Some(values) = schema.get("additionalProperties") {
            out.push_str(&self.within(values, "field of each value", depth + 1));
        }
        out
    }

    /// Returns the target of a reference at its first use.
    fn followed(&mut self, schema: &'s Value) -> Option<&'s Value> {
        let reference = schema.get("$ref")?.as_str()?;
        let target = walk::resolve(self.root, reference)?;
        self.visited.insert(reference).then_some(target)
    }

    /// Renders a branch that has fields or a description.
    fn alternative(&mut self, idx: usize, branch: &'s Value, depth: usize) -> Option<String> {
        let inside = self.within(branch, "field", depth + 1);
        let description = branch.get("description").and_then(Value::as_str).map(prose).unwrap_or_default();
        let title = branch.get("title").and_then(Value::as_str).map_or_else(|| kind_among_others(branch), text);
        let is_shown = !inside.is_empty() || (!description.is_empty() && values(branch).is_none());
        is_shown.then(|| details(&format!("{}. {title}", idx + 1), &format!("{description}{inside}")))
    }

    fn table(&mut self, schema: &'s Value, first: &str, depth: usize) -> String {
        let properties = schema.get("properties").and_then(Value::as_object);
        let Some(properties) = properties.filter(|named| !named.is_empty()) else {
            return String::new();
        };
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: HashSet<&str> = required.filter_map(Value::as_str).collect();
        let mut properties: Vec<(&str, &'s Value)> =
            properties.iter().map(|(name, property)| (&**name, property)).collect();
        properties.sort_by_key(|(name, _)| (!required.contains(name), *name));
        let rows = properties.into_iter().map(|(name, property)| {
            let need = need(self.direction, required.contains(name));
            self.row(name, property, need, depth)
        });
        let rows: String = rows.collect();
        let columns = ["type", "description"].map(|column| format!("<th scope=\"col\">{column}")).concat();
        format!("<table class=\"fields\"><thead><tr><th scope=\"col\">{first}{columns}<tbody>\n{rows}</table>\n")
    }

    fn row(&mut self, name: &str, schema: &'s Value, need: &str, depth: usize) -> String {
        let description = schema.get("description").and_then(Value::as_str).map(prose).unwrap_or_default();
        let mut facts = limits(schema);
        facts.extend(schema.get("items").into_iter().flat_map(limits).map(|limit| format!("each {limit}")));
        facts.extend(schema.get("default").map(|value| format!("default {}", literal(value))));
        facts.extend(
            schema.get("deprecated").filter(|deprecated| **deprecated == true).map(|_| "deprecated".to_owned()),
        );
        let facts = match facts.is_empty() {
            true => String::new(),
            false => format!("<p class=\"limits\">{}</p>", facts.join(" · ")),
        };
        let inside = format!("{}{}", choices(schema), self.within(schema, "field", depth + 1));
        let inside = match inside.is_empty() {
            true => inside,
            false => format!("<tr class=\"inside\"><td colspan=\"3\">{}\n", details(&summary(schema), &inside)),
        };
        let (name, kind) = (text(name), kind(schema));
        format!("<tr><th scope=\"row\"><code>{name}</code>{need}<td>{kind}<td>{description}{facts}\n{inside}")
    }
}

/// Returns the branches of a keyword except null.
fn branches<'s>(schema: &'s Value, keyword: &str) -> Vec<&'s Value> {
    let branches = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
    branches.filter(|branch| branch.get("type").is_none_or(|ty| ty != "null")).collect()
}

/// Returns the kind of a branch with what distinguishes it: a constant field or its required fields.
fn kind_among_others(branch: &Value) -> String {
    /// The number of required fields that are listed.
    const MAX_NAMED: usize = 3;

    let kind = kind(branch);
    let Some(properties) = branch.get("properties").and_then(Value::as_object) else {
        return kind;
    };
    let mark =
        properties.iter().filter_map(|(name, property)| Some((name, property.get("const")?))).min_by_key(|one| one.0);
    if let Some((name, value)) = mark {
        return format!("{kind}, <code>{}</code> {}", text(name), literal(value));
    }
    let required = branch.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let named: Vec<String> = required.take(MAX_NAMED).map(|name| format!("<code>{}</code>", text(name))).collect();
    if named.is_empty() { kind } else { format!("{kind} with {}", named.join(", ")) }
}

/// Returns a badge for the exceptional case: a required argument or an optional field of a result.
fn need(direction: Direction, is_required: bool) -> &'static str {
    match (direction, is_required) {
        (Direction::Arguments, true) => " <span class=\"required\">required</span>",
        (Direction::Result, false) => " <span class=\"optional\">optional</span>",
        _ => "",
    }
}

/// Lists the values that do not fit in the row or that have descriptions.
fn choices(schema: &Value) -> String {
    let of = schema.get("items").filter(|items| values(items).is_some()).unwrap_or(schema);
    let Some(all) = values(of) else {
        return String::new();
    };
    let branches = of.get("oneOf").or_else(|| of.get("anyOf")).and_then(Value::as_array);
    let description = |idx: usize| branches.and_then(|all| all.get(idx)?.get("description")?.as_str()).map(text);
    if all.len() <= MAX_INLINE_VALUES && (0..all.len()).all(|idx| description(idx).is_none()) {
        return String::new();
    }
    let item = |(idx, value): (usize, &&Value)| {
        let description = description(idx).map(|description| format!(" {description}")).unwrap_or_default();
        format!("<li>{}{description}\n", literal(value))
    };
    format!("<ul class=\"values\">{}</ul>", all.iter().enumerate().map(item).collect::<String>())
}

/// Returns a short summary of collapsed content.
fn summary(schema: &Value) -> String {
    let of = schema.get("items").unwrap_or(schema);
    if let Some(values) = values(of) {
        return format!("{} values", values.len());
    }
    for keyword in ["anyOf", "oneOf"] {
        match branches(of, keyword)[..] {
            [] => {}
            [branch] => return summary(branch),
            _ => return "the alternatives".to_owned(),
        }
    }
    match of.get("properties").and_then(Value::as_object).map_or(0, serde_json::Map::len) {
        0 => "its fields".to_owned(),
        1 => "1 field".to_owned(),
        n => format!("{n} fields"),
    }
}

/// Wraps `inside` in a collapsed element. Both arguments are HTML.
pub(super) fn details(summary: &str, inside: &str) -> String {
    format!("<details><summary>{summary}</summary>{inside}</details>\n")
}

// Descriptions of values by their schemas.

/// The maximum number of values that are listed in the row of a field instead of below it.
pub(super) const MAX_INLINE_VALUES: usize = 6;

/// Returns the kind of values that a schema accepts, as HTML.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(values) = values(schema) {
        return match values.len() {
            1..=MAX_INLINE_VALUES => values.iter().map(|value| literal(value)).collect::<Vec<_>>().join(" or "),
            n => format!("one of {n} values"),
        };
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(branches) = schema.get(choice).and_then(Value::as_array).filter(|branches| !branches.is_empty()) {
            let mut kinds: Vec<String> = branches.iter().map(kind).collect();
            let mut seen = std::collections::HashSet::new();
            kinds.retain(|kind| seen.insert(kind.clone()));
            return match kinds.len() {
                1..=MAX_INLINE_VALUES => kinds.join(" or "),
                n => format!("one of {n} kinds"),
            };
        }
    }
    // The schema was inlined, so that only recursive references are left.
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return last_name(reference).map_or_else(|| "the same schema".to_owned(), |name| text(&name));
    }
    match schema.get("type") {
        Some(Value::String(name)) => named(name, schema),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str).map(|name| named(name, schema));
            names.collect::<Vec<_>>().join(" or ")
        }
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ => "anything".to_owned(),
    }
}

/// Returns the last segment of a reference, decoded: `Search Filter` for `#/$defs/Search%20Filter`.
fn last_name(reference: &str) -> Option<String> {
    let pointer = walk::pointer(reference)?;
    last_token(&pointer).map(Cow::into_owned)
}

/// Returns the values of a schema that accepts only listed values.
pub(super) fn values(schema: &Value) -> Option<Vec<&Value>> {
    if let Some(constant) = schema.get("const") {
        return Some(vec![constant]);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return Some(values.iter().collect());
    }
    // A choice of constants, which may have descriptions.
    let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let constants: Option<Vec<&Value>> = branches.iter().map(|branch| branch.get("const")).collect();
    constants.filter(|constants| !constants.is_empty())
}

fn named(name: &str, schema: &Value) -> String {
    match (name, schema.get("items"), schema.get("additionalProperties")) {
        ("array", Some(items @ Value::Object(_)), _) => format!("list of {}", several(kind(items))),
        ("array", ..) => "list".to_owned(),
        ("object", _, Some(values @ Value::Object(_))) if schema.get("properties").is_none() => {
            format!("map to {}", several(kind(values)))
        }
        _ => text(name),
    }
}

fn several(kind: String) -> String {
    match &*kind {
        "string" | "integer" | "number" | "boolean" | "object" => format!("{kind}s"),
        _ if kind.contains(" or ") => format!("({kind})"),
        _ => kind,
    }
}

/// Formats a value as code.
pub(super) fn literal(value: &Value) -> String {
    let shown = match value {
        Value::String(plain) if !plain.is_empty() => plain.clone(),
        value => {
            let mut value = value.clone();
            value.sort_all_objects();
            value.to_string()
        }
    };
    format!("<code>{}</code>", text(&shown))
}

/// Returns the constraints of a schema other than its kind, each as HTML.
pub(super) fn limits(schema: &Value) -> Vec<String> {
    let mut words = Vec::new();
    for (least, most, one, many) in [
        ("minimum", "maximum", "", ""),
        ("minLength", "maxLength", " character", " characters"),
        ("minItems", "maxItems", " item", " items"),
        ("minProperties", "maxProperties", " entry", " entries"),
    ] {
        let counted = |limit: &Value| format!("{}{}", shown(limit), if *limit == 1 { one } else { many });
        let limit = |keyword: &str| schema.get(keyword).filter(|limit| !is_a_width(limit));
        words.extend(match (limit(least), limit(most)) {
            (Some(least), Some(most)) if least == most => Some(format!("exactly {}", counted(least))),
            (Some(least), Some(most)) => Some(format!("{} to {}", shown(least), counted(most))),
            (Some(least), None) => Some(format!("at least {}", counted(least))),
            (None, Some(most)) => Some(format!("at most {}", counted(most))),
            (None, None) => None,
        });
    }
    for (keyword, before) in
        [("exclusiveMinimum", "more than"), ("exclusiveMaximum", "less than"), ("multipleOf", "a multiple of")]
    {
        words.extend(schema.get(keyword).map(|limit| format!("{before} {}", shown(limit))));
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        words.push(format!("matches <code>{}</code>", text(pattern)));
    }
    if let Some(format) = schema.get("format").and_then(Value::as_str) {
        words.push(format!("format <code>{}</code>", text(format)));
    }
    if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
        words.push("unique items".to_owned());
    }
    words
}

/// Returns true if a limit is only that of an integer type.
fn is_a_width(limit: &Value) -> bool {
    const WIDTHS: [i64; 5] = [i32::MIN as i64, i32::MAX as i64, u32::MAX as i64, i64::MIN, i64::MAX];
    limit.as_i64().is_some_and(|limit| WIDTHS.contains(&limit)) || limit.as_u64() == Some(u64::MAX)
}

fn shown(limit: &Value) -> String {
    text(&limit.to_string())
}
