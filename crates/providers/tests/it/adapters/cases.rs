//! The test cases of the systems that this one replaces. These reduce a schema to the keywords that a provider was
//! assumed to support, and drop all others. This one supports more of them, and the exceptions below state where and
//! why.

use test_support::ran;

use super::*;

fn document() -> Value {
    serde_json::from_str(include_str!("../../cases/adapters.json")).unwrap()
}

fn cases<'d>(document: &'d Value, section: &str) -> &'d [Value] {
    document[section].as_array().unwrap()
}

/// Creates a tool from the intermediate representation of those systems.
fn canonical(case: &Value) -> Tool {
    let text = |key: &str| case[key].as_str().map(str::to_owned);
    let mut fields = json!({ "name": case["name"], "inputSchema": { "type": "object" } });
    for (key, value) in [
        ("description", text("description").or(text("summary")).map(Value::from)),
        ("title", text("displayName").map(Value::from)),
        ("inputSchema", case.get("inputSchema").cloned()),
        ("outputSchema", case.get("outputSchema").cloned()),
        ("strict", case.pointer("/sourceMeta/strict").cloned()),
        ("title", case.pointer("/sourceMeta/title").cloned()),
        ("_meta", case.pointer("/sourceMeta/meta").cloned()),
    ] {
        if let Some(value) = value {
            fields[key] = value;
        }
    }
    Tool::from_json(fields).unwrap()
}

/// Exports a tool in the formats of those systems.
fn described(target: &str, tool: &Tool) -> (Value, Vec<Loss>) {
    let name = tool.name();
    let described = match target {
        "openai" => openai::describe(tool, name, openai::Options::chat_completions()),
        "anthropic" => anthropic::describe(tool, name, anthropic::Options::default()),
        "gemini" => {
            let mut described = gemini::describe(tool, name, gemini::Options::default());
            described.json = json!({ "functionDeclarations": [described.json] });
            described
        }
        "a2a" => a2a::skill(tool),
        "mcp" => return (tool.to_mcp_json(), Vec::new()),
        other => panic!("{other}"),
    };
    (described.json, described.losses)
}

/// Returns a schema of an argument with the keyword, and with the keywords that it requires.
fn with(keyword: &str) -> Value {
    match keyword {
        "$ref" | "$defs" => json!({ "$ref": "#/$defs/d" }),
        "anyOf" | "oneOf" => json!({ keyword: [{ "type": "string" }, { "type": "integer" }] }),
        "allOf" => json!({ "allOf": [{ "type": "integer" }, { "minimum": 1 }] }),
        "not" => json!({ "type": "string", "not": { "const": "" } }),
        "pattern" => json!({ "type": "string", "pattern": "^a" }),
        "format" => json!({ "type": "string", "format": "date-time" }),
        "additionalProperties" => json!({ "type": "object", "additionalProperties": false }),
        "minimum" | "maximum" | "multipleOf" => json!({ "type": "number", keyword: 2 }),
        "minLength" | "maxLength" => json!({ "type": "string", keyword: 2 }),
        "minItems" | "maxItems" => json!({ "type": "array", keyword: 2, "items": { "type": "string" } }),
        "minProperties" | "maxProperties" => {
            json!({ "type": "object", "properties": { "a": { "type": "string" } }, keyword: 2 })
        }
        "uniqueItems" => json!({ "type": "array", "uniqueItems": true, "items": { "type": "string" } }),
        "enum" => json!({ "type": "string", "enum": ["a"] }),
        "const" | "default" | "title" => json!({ "type": "string", keyword: "a" }),
        "examples" => json!({ "type": "string", "examples": ["a"] }),
        "nullable" | "deprecated" | "readOnly" | "writeOnly" => json!({ "type": "string", keyword: true }),
        other => panic!("{other}"),
    }
}

fn tool_with(argument: Value) -> Tool {
    let schema = json!({
        "type": "object", "properties": { "x": argument }, "$defs": { "d": { "type": "string", "enum": ["inner"] } },
    });
    Tool::builder("t").input(schema).build().unwrap()
}

/// Returns true if the argument still has the keyword or an equivalent: references are replaced by their targets, and
/// conjunctions are merged.
fn keeps(json: &Value, keyword: &str) -> bool {
    let text = json.to_string();
    let otherwise = match keyword {
        "$ref" | "$defs" => "inner",
        "allOf" => "minimum",
        "oneOf" => "anyOf",
        "const" => "enum",
        keyword => keyword,
    };
    [keyword, otherwise].iter().any(|word| text.contains(&format!("\"{word}\"")))
}

