//! The contents of a tool's section.

use std::time::Duration;

use serde_json::{Value, json};
use toolkit::tool::Requirements;

use super::*;

fn described(description: &'static str) -> Html {
    page_of([Tool::builder("it").description(description).build().unwrap()])
}

fn taking(schema: Value) -> Html {
    page_of([Tool::builder("it").input(schema).build().unwrap()])
}

/// Returns the cells of the first table.
fn rows(page: &Html) -> Vec<Vec<String>> {
    let cells = Selector::parse("th, td").unwrap();
    let words = |cell: ElementRef<'_>| cell.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ");
    let rows = all(page, "article > table > tbody > tr:not(.inside)");
    rows.iter().map(|row| row.select(&cells).map(words).collect()).collect()
}

#[test]
fn the_section_of_a_tool_contains_all_its_metadata() {
    let requirements =
        Requirements::NONE.with_authorization("google", ["calendar"]).with_secret("API_KEY").with_user_id();
    let tool = Tool::builder("book")
        .namespace("calendar")
        .version("1.2.0")
        .title("Books a room")
        .description("Books a *room*.")
        .tags(["rooms", "time"])
        .destructive(false)
        .aliases(["reserve"])
        .deprecated("use `calendar:plan`")
        .examples([json!({ "room": "it's 4" })])
        .requirements(requirements)
        .timeout(Duration::from_secs(5))
        .input(json!({ "type": "object", "properties": { "room": { "type": "string" } } }))
        .output(json!({ "type": "boolean", "description": "Whether it was free." }))
        .build()
        .unwrap();
    let page = page_of([tool]);
    assert_eq!(text(&page, "h3"), "calendar:book 1.2.0");
    assert_eq!(text(&page, ".title"), "Books a room");
    assert_eq!(text(&page, ".labels"), "not destructive deprecated rooms time");
    assert_eq!(text(&page, ".deprecated"), "Deprecated. use calendar:plan");
    assert_eq!(text(&page, ".prose em"), "room");
    assert_eq!(
        text(&page, "dl"),
        "RequiresOAuth 2.0 with google for calendar; the secret API_KEY; the user’s id Aliasesreserve Timeout5s"
    );
    assert_eq!(text(&page, ".result"), "Boolean Whether it was free.");
    assert_eq!(all(&page, "article > figure code").len(), 2);
    let call = r#"tools call calendar:book '{"room":"it'\''s 4"}'"#;
    assert_eq!(all(&page, "article > figure code")[0].text().collect::<String>(), call);
}

#[test]
fn arguments_are_a_table_in_the_order_of_their_declaration() {
    let page = taking(json!({
        "type": "object",
        "properties": {
            "days": { "type": "integer", "minimum": 1, "maximum": 14, "default": 3, "description": "How many." },
            "id": { "type": "integer", "minimum": 0, "maximum": 4_294_967_295_u64 },
            "unit": { "enum": ["celsius", "fahrenheit"] },
            "place": { "type": "string", "minLength": 1, "pattern": "^[A-Z]", "format": "city" },
            "labels": { "type": ["array", "null"], "items": { "type": "string", "maxLength": 5 } },
        },
        "required": ["unit", "place"],
    }));
    assert_eq!(
        rows(&page),
        [
            ["days", "integer", "How many. 1 to 14 · default 3"],
            ["id", "integer", "at least 0"],
            ["unit required", "celsius or fahrenheit", ""],
            ["place required", "string", "at least 1 character · matches ^[A-Z] · format city"],
            ["labels", "list of strings or null", "each at most 5 characters"],
        ]
    );
}

#[test]
fn nested_fields_are_collapsed_below_their_row() {
    let page = taking(json!({
        "type": "object",
        "properties": {
            "place": { "anyOf": [{ "$ref": "#/$defs/Place" }, { "type": "null" }] },
            "what": { "oneOf": [
                { "type": "object", "title": "Text", "properties": { "text": { "type": "string" } } },
                { "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] },
                { "type": "object", "properties": { "kind": { "const": "url" }, "url": { "type": "string" } } },
            ] },
            "unit": { "oneOf": [{ "const": "c", "description": "Celsius." }, { "const": "f", "description": "Fahrenheit." }] },
        },
        "$defs": { "Place": { "type": "object", "properties": { "lat": { "type": "number" }, "lon": { "type": "number" } } } },
    }));
    let folded: Vec<String> =
        all(&page, ".inside > td > details > summary").iter().map(|summary| summary.text().collect()).collect();
    assert_eq!(folded, ["2 fields", "the alternatives", "2 values"]);
    let alternatives: Vec<String> =
        all(&page, ".inside details details > summary").iter().map(|summary| summary.text().collect()).collect();
    assert_eq!(alternatives, ["1. Text", "2. object with path", "3. object, kind url"]);
    assert_eq!(text(&page, ".values"), "c Celsius. f Fahrenheit.");
}

#[test]
fn a_recursive_schema_is_rendered_once() {
    let tree = json!({ "type": "object", "properties": {
        "left": { "$ref": "#/$defs/Tree" }, "right": { "$ref": "#/$defs/Tree" },
    } });
    let page = taking(json!({ "$ref": "#/$defs/Tree", "$defs": { "Tree": tree } }));
    assert_eq!(rows(&page), [["left", "Tree", ""], ["right", "Tree", ""]]);
}

#[test]
fn an_exponential_schema_does_not_make_a_large_page() {
    let mut schema = json!({ "type": "string" });
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        definitions.insert(format!("d{level}"), schema);
        let below = json!({ "$ref": format!("#/$defs/d{level}") });
        schema = json!({ "type": "object", "properties": { "a": below, "b": below } });
    }
    schema["$defs"] = definitions.into();
    let tool = Tool::from_json(json!({ "name": "it", "inputSchema": schema })).unwrap();
    assert!(text_of([tool]).len() < 4_000_000);
}

#[test]
fn a_description_with_many_lines_is_rendered_in_linear_time() {
    let page = described("a\n".repeat(100_000).leak());
    assert_eq!(all(&page, ".prose br").len(), 0);
}

#[test]
fn intentional_line_breaks_are_kept() {
    let page = described("Plots a chart.\nArgs: x, y\nReturns: a picture of the chart, as PNG, with its legend.");
    assert_eq!(all(&page, ".prose br").len(), 2);
    let filled = "Plots a chart of everything that it is given, in the order that\nit is given in, and writes it to a \
                  file that has the name which\nthe caller says, or else some other one.";
    assert_eq!(all(&described(filled), ".prose br").len(), 0);
}

#[test]
fn a_description_is_markdown_as_in_rustdoc() {
    let page = described("Does `it`.\n\n# Errors\n\n- one\n- two\n\n| a |\n|:-:|\n| b |\n\n```rust\nlet x = 1;\n```");
    assert_eq!(text(&page, ".prose h4"), "Errors");
    assert_eq!(all(&page, ".prose li").len(), 2);
    assert_eq!(text(&page, ".prose td"), "b");
    assert_eq!(text(&page, ".prose pre code"), "let x = 1;");
}

#[test]
fn a_tool_without_arguments_is_reported_as_such() {
    let page = taking(json!({ "type": "object", "properties": {}, "additionalProperties": false }));
    assert!(text(&page, "article").contains("Arguments None."));
}
