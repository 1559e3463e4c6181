//! The tools of real servers with every adapter.

use test_support::{ran, real_definitions, real_tools, sample};
use toolkit_providers::{ToolExport, restore};

use super::*;

#[test]
fn every_real_tool_goes_through_every_adapter() {
    // The export of a tool with an invalid schema is not checked.
    let tools: Vec<_> = sample(real_tools(), 3).filter(|tool| tool.input().check().is_ok()).collect();
    let (mut n_strict, mut n_refused) = (0, 0);
    for tool in &tools {
        let strict = openai::describe(tool, "name", openai::Options::responses().strict());
        n_strict += usize::from(strict.json["strict"] == true);
        assert_eq!(strict.json["strict"] == true, strict.not_strict.is_empty(), "{}", tool.id());
        let described: [(ToolExport, &str); 5] = [
            (strict, "/parameters"),
            (openai::describe(tool, "name", openai::Options::chat_completions()), "/function/parameters"),
            (anthropic::describe(tool, "name", anthropic::Options::default().strict()), "/input_schema"),
            (gemini::describe(tool, "name", gemini::Options::default()), "/parametersJsonSchema"),
            (bedrock::describe(tool, "name", bedrock::Options::default()), "/toolSpec/inputSchema/json"),
        ];
        for (described, at) in described {
            let Some(schema) = described.json.pointer(at) else {
                continue;
            };
            let accepts = jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{}: {error}", tool.id()));
            assert_eq!(schema["type"], "object");
            // The generated example of the tool can be expressed, unless a loss reports otherwise.
            let closes = described.losses.iter().any(|loss| loss.keyword == "additionalProperties");
            let whole = described.losses.iter().all(|loss| loss.effect != Effect::Narrowed) && !closes;
            if let (Some(example), true) = (tool.input().example(), whole) {
                let ways = held_to(schema, &example);
                let said = ways.iter().find(|way| accepts.is_valid(way));
                let said = said.unwrap_or_else(|| panic!("{}: {example} in {schema:#}", tool.id()));
                assert!(tool.validate_input(&restore(tool.input(), said.clone())).is_ok(), "{}: {said}", tool.id());
            }
        }
        for (adapter, describe) in ADAPTERS {
            let Some((json, losses)) = describe(tool) else {
                n_refused += 1;
                // Open Tool Calling has no references, and one to a property cannot be replaced by its target.
                let refers = tool.input().as_value().to_string().contains(r##""$ref":"#/properties"##);
                assert!(adapter == "otc" && refers, "{adapter}: {}", tool.id());
                continue;
            };
            // Reading and exporting the result again loses nothing else.
            assert!(!json.is_null() && losses.iter().all(|loss| !loss.reason.is_empty()), "{adapter}: {}", tool.id());
        }
    }
    if !tools.is_empty() {
        assert!(tools.len() > 180 && n_strict > tools.len() / 2, "{n_strict} of {} can be strict", tools.len());
    }
    assert!(n_refused < 10, "{n_refused}");
    ran(tools.len());
}

#[test]
fn a_tool_whose_schema_cannot_be_compiled_goes_through_every_adapter() {
    let values = [json!(null), json!(7), json!("x"), json!([]), json!([7]), json!({}), json!({ "a": 7 }), json!(true)];
    let keywords = [
        "$defs",
        "$ref",
        "$schema",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "default",
        "dependencies",
        "description",
        "enum",
        "examples",
        "exclusiveMinimum",
        "format",
        "if",
        "items",
        "maxItems",
        "maximum",
        "minLength",
        "multipleOf",
        "not",
        "oneOf",
        "pattern",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        "required",
        "title",
        "type",
        "uniqueItems",
        "writeOnly",
    ];
    let broken = keywords.iter().flat_map(|keyword| values.iter().map(move |value| json!({ *keyword: value })));
    let references = ["#/properties/a", "#/definitions/none", "https://example.com/a.json", "#", ""];
    let broken = broken.chain(references.map(|reference| json!({ "$ref": reference, "type": "text" })));
    for broken in broken {
        let mut root = json!({ "type": "object", "properties": { "a": broken }, "required": ["a", "a"] });
        root.as_object_mut().unwrap().extend(broken.as_object().unwrap().clone());
        root["type"] = json!("object");
        let nested = json!({ "type": "object", "properties": { "a": broken }, "required": ["a", "a"] });
        for schema in [root, nested] {
            let tool = json!({ "name": "foreign", "inputSchema": schema, "outputSchema": schema });
            let tool = Tool::from_json(tool).unwrap();
            for (_, describe) in ADAPTERS {
                let _ = describe(&tool);
            }
            let _ = openai::describe(&tool, "name", openai::Options::responses().strict());
            let _ = anthropic::describe(&tool, "name", anthropic::Options::default().strict());
            let _ = restore(tool.input(), json!({ "a": [1] }));
            assert!(tool.validate_input(&json!({ "a": 1 })).is_ok() || tool.input().check().is_ok(), "{schema}");
        }
    }
}

#[test]
fn every_definition_of_a_real_catalog_goes_through_every_adapter() {
    let definitions: Vec<_> = sample(real_definitions(), 3).collect();
    let tools = definitions.iter().map(|json| Definition::from_json(json).unwrap().to_tool().unwrap());
    for tool in tools {
        for (adapter, describe) in ADAPTERS {
            let (json, losses) = describe(&tool).unwrap_or_else(|| panic!("{adapter}: {}", tool.id()));
            // Requirements other than arguments are exported or reported as a loss.
            let requires = json.to_string().contains("\"requirements\"");
            let is_told = losses.iter().any(|loss| loss.keyword == "requirements");
            assert_eq!(requires || is_told, !tool.requirements().is_empty(), "{adapter}: {}", tool.id());
        }
    }
    ran(definitions.len() * ADAPTERS.len());
}