/// The keywords for which the expectation differs, with the reasons.
const MORE: [(&str, &[&str], &str); 3] = [
    (
        "openai",
        &[
            "$ref",
            "$defs",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "pattern",
            "format",
            "title",
            "examples",
            "nullable",
            "deprecated",
            "readOnly",
            "writeOnly",
        ],
        "without `strict` a schema is a hint to the model, and any word may stand in it",
    ),
    (
        "anthropic",
        &[
            "$ref",
            "$defs",
            "oneOf",
            "allOf",
            "not",
            "pattern",
            "format",
            "title",
            "examples",
            "nullable",
            "deprecated",
            "readOnly",
            "writeOnly",
        ],
        "without `strict` a schema is a hint to the model, and any word may stand in it",
    ),
    (
        "gemini",
        &[
            "allOf",
            "oneOf",
            "const",
            "pattern",
            "minLength",
            "maxLength",
            "minProperties",
            "maxProperties",
            "default",
            "nullable",
        ],
        "the cases are about its `Schema`; JSON Schema of Gemini has other keywords, and others are moved to descriptions",
    ),
];

#[test]
fn each_keyword_is_kept_as_in_the_cases_or_better() {
    let document = document();
    let matrix = document["feature_matrix"].as_object().unwrap();
    assert_eq!(matrix.len(), document["feature_order"].as_array().unwrap().len());
    for (keyword, row) in matrix {
        let tool = tool_with(with(keyword));
        for (target, supported) in row.as_object().unwrap() {
            let (json, losses) = described(target, &tool);
            let differs = MORE.iter().any(|(other, keywords, _)| other == target && keywords.contains(&&**keyword));
            let kept = keeps(&json, keyword);
            assert_eq!(kept, supported.as_bool().unwrap() != differs, "{target} {keyword}: {json}");
            // A keyword that is not kept has a loss, at least that of the whole schema.
            let told = losses.iter().any(|loss| [keyword, "inputSchema"].contains(&&*loss.keyword));
            assert!(kept || told, "{target} {keyword}: {json} {losses:?}");
        }
    }
    ran(matrix.len() * 5);
}

/// The cases in which the export differs, with the reasons.
const DESCRIBED: [(&str, &str); 8] = [
    ("openai_filters", "a schema loses nothing without `strict`, and what a reference leads to is written out"),
    ("anthropic_filters", "a schema loses nothing without `strict`, and what a reference leads to is written out"),
    ("openai_strict", "strict mode refuses an object that may have any properties, so that it is not said"),
    ("a2a_skill_id", "a tool has one id, which is that of its skill; its tags are a list"),
    ("every_keyword_anthropic", "a schema loses nothing without `strict`"),
    ("description_fallback_summary_openai", "an object has `properties`, without which OpenAI refuses it"),
    ("description_fallback_display_anthropic", "an object has `properties`, as everywhere"),
    ("gemini_no_description_fallback", "all fall back to the title, and parameters are JSON Schema"),
];

#[test]
fn tools_are_exported_as_in_the_cases_or_better() {
    let document = document();
    let cases = cases(&document, "from_canonical");
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let (json, _) = described(case["target"].as_str().unwrap(), &canonical(&case["canonical"]));
        let differs = DESCRIBED.iter().any(|(other, _)| *other == id);
        // An exception has to differ.
        assert_eq!(json != case["expect"], differs, "{id}: {json}");
        for (at, expected) in case["asserted"].as_object().unwrap() {
            let keeps_more = at.starts_with('!') || ["/function/strict", "/id"].contains(&&**at);
            let got = json.pointer(at);
            let fits = match expected["len"].as_u64() {
                Some(len) => got.and_then(Value::as_array).is_some_and(|list| list.len() as u64 == len),
                None => got == Some(expected),
            };
            assert!((differs && keeps_more) || fits, "{id} {at}: {json}");
        }
    }
    ran(cases.len());
}

fn read(format: &str, json: &Value) -> Result<Tool, toolkit::tool::ParseToolError> {
    match format {
        "openai" => openai::read(json),
        "anthropic" => anthropic::read(json),
        "gemini" => gemini::read(json),
        "a2a" => a2a::read(json),
        "mcp" => Tool::from_mcp_json(json),
        other => panic!("{other}"),
    }
}

