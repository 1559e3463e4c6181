//! Schemas as tables: one row for each field, with a short description of its values, and nested fields and
//! alternatives in `<details>` below it.

use std::collections::HashSet;

use serde_json::Value;

use super::escape::{prose, text};
use toolkit_schema::view::{Constant, Field, Limit, Notation, Shape, View};

/// The maximum depth of the tables. The JSON is easier to read below that.
const MAX_DEPTH: usize = 8;

/// The maximum number of values that are listed in the row of a field instead of below it.
const MAX_INLINE_VALUES: usize = 6;

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
    FieldTables { direction, visited: HashSet::new() }.within(&View::new(schema), first, 0)
}

struct FieldTables<'s> {
    direction: Direction,
    /// The references that were followed: a recursive schema is shown once, at its first use.
    visited: HashSet<&'s str>,
}

impl<'s> FieldTables<'s> {
    fn within(&mut self, view: &View<'s>, first: &str, depth: usize) -> String {
        let mut out = String::new();
        if depth == MAX_DEPTH || view.reference().is_some_and(|reference| !self.visited.insert(reference)) {
            return out;
        }
        out.push_str(&self.table(view.declared_fields(), first, depth));
        for (keyword, heading) in [("anyOf", "Any of these"), ("oneOf", "One of these"), ("allOf", "All of these")] {
            let branches = view.branches(keyword);
            if let [branch] = &branches[..] {
                out.push_str(&self.within(branch, first, depth + 1));
                continue;
            }
            let alternatives = self.alternatives(branches, depth);
            if !alternatives.is_empty() {
                out.push_str(&format!("<p class=\"of\">{heading}:</p>{alternatives}"));
            }
        }
        if let Some(items) = view.part("items") {
            out.push_str(&self.within(&items, "field of each item", depth + 1));
        }
        if let Shape::Tuple(items) = view.shape() {
            out.push_str(&self.alternatives(items, depth));
        }
        if let Some(values) = view.part("additionalProperties") {
            out.push_str(&self.within(&values, "field of each value", depth + 1));
        }
        out
    }

    /// Renders the branches that have fields or a description.
    fn alternatives(&mut self, branches: Vec<View<'s>>, depth: usize) -> String {
        let rendered = branches.iter().enumerate().filter_map(|(idx, branch)| {
            let inside = self.within(branch, "field", depth + 1);
            let description = description(branch);
            let title = branch.get("title").and_then(Value::as_str);
            let title = title.map_or_else(|| kind_among_others(branch), text);
            let is_constant = matches!(branch.shape(), Shape::Constants(_));
            let is_shown = !inside.is_empty() || (!description.is_empty() && !is_constant);
            is_shown.then(|| details(&format!("{}. {title}", idx + 1), &format!("{description}{inside}")))
        });
        rendered.collect()
    }

    fn table(&mut self, fields: Vec<Field<'s>>, first: &str, depth: usize) -> String {
        if fields.is_empty() {
            return String::new();
        }
        let rows: String = fields.iter().map(|field| self.row(field, depth)).collect();
        let columns = ["type", "description"].map(|column| format!("<th scope=\"col\">{column}")).concat();
        format!("<table class=\"fields\"><thead><tr><th scope=\"col\">{first}{columns}<tbody>\n{rows}</table>\n")
    }

    fn row(&mut self, field: &Field<'s>, depth: usize) -> String {
        let view = &field.view;
        let mut facts = limits(view);
        facts.extend(view.part("items").iter().flat_map(limits).map(|limit| format!("each {limit}")));
        facts.extend(view.default().map(|value| format!("default {}", literal(value))));
        facts.extend(view.get("deprecated").filter(|is| **is == true).map(|_| "deprecated".to_owned()));
        let facts = match facts.is_empty() {
            true => String::new(),
            false => format!("<p class=\"limits\">{}</p>", facts.join(" · ")),
        };
        let inside = format!("{}{}", choices(view), self.within(view, "field", depth + 1));
        let inside = match inside.is_empty() {
            true => inside,
            false => format!("<tr class=\"inside\"><td colspan=\"3\">{}\n", details(&summary(view), &inside)),
        };
        let (name, kind, description) = (text(field.name), kind(view), description(view));
        let need = need(self.direction, field.is_required);
        format!("<tr><th scope=\"row\"><code>{name}</code>{need}<td>{kind}<td>{description}{facts}\n{inside}")
    }
}

