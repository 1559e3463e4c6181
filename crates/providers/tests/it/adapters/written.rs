//! The exports of each adapter, read again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::tool;

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// What to look for.
    #[schemars(length(min = 1))]
    text: String,
    /// The most hits.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u8>,
}

#[derive(Serialize, JsonSchema)]
struct Hits {
    hits: Vec<String>,
}

/// Searches notes.
#[tool(namespace = "notes", version = "1.0.0", tags = ["find"], read_only, examples = [r#"{"text": "milk"}"#])]
fn search(search: Search) -> Hits {
    Hits { hits: vec![search.text; search.limit.unwrap_or(1).into()] }
}

/// Keeps anything.
#[tool(namespace = "notes", deprecated = "use search")]
fn keep(anything: std::collections::BTreeMap<String, u8>) -> usize {
    anything.len()
}

fn catalog() -> Catalog {
    toolkit::catalog![search, keep].unwrap()
}

use super::*;

fn told(losses: &[toolkit_providers::Loss]) -> Vec<String> {
    losses.iter().map(ToString::to_string).collect()
}

#[test]
fn openai_is_written_for_both_interfaces() {
    let options = openai::Options::responses().strict().with_output_schemas();
    let export = openai::tools(&catalog(), Naming::NamespaceName, options).unwrap();
    assert_eq!(
        export.json[1],
        json!({
            "type": "function",
            "name": "notes_search",
            "description": "Searches notes.",
            "strict": true,
            "parameters": {
                "type": "object",
                "properties": {
                    "text": { "type": "string", "description": "What to look for. At least 1 character." },
                    "limit": { "type": ["integer", "null"], "description": "The most hits.", "minimum": 1, "maximum": 50 },
                },
                "required": ["text", "limit"],
                "additionalProperties": false,
            },
            "output_schema": {
                "type": "object",
                "properties": { "hits": { "type": "array", "items": { "type": "string" } } },
                "required": ["hits"],
            },
        })
    );
    assert_eq!(
        told(&export.losses[1].1),
        [
            "`namespace` is not supported",
            "`version` is not supported",
            "`tags` is not supported",
            "`annotations` is not supported",
            "`examples` is not supported",
            "input /properties/text: `minLength` is moved to the description",
        ]
    );
    assert_eq!(export.json[0]["strict"], false);
    assert_eq!(export.json[0]["description"], "Keeps anything.\n\nDeprecated: use search");
    assert_eq!(export.not_strict[0].0.name(), "keep");
    let why = "has to be `false`; properties of arbitrary names cannot be sent";
    assert_eq!(export.not_strict[0].1[0].reason, why);

    let chat = openai::tools(&catalog(), Naming::Name, openai::Options::chat_completions()).unwrap();
    assert_eq!(chat.json[1]["function"]["name"], "search");
    assert_eq!(chat.json[1]["function"]["parameters"]["required"], json!(["text"]));
    assert_eq!(chat.json[1]["function"].get("strict"), None);
    assert!(told(&chat.losses[1].1).contains(&"output root: `outputSchema` is not supported".to_owned()));
}

#[test]
fn deferred_tools_come_with_the_search_tool_of_the_provider() {
    let last = |export: toolkit_providers::Export| export.json.as_array().unwrap().last().unwrap()["type"].clone();
    let naming = Naming::default();
    let anthropic = |options| last(anthropic::tools(&catalog(), naming, options).unwrap());
    assert_eq!(anthropic(anthropic::Options::default().deferred()), "tool_search_tool_bm25_20251119");
    assert_eq!(anthropic(anthropic::Options::default()), Value::Null);
    let openai = |options| last(openai::tools(&catalog(), naming, options).unwrap());
    let responses = openai::Options::responses();
    assert_eq!(openai(responses.deferred()), "tool_search");
    assert_eq!(openai(responses.deferred().namespaced()), "tool_search");
    assert_eq!(openai(responses), "function");
    assert_eq!(openai(openai::Options::chat_completions().deferred()), "function");
}

#[test]
fn anthropic_is_written_with_its_examples() {
    let export = anthropic::tools(&catalog(), Naming::Name, anthropic::Options::default().strict().deferred()).unwrap();
    let tool = &export.json[1];
    assert_eq!(tool["input_examples"], json!([{ "text": "milk" }]));
    assert_eq!((&tool["strict"], &tool["defer_loading"]), (&json!(true), &json!(true)));
    assert_eq!(
        tool["input_schema"]["properties"]["limit"],
        json!({
            "anyOf": [{ "type": "integer", "description": "At most 50. At least 1." }, { "type": "null" }],
            "description": "The most hits.",
        })
    );
    assert_eq!(export.json[0].get("strict"), None);
}

#[test]
fn gemini_is_written_with_json_schema() {
    let export = gemini::tools(&catalog(), Naming::Name, gemini_output()).unwrap();
    let declaration = &export.json[0]["functionDeclarations"][1];
    assert_eq!(declaration["parametersJsonSchema"]["properties"]["limit"]["maximum"], 50);
    assert_eq!(declaration["responseJsonSchema"]["type"], "object");
}

/// Returns a word.
#[tool(namespace = "notes")]
fn word() -> Option<String> {
    None
}

