//! Documents of Markdown.

use serde_json::json;
use toolkit::{Catalog, Tool};
use toolkit_providers::markdown;

fn section(input: serde_json::Value) -> String {
    let tool = Tool::builder("t").description("A tool.").input(input).build().unwrap();
    let text = markdown::document("Tools", &Catalog::new([tool]).unwrap());
    text.split_once("## `t`\n\nA tool.\n\n").expect("a section").1.to_owned()
}

#[test]
fn a_document_has_a_table_of_all_tools_and_a_section_for_each() {
    let add = Tool::builder("add")
        .namespace("math")
        .version("1.0.0")
        .title("Add")
        .description("Adds\ntwo integers.\n\nSee a|b.")
        .tags(["sum"])
        .read_only(true)
        .destructive(false)
        .input(json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] }))
        .output(json!({ "type": "integer" }))
        .build()
        .unwrap();
    let text = markdown::document("All\ntools", &Catalog::new([add]).unwrap());
    assert_eq!(
        text,
        "# All tools\n\n| tool | description |\n|---|---|\n| [`math:add:1.0.0`](#mathadd100) | Adds two integers. |\n\n\
         ## `math:add:1.0.0`\n\n**Add**\n\nAdds\ntwo integers.\n\nSee a|b.\n\nread-only; not destructive; tags: sum\n\n\
         | argument | type | required | description |\n|---|---|---|---|\n| `a` | integer | yes |  |\n\nResult: integer.\n\n"
    );
}

#[test]
fn the_kind_of_an_argument_names_what_its_schema_accepts() {
    for (schema, kind) in [
        (json!({ "type": "string" }), "string"),
        (json!({ "type": ["string", "null"] }), "string or null"),
        (json!({ "type": "array" }), "array"),
        (
            json!({ "type": "array", "items": { "type": "array", "items": { "type": "number" } } }),
            "list of list of number",
        ),
        (json!({ "enum": ["a", 1] }), "`\"a\"`, `1`"),
        (json!({ "const": "a|`b" }), "`\"a\\|'b\"`"),
        (json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }), "string or null"),
        (json!({ "oneOf": [{ "type": "string" }, { "type": "string", "minLength": 1 }] }), "string"),
        (json!({}), "anything"),
    ] {
        let text = section(json!({ "type": "object", "properties": { "x": schema } }));
        assert!(text.contains(&format!("| `x` | {kind} | no |  |\n")), "{schema}: {text}");
    }
}

#[test]
fn a_row_has_the_description_and_the_default_of_an_argument_on_one_line() {
    let text = section(json!({
        "type": "object",
        "properties": {
            "a": { "type": "integer", "description": "One\n\tof a|b.", "default": 1 },
            "`|": { "type": "string", "default": "x|y" },
        },
    }));
    assert!(text.contains("| `a` | integer | no | One of a\\|b. Default: `1`. |\n"), "{text}");
    assert!(text.contains("| `'\\|` | string | no | Default: `\"x\\|y\"`. |\n"), "{text}");
}

#[test]
fn a_tool_without_arguments_has_no_table() {
    for input in [json!({ "type": "object" }), json!({ "type": "object", "properties": {} })] {
        assert_eq!(section(input), "No arguments.\n\n");
    }
}