#[test]
fn tools_are_read_as_in_the_cases() {
    let document = document();
    let cases = cases(&document, "to_canonical");
    for case in cases {
        let tool = read(case["adapter"].as_str().unwrap(), &case["input"]).unwrap();
        let (json, meta) = (tool.to_json(), tool.meta().unwrap_or_default());
        for (field, expected) in case["expect"].as_object().unwrap() {
            let got = match field.as_str() {
                // The caller of the reader knows the source format.
                "sourceFormat" => continue,
                "sourceMeta" => &json!({ "strict": json["strict"] }),
                // Metadata of other systems stays in its place.
                field if meta.get(field).is_some() => &meta[field],
                field => &json[field],
            };
            assert_eq!(got, expected, "{field} of {case}");
        }
    }
    ran(cases.len());
}

#[test]
fn exports_of_tools_that_were_read_equal_the_input() {
    let document = document();
    let round_trips = cases(&document, "round_trip");
    for case in round_trips {
        let format = case["format"].as_str().unwrap();
        let mut input = case["input"].clone();
        let again = |input: &Value| described(format, &read(format, input).unwrap()).0;
        match format {
            "a2a-card" => {
                let card = a2a::read_card(&input).unwrap();
                let skills = Catalog::new(card.skills.into_iter().map(Result::unwrap)).unwrap();
                assert_eq!(a2a::card(&card.agent, &skills).json, input);
                continue;
            }
            "openai" => {
                // Strict mode requires all properties and does not support some keywords, so that the tool is exported
                // in that mode and differs from the input.
                let strict = again(&input);
                assert_eq!(strict["function"]["strict"], true);
                assert_eq!(strict["function"]["parameters"]["required"], json!(["input", "count"]));
                assert_eq!(again(&strict), strict);
                input["function"].as_object_mut().unwrap().shift_remove("strict");
            }
            _ => {}
        }
        assert_eq!(again(&input), input, "{format}");
    }
    let in_mcp = cases(&document, "mcp_round_trip");
    for case in in_mcp {
        if let Some(input) = case.get("input_canonical") {
            let json = canonical(input).to_mcp_json();
            for (field, expected) in case["expect_tool"].as_object().unwrap() {
                assert_eq!(json[field], *expected);
            }
            continue;
        }
        // Some exports duplicate a title in the annotations.
        assert_eq!(Tool::from_json(&case["input"]).unwrap().to_json(), case["input"]);
        assert_eq!(Tool::from_mcp_json(&case["input"]).unwrap().to_mcp_json(), case["input"]);
    }
    ran(round_trips.len() + in_mcp.len());
}

#[test]
fn features_with_warnings_are_kept_or_reported_as_losses() {
    let document = document();
    let cases = cases(&document, "warnings");
    for case in cases {
        let tool = read(case["from"].as_str().unwrap(), &case["tool"]).unwrap();
        let (json, losses) = match case["to"].as_str().unwrap() {
            // Only Responses supports output schemas.
            "openai" => {
                let described =
                    openai::describe(&tool, tool.name(), openai::Options::responses().with_output_schemas());
                (described.json, described.losses)
            }
            target => described(target, &tool),
        };
        for warned in case["expect_all"].as_array().unwrap() {
            let feature = warned["feature"].as_str().unwrap();
            // References are replaced by their targets, so that there are no definitions.
            let kept = json.to_string().contains(&format!("\"{feature}\":"));
            let written_out = ["$ref", "$defs"].contains(&feature) && json.to_string().contains("^[A-Z]");
            let is_told = losses.iter().any(|loss| loss.keyword == feature);
            assert!(kept || written_out || is_told, "{feature} of {}: {json}", case["id"]);
        }
        assert!(losses.iter().all(|loss| loss.side == Side::Record), "{}: {losses:?}", case["id"]);
    }
    ran(cases.len());
}

#[test]
fn invalid_tools_are_errors_as_in_the_cases() {
    /// A `Tool` cannot be null.
    const NO_TOOL: &str = "null tool";

    let document = document();
    let cases = cases(&document, "errors");
    let mut n_ran = 0;
    for case in cases {
        let adapter = case["adapter"].as_str().unwrap();
        let input = match case["input"].as_str().unwrap() {
            NO_TOOL => continue,
            "null input" => json!(null),
            "unsupported type (a string)" => json!("search"),
            "missing name" => json!({ "description": "nobody", "inputSchema": { "type": "object" } }),
            "outputSchema is a string" => {
                json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": "text" })
            }
            "a tool with two functionDeclarations" => {
                json!({ "functionDeclarations": [{ "name": "a" }, { "name": "b" }] })
            }
            "a tool with zero functionDeclarations" => json!({ "functionDeclarations": [] }),
            "provider without supportedInterfaces in sourceMeta" => {
                let card = json!({ "name": "n", "description": "d", "version": "1.0.0", "skills": [] });
                let error = a2a::read_card(&card).unwrap_err().to_string();
                assert!(error.starts_with("invalid agent card: missing `url` in `supportedInterfaces`"), "{error}");
                n_ran += 1;
                continue;
            }
            other => panic!("{other}"),
        };
        let error = read(adapter, &input).unwrap_err().to_string();
        assert!(error.starts_with("not a tool:"), "{case}: {error}");
        n_ran += 1;
    }
    assert_eq!(n_ran, cases.len() - 2);
    ran(n_ran);
}