#[test]
fn output_schemas_are_exported_on_request() {
    let catalog = toolkit::catalog![search, word].unwrap();
    let of_openai = |options| openai::tools(&catalog, Naming::Name, options).unwrap();
    let plain = of_openai(openai::Options::responses());
    assert_eq!(plain.json[0].get("output_schema"), None);
    let left_out = "output root: `outputSchema` is left out; the option `output_schemas` adds it";
    assert!(told(&plain.losses[0].1).contains(&left_out.to_owned()));
    let gemini = gemini::tools(&catalog, Naming::Name, gemini::Options::default()).unwrap();
    assert_eq!(gemini.json[0]["functionDeclarations"][0].get("responseJsonSchema"), None);
    assert!(told(&gemini.losses[0].1).contains(&left_out.to_owned()));

    // A text is sent as it is, which is not the JSON that a schema would declare.
    let output = of_openai(openai::Options::responses().with_output_schemas());
    assert_eq!(output.json[0]["output_schema"]["type"], "object");
    assert_eq!(output.json[1].get("output_schema"), None);
    let text = "output root: `outputSchema` is left out: a text is sent without quotes, and is not JSON";
    assert!(told(&output.losses[1].1).contains(&text.to_owned()), "{:?}", output.losses[1]);
    let gemini = gemini::tools(&catalog, Naming::Name, gemini_output()).unwrap();
    let word = &gemini.json[0]["functionDeclarations"][1];
    assert_eq!(word["responseJsonSchema"]["type"], json!(["string", "null"]));
}

#[test]
fn a2a_is_written_as_skills_and_a_card() {
    let agent = a2a::Agent::new("Clerk").url("https://example.com/a2a");
    let export = a2a::card(&agent, &catalog());
    let skill = &export.json["skills"][1];
    assert_eq!((&skill["id"], &skill["tags"]), (&json!("notes:search:1.0.0"), &json!(["find"])));
    assert_eq!(skill["examples"], json!([r#"{"text":"milk"}"#]));
    assert_eq!(
        told(&export.losses[1].1),
        [
            "`annotations` is not supported",
            "input root: `inputSchema` is not supported",
            "output root: `outputSchema` is not supported"
        ]
    );
}

#[test]
fn tools_survive_a_round_trip_through_each_provider() {
    let original = catalog();
    let original = original.get("notes:search").unwrap();
    let openai = openai::describe(original, "search", openai::Options::responses()).json;
    let anthropic = anthropic::describe(original, "search", anthropic::Options::default()).json;
    let gemini = gemini::describe(original, "search", gemini::Options::default()).json;
    for (json, tool) in [
        (&openai, openai::read(&openai)),
        (&anthropic, anthropic::read(&anthropic)),
        (&gemini, gemini::read(&json!({ "functionDeclarations": [gemini] }))),
    ] {
        let tool: Tool = tool.unwrap();
        assert_eq!((tool.name(), tool.description()), ("search", "Searches notes."), "{json}");
        assert!(tool.validate_input(&json!({ "text": "milk" })).is_ok());
        assert!(tool.validate_input(&json!({ "limit": 1 })).is_err());
    }
    assert_eq!(anthropic::read(&anthropic).unwrap().examples(), original.examples());
    for json in [json!([]), json!({ "description": "nobody" }), json!({ "name": 1 })] {
        assert!(
            openai::read(&json).is_err() && anthropic::read(&json).is_err() && gemini::read(&json).is_err(),
            "{json}"
        );
    }
    assert!(gemini::read(&json!({ "functionDeclarations": [] })).is_err());
}

#[test]
fn nullable_in_gemini_becomes_a_type_and_data_is_unchanged() {
    let declaration = json!({
        "name": "t",
        "description": "d",
        "parameters": {
            "type": "OBJECT",
            "properties": {
                "unit": { "type": "STRING", "nullable": true, "enum": ["A", "B"], "default": { "type": "KEPT" } },
                "size": { "anyOf": [{ "type": "STRING" }, { "type": "INTEGER" }], "nullable": true },
            },
        },
        "response": { "type": "STRING", "nullable": true },
    });
    let tool = gemini::read(&declaration).unwrap();
    assert_eq!(
        tool.input().as_value()["properties"],
        json!({
            "unit": { "type": ["string", "null"], "enum": ["A", "B", null], "default": { "type": "KEPT" } },
            "size": { "anyOf": [{ "type": "string" }, { "type": "integer" }, { "type": "null" }] },
        })
    );
    assert!(tool.validate_input(&json!({ "unit": null, "size": null })).is_ok());
    assert_eq!(tool.output().unwrap().as_value()["type"], json!(["string", "null"]));
}

#[test]
fn fields_of_a_single_provider_survive_a_round_trip() {
    let schema = json!({
        "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"], "additionalProperties": false,
    });
    let anthropic = json!({
        "name": "t", "description": "d", "input_schema": schema, "strict": true, "defer_loading": true,
        "input_examples": [{ "a": "x", "type": "KEPT" }], "cache_control": { "type": "ephemeral" },
        "eager_input_streaming": false,
    });
    let tool = anthropic::read(&anthropic).unwrap();
    assert_eq!(anthropic::describe(&tool, "t", anthropic::Options::default()).json, anthropic);
    // Other formats do not support some of the fields.
    let losses = openai::describe(&tool, "t", openai::Options::responses()).losses;
    assert!(told(&losses).contains(&"`cache_control` is not supported".to_owned()), "{losses:?}");
    let openai = json!({
        "type": "function", "name": "t", "description": "d", "parameters": schema, "strict": true,
        "defer_loading": true, "async": true, "output_schema": { "type": "object" },
    });
    let tool = openai::read(&openai).unwrap();
    assert_eq!(openai::describe(&tool, "t", openai::Options::responses().with_output_schemas()).json, openai);
    // A tool that was read as not strict stays so.
    let mut free = openai;
    free["strict"] = json!(false);
    let tool = openai::read(&free).unwrap();
    let options = openai::Options::responses().strict().with_output_schemas();
    assert_eq!(openai::describe(&tool, "t", options).json, free);
}