/// Renders the description, with those of single values.
fn description(view: &View<'_>) -> String {
    view.get("description").and_then(Value::as_str).map(prose).unwrap_or_default()
}

/// Returns the kind of a branch with what distinguishes it: a constant field or its required fields.
fn kind_among_others(branch: &View<'_>) -> String {
    /// The number of required fields that are listed.
    const MAX_NAMED: usize = 3;

    let kind = kind(branch);
    let fields = branch.declared_fields();
    let constants = fields.iter().filter_map(|field| Some((field.name, field.view.get("const")?)));
    if let Some((name, value)) = constants.min_by_key(|one| one.0) {
        return format!("{kind}, <code>{}</code> {}", text(name), literal(value));
    }
    let required = fields.iter().filter(|field| field.is_required).take(MAX_NAMED);
    let named: Vec<String> = required.map(|field| format!("<code>{}</code>", text(field.name))).collect();
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

/// Lists the values that do not fit in the row, or whose descriptions are not in that of the field.
fn choices(view: &View<'_>) -> String {
    let (of, constants) = constants(view);
    let is_described = |constant: &Constant<'_>| of.get("enum").is_none() && constant.description.is_some();
    if constants.len() <= MAX_INLINE_VALUES && !constants.iter().any(is_described) {
        return String::new();
    }
    let item = |constant: &Constant<'_>| {
        let description = constant.description.filter(|_| is_described(constant));
        let description = description.map(|description| format!(" {}", text(description))).unwrap_or_default();
        format!("<li>{}{description}\n", literal(constant.value))
    };
    format!("<ul class=\"values\">{}</ul>", constants.iter().map(item).collect::<String>())
}

/// Returns the values of a field, or those of its items, with their view.
fn constants<'s>(view: &View<'s>) -> (View<'s>, Vec<Constant<'s>>) {
    let items = view.part("items").filter(|items| matches!(items.shape(), Shape::Constants(_)));
    let of = items.unwrap_or_else(|| view.clone());
    match of.shape() {
        Shape::Constants(constants) => (of, constants),
        _ => (of, Vec::new()),
    }
}

/// Returns a short summary of collapsed content.
fn summary(view: &View<'_>) -> String {
    let of = view.part("items").unwrap_or_else(|| view.clone());
    if let Shape::Constants(constants) = of.shape() {
        return format!("{} values", constants.len());
    }
    if !of.alternatives().is_empty() {
        return "the alternatives".to_owned();
    }
    match of.declared_fields().len() {
        0 => "its fields".to_owned(),
        1 => "1 field".to_owned(),
        n => format!("{n} fields"),
    }
}

/// Wraps `inside` in a collapsed element. Both arguments are HTML.
pub(super) fn details(summary: &str, inside: &str) -> String {
    format!("<details><summary>{summary}</summary>{inside}</details>\n")
}

/// Values as code, and names as text.
struct HtmlNotation;

impl Notation for HtmlNotation {
    fn constants(&self, constants: &[Constant<'_>]) -> String {
        match constants.len() {
            ..=MAX_INLINE_VALUES => {
                constants.iter().map(|constant| literal(constant.value)).collect::<Vec<_>>().join(" or ")
            }
            n => format!("one of {n} values"),
        }
    }

    fn name(&self, name: &str) -> String {
        text(name)
    }
}

/// Returns the kind of values that a schema accepts, as HTML.
pub(super) fn kind(view: &View<'_>) -> String {
    let kind = view.describe(&HtmlNotation);
    if view.accepts_null() { format!("{kind} or null") } else { kind }
}

/// Formats a value as code.
fn literal(value: &Value) -> String {
    let shown = match value {
        Value::String(plain) if !plain.is_empty() => plain.clone(),
        value => value.to_string(),
    };
    format!("<code>{}</code>", text(&shown))
}

/// Returns the constraints of a schema other than its kind, each as HTML.
fn limits(view: &View<'_>) -> Vec<String> {
    let limit = |limit: &Limit<'_>| match limit {
        Limit::Pattern(pattern) => format!("matches <code>{}</code>", text(pattern)),
        Limit::Format(format) => format!("format <code>{}</code>", text(format)),
        limit => text(&limit.to_string()),
    };
    view.limits().iter().map(limit).collect()
}