/// Returns a schema of an argument with a feature that was lost without a report, and its keyword.
fn once_lost(what: &str) -> (Value, &str) {
    match what {
        "type as an array" => (json!({ "type": ["string", "null"] }), "type"),
        "additionalProperties as a schema" => {
            (json!({ "type": "object", "additionalProperties": { "type": "string" } }), "additionalProperties")
        }
        "exclusiveMinimum" | "exclusiveMaximum" => (json!({ "type": "number", what: 3 }), what),
        "patternProperties" => (json!({ "type": "object", what: { "^a": { "type": "string" } } }), what),
        "propertyNames" => (json!({ "type": "object", what: { "maxLength": 3 } }), what),
        "prefixItems" => (json!({ "type": "array", what: [{ "type": "string" }] }), what),
        "items as boolean or array" => (json!({ "type": "array", "items": false }), "items"),
        "contains" => (json!({ "type": "array", what: { "type": "string" } }), what),
        "minContains" | "maxContains" => (json!({ "type": "array", "contains": { "const": 1 }, what: 2 }), what),
        "if/then/else" => (json!({ "if": { "type": "string" }, "then": { "minLength": 2 } }), "if"),
        "dependentRequired" => (json!({ "type": "object", what: { "a": ["b"] } }), what),
        "dependentSchemas" => (json!({ "type": "object", what: { "a": { "required": ["b"] } } }), what),
        "unevaluatedProperties" => (json!({ "type": "object", what: { "type": "string" } }), what),
        "unevaluatedItems" => (json!({ "type": "array", what: { "type": "string" } }), what),
        "$id" => (json!({ "type": "string", what: "https://example.com/x" }), what),
        "$anchor" => (json!({ "type": "string", what: "x" }), what),
        "$dynamicRef" => (json!({ "$dynamicAnchor": "n", "type": "array", "items": { what: "#n" } }), "items"),
        "$schema" => (json!({ "type": "string", what: "https://json-schema.org/draft/2020-12/schema" }), what),
        "$comment" | "contentEncoding" | "contentMediaType" => (json!({ "type": "string", what: "c" }), what),
        "definitions" => (json!({ "$ref": "#/$defs/d" }), "$ref"),
        "boolean subschemas" => (json!({ "type": "object", "properties": { "a": false } }), "properties"),
        "const: null" => (json!({ "const": null }), "const"),
        "default: null" => (json!({ "type": ["string", "null"], "default": null }), "default"),
        "x-* extensions" => (json!({ "type": "string", "x-order": 1 }), "x-order"),
        other => panic!("{other}"),
    }
}

#[test]
fn features_lost_without_a_warning_are_kept_or_reported_as_losses() {
    let document = document();
    let keywords = document["silent_loss"]["keywords_lost_with_no_warning"].as_array().unwrap();
    for what in keywords {
        let (schema, keyword) = once_lost(what.as_str().unwrap());
        let tool = tool_with(schema);
        let silent = fields::silent(&tool, &[format!("/inputSchema/properties/x/{keyword}")]);
        assert!(silent.is_empty(), "{silent:?}");
    }
    ran(keywords.len());
}

#[test]
fn there_is_a_module_for_each_registered_adapter() {
    let document = document();
    // Adapters are functions, so that there is neither a registry nor an unknown adapter.
    let names = document["registry"]["default_names_sorted"].as_array().unwrap();
    for name in names {
        assert!(ADAPTERS.iter().any(|(adapter, _)| adapter.split(' ').next() == name.as_str()), "{name}");
    }
    // Features that the documentation promised without an implementation.
    let rows = cases(&document, "docs_vs_code");
    for row in rows {
        for keyword in row["row"].as_str().unwrap().split('/') {
            for (target, _) in row["docs"].as_object().unwrap() {
                assert!(keeps(&described(target, &tool_with(with(keyword))).0, keyword), "{target} {keyword}");
            }
        }
    }
    ran(names.len() + rows.len());
}
