//! Export of a catalog as a Markdown document with a section for each tool.

use std::fmt::Write as _;

use serde_json::Value;

use toolkit::catalog::Catalog;
use toolkit::tool::Tool;
use toolkit_schema::inline::inlined;
use toolkit_schema::walk;

/// Returns the catalog as a Markdown document: the highest version of each tool, in the order of the ids.
///
/// ```
/// # use toolkit_providers::markdown;
/// /// Adds two integers.
/// #[toolkit::tool(namespace = "math", version = "1.0.0", read_only)]
/// fn add(
///     /// First addend.
///     a: i64,
///     /// Second addend.
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let text = markdown::document("Tools", &toolkit::catalog![add]?);
/// assert!(text.contains("## `math:add:1.0.0`\n\nAdds two integers.\n\nread-only"));
/// assert!(text.contains("| `a` | integer | yes | First addend. |"));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn document(title: &str, catalog: &Catalog) -> String {
    let mut text = format!("# {}\n\n| tool | description |\n|---|---|\n", one_line(title));
    for tool in catalog.latest() {
        let id = tool.id().to_string();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| [`{}`](#{}) | {} |", code(&id), anchor(&id), cell(&tool.summary()));
    }
    text.push('\n');
    for tool in catalog.latest() {
        section(tool, &mut text);
    }
    text
}

fn section(tool: &Tool, text: &mut String) {
    let _ = writeln!(text, "## `{}`\n", code(&tool.id().to_string()));
    if let Some(title) = tool.title() {
        let _ = writeln!(text, "**{}**\n", one_line(title));
    }
    let _ = writeln!(text, "{}\n", tool.full_description().trim());
    let mut facts: Vec<String> = hints(tool).into_iter().map(str::to_owned).collect();
    facts.extend((!tool.tags().is_empty()).then(|| format!("tags: {}", tool.tags().join(", "))));
    facts.extend((!tool.requirements().is_empty()).then(|| format!("requires {}", tool.requirements())));
    facts.extend(tool.timeout().map(|limit| format!("timeout: {limit:?}")));
    facts.extend((!tool.aliases().is_empty()).then(|| format!("aliases: {}", tool.aliases().join(", "))));
    if !facts.is_empty() {
        let _ = writeln!(text, "{}\n", one_line(&facts.join("; ")));
    }
    arguments(tool, text);
    for example in tool.examples() {
        let _ = writeln!(text, "```json\n{example:#}\n```\n");
    }
    if let Some(output) = tool.output() {
        let _ = writeln!(text, "Result: {}.\n", kind(&inlined(output.as_value())));
    }
}

/// Returns the hints that a tool states, in words.
pub(crate) fn hints(tool: &Tool) -> Vec<&'static str> {
    let stated = tool.annotations();
    let hints = [
        (stated.read_only, "read-only", "writes"),
        (stated.destructive, "destructive", "not destructive"),
        (stated.idempotent, "idempotent", "not idempotent"),
        (stated.open_world, "open world", "closed world"),
    ];
    hints.into_iter().filter_map(|(hint, yes, no)| hint.map(|hint| if hint { yes } else { no })).collect()
}

fn arguments(tool: &Tool, text: &mut String) {
    let schema = inlined(tool.input().as_value());
    let Some(arguments) = schema.get("properties").and_then(Value::as_object).filter(|named| !named.is_empty()) else {
        text.push_str("No arguments.\n\n");
        return;
    };
    text.push_str("| argument | type | required | description |\n|---|---|---|---|\n");
    for (name, argument) in arguments {
        let required = walk::requires(&schema, name);
        let description = argument.get("description").and_then(Value::as_str).unwrap_or_default();
        let default = argument.get("default").map(|value| format!(" Default: `{}`.", code(&value.to_string())));
        let description = format!("{description}{}", default.unwrap_or_default());
        let (kind, required) = (cell(&kind(argument)), if required { "yes" } else { "no" });
        let _ = writeln!(text, "| `{}` | {kind} | {required} | {} |", cell(&code(name)), cell(&description));
    }
    text.push('\n');
}

/// Returns the kind of values that a schema accepts.
fn kind(schema: &Value) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().map(|value| format!("`{}`", code(&value.to_string()))).collect();
        return values.join(", ");
    }
    if let Some(constant) = schema.get("const") {
        return format!("`{}`", code(&constant.to_string()));
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(branches) = schema.get(choice).and_then(Value::as_array) {
            let mut kinds: Vec<String> = branches.iter().map(kind).collect();
            kinds.dedup();
            return kinds.join(" or ");
        }
    }
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => return "anything".to_owned(),
    };
    match (name.as_str(), schema.get("items")) {
        ("array", Some(items)) => format!("list of {}", kind(items)),
        _ => name,
    }
}

/// Escapes text for a table cell.
fn cell(text: &str) -> String {
    one_line(text).replace('|', "\\|")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes text for a code span.
fn code(text: &str) -> String {
    text.replace('`', "'").chars().filter(|c| !c.is_control()).collect()
}

/// Returns the anchor that Markdown renderers generate for a heading.
fn anchor(id: &str) -> String {
    id.to_lowercase().chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}
