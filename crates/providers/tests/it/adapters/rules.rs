//! Rules of the providers whose violation costs the whole request: no lowered schema breaks them.

use proptest::prelude::*;

use toolkit_providers::{Rule, restore};

use super::recursive::document;
use super::*;

/// The dialects with rules.
const RULED: [Dialect; 2] = [Dialect::OPENAI, Dialect::OPENAI_STRICT];

/// All dialects of providers.
const PROVIDERS: [Dialect; 6] = [
    Dialect::OPENAI,
    Dialect::OPENAI_STRICT,
    Dialect::ANTHROPIC,
    Dialect::ANTHROPIC_STRICT,
    Dialect::BEDROCK,
    Dialect::GEMINI,
];

/// The dialects with a rule about the names of arguments.
const PLAIN: [Dialect; 3] = [Dialect::ANTHROPIC, Dialect::ANTHROPIC_STRICT, Dialect::BEDROCK];

/// zod's pattern of an e-mail address, and pydantic's of a decimal.
const LOOKAROUND: [&str; 2] = [
    r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$",
    r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$",
];

/// Returns the rules that a schema and its subschemas break.
fn broken(schema: &Value, at: &str) -> Vec<String> {
    let Value::Object(keywords) = schema else { return Vec::new() };
    let is_of = |name: &str| {
        let is_name = |value: &Value| value.as_str().is_some_and(|value| value.eq_ignore_ascii_case(name));
        let kind = keywords.get("type");
        kind.is_some_and(|kind| is_name(kind) || kind.as_array().is_some_and(|names| names.iter().any(is_name)))
    };
    let text = |keyword: &str| keywords.get(keyword).and_then(Value::as_str).unwrap_or_default();
    let mut broken = Vec::new();
    let mut require = |holds: bool, rule: &str| broken.extend((!holds).then(|| format!("{at}: {rule}")));
    require(!is_of("array") || keywords.get("items").is_some_and(Value::is_object), "array schema missing items");
    let patterns = keywords.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
    let patterns = patterns.map(|(pattern, _)| pattern.as_str()).chain([text("pattern")]);
    let is_regex = |pattern: &str| !pattern.replace("(?:", "(").contains("(?") && !pattern.contains("\\1");
    require(patterns.into_iter().all(is_regex), "is not a regex");
    if at.is_empty() {
        let choices = ["oneOf", "anyOf", "allOf", "enum", "const", "not"];
        require(
            !choices.iter().any(|keyword| keywords.contains_key(*keyword)),
            "must not have choices at the top level",
        );
    }
    for (keyword, value) in keywords {
        let at = format!("{at}/{keyword}");
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs" | "dependentSchemas", Value::Object(named)) => {
                broken.extend(named.iter().flat_map(|(name, sub)| self::broken(sub, &format!("{at}/{name}"))));
            }
            ("enum" | "const" | "default" | "examples", _) => {}
            (_, Value::Array(list)) => broken.extend(list.iter().flat_map(|sub| self::broken(sub, &at))),
            (_, sub) => broken.extend(self::broken(sub, &at)),
        }
    }
    broken
}

fn check(original: &Value) -> Result<(), TestCaseError> {
    for dialect in &PROVIDERS {
        let lowered = input(original, dialect);
        let rejected = lowered.losses.iter().filter(|loss| loss.effect == Effect::Rejected && loss.keyword != "size");
        let mut broken = if RULED.contains(dialect) { broken(&lowered.schema, "") } else { Vec::new() };
        broken.extend(rejected.map(ToString::to_string));
        prop_assert!(broken.is_empty(), "{}: {broken:?}\n{original:#}\nis\n{:#}", dialect.name, lowered.schema);
    }
    Ok(())
}

/// Returns the losses of the argument.
fn losses(lowered: &Lowered) -> Vec<(&str, Effect)> {
    let of_argument = lowered.losses.iter().filter(|loss| loss.pointer.starts_with("/properties/x"));
    of_argument.map(|loss| (&*loss.keyword, loss.effect)).collect()
}

/// Returns the schema of a tool with one argument.
fn argument(schema: Value) -> Value {
    json!({ "type": "object", "properties": { "x": schema }, "required": ["x"], "additionalProperties": false })
}

proptest! {
    #![proptest_config(test_support::random(300))]

    #[test]
    fn no_lowered_schema_breaks_a_rule_of_its_provider(original in document()) {
        if Schema::from_value(original.clone()).is_ok() {
            check(&original)?;
        }
    }
}

#[test]
fn no_rule_is_broken_at_any_place_and_each_change_is_reported() {
    let list = json!({ "type": "array" });
    let open = json!({ "type": "object" });
    let mut schemas = vec![
        list.clone(),
        json!({ "type": ["array", "null"], "maxItems": 3 }),
        json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }], "items": false }),
        json!({ "type": "array", "unevaluatedItems": false }),
        json!({ "type": "array", "contains": { "type": "string" }, "unevaluatedItems": false }),
        json!({ "allOf": [list], "unevaluatedItems": false }),
        open.clone(),
        json!({ "type": ["object", "null"], "properties": {} }),
        json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a", "b"] }),
        json!({}),
        json!(true),
        json!({ "description": "Any", "default": 1 }),
        json!({ "description": "Either", "anyOf": [{ "type": "string" }, { "type": "integer" }, { "type": "null" }] }),
        json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
            "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
        json!({ "type": "object", "anyOf": [{ "type": "object", "properties": { "a": open } }, { "type": "object" }] }),
        json!({ "$ref": "#", "pattern": "(?=a)" }),
    ];
    for format in ["uri", "email", "uuid", "date", "time", "date-time", "enum", "int32", "byte"] {
        schemas.push(json!({ "type": "string", "format": format }));
    }
    for format in ["uint32", "int64", "double", "date-time"] {
        schemas.push(json!({ "type": "integer", "format": format }));
    }
    for pattern in LOOKAROUND.into_iter().chain([r"(a)\1"]) {
        let pattern = json!({ "type": "string", "pattern": pattern });
        let text = pattern["pattern"].as_str().unwrap();
        schemas.push(json!({ "type": "object", "patternProperties": { text: pattern } }));
        schemas.push(json!({ "type": "object", "propertyNames": pattern }));
        schemas.push(json!({ "type": "string", "not": pattern }));
        schemas.push(json!({ "type": "string", "if": pattern, "then": { "minLength": 1 } }));
        schemas.push(json!({ "type": "array", "contains": pattern, "items": {} }));
        schemas.push(json!({ "type": "object", "dependentSchemas": { "a": { "properties": { "b": pattern } } } }));
        schemas.push(pattern);
    }
    let nothing = json!({ "type": "object", "required": ["a"], "additionalProperties": false });
    check(&json!({ "$defs": { "A": { "allOf": [{ "$ref": "#/$defs/B" }] }, "B": nothing }, "$ref": "#/$defs/A" }))
        .unwrap();
    let patterns = json!({ "^a": { "anyOf": [{ "anyOf": [{ "type": "array", "items": false }] }] } });
    check(&json!({ "type": "object", "patternProperties": patterns })).unwrap();
    for schema in schemas {
        let nested = [
            schema.clone(),
            json!({ "type": "array", "items": schema }),
            json!({ "anyOf": [schema, { "type": "null" }] }),
            json!({ "oneOf": [{ "type": "integer" }, schema] }),
            json!({ "allOf": [schema, { "description": "Again" }] }),
            json!({ "type": "object", "properties": { "y": schema }, "additionalProperties": schema }),
        ];
        for schema in nested {
            check(&argument(schema)).unwrap();
        }
    }
}

#[test]
fn a_pattern_with_look_around_is_moved_to_the_description_and_a_loss_reports_it() {
    for dialect in RULED {
        for pattern in LOOKAROUND {
            let lowered = input(&argument(json!({ "type": "string", "pattern": pattern })), &dialect);
            let argument = &lowered.schema["properties"]["x"];
            assert_eq!(argument["description"], format!("Matches the pattern `{pattern}`."), "{}", dialect.name);
            assert_eq!(losses(&lowered), [("pattern", Effect::Widened)], "{}", dialect.name);
        }
        let kept = input(&argument(json!({ "type": "string", "pattern": "^[a-z]+$" })), &dialect);
        assert_eq!((losses(&kept).len(), &kept.schema["properties"]["x"]["pattern"]), (0, &json!("^[a-z]+$")));
    }
}

#[test]
fn an_array_without_items_has_items_of_any_value_or_is_not_strict() {
    let tool = Tool::builder("t").input(argument(json!({ "type": "array" }))).build().unwrap();
    let described = openai::describe(&tool, "t", openai::Options::responses().strict());
    assert_eq!(described.json["strict"], false);
    assert_eq!(described.json["parameters"]["properties"]["x"], json!({ "type": "array", "items": {} }));
    assert_eq!(described.losses, []);
    assert!(described.not_strict[0].to_string().starts_with("input /properties/x/items: `type` is missing"));
}

#[test]
fn keywords_that_the_root_must_not_have_are_removed_and_reported() {
    let not = json!({ "required": ["a"] });
    for (keyword, value) in [("not", not), ("enum", json!([{ "x": "a" }])), ("const", json!({ "x": "a" }))] {
        let mut schema = argument(json!({ "type": "string" }));
        schema[keyword] = value;
        for dialect in [Dialect::OPENAI, Dialect::OPENAI_STRICT, Dialect::ANTHROPIC] {
            let lowered = input(&schema, &dialect);
            assert!(lowered.schema.get(keyword).is_none());
            let losses: Vec<_> = lowered.losses.iter().map(|loss| (&*loss.keyword, loss.effect)).collect();
            assert!(losses.contains(&(keyword, Effect::Widened)), "{} {keyword}: {losses:?}", dialect.name);
        }
    }
}

#[test]
fn an_argument_with_a_name_that_a_provider_rejects_is_renamed_and_restored() {
    let long = "x".repeat(65);
    for name in ["filter[status]", "", "ä", "$top", "a b", "a/b", &long] {
        let properties = json!({ name: { "type": "string" }, "a.b-c_1": { "type": "string" } });
        for required in [json!([]), json!([name, "a.b-c_1"])] {
            let direct = json!({ "type": "object", "properties": properties, "required": required,
                "additionalProperties": false });
            for schema in [direct.clone(), json!({ "anyOf": [direct] }), json!({ "allOf": [direct] })] {
                for dialect in PLAIN {
                    let lowered = input(&schema, &dialect);
                    let names: Vec<&String> = lowered.schema["properties"].as_object().unwrap().keys().collect();
                    let sent = *names.iter().find(|sent| **sent != "a.b-c_1").unwrap();
                    assert!(sent.len() <= 64 && !sent.contains(['[', '$', ' ', '/', 'ä']), "{sent}");
                    assert!(required == json!([]) || lowered.schema["required"].to_string().contains(sent));
                    let at = toolkit::schema::child("/properties", name);
                    let effects: Vec<Effect> =
                        lowered.losses.iter().filter(|loss| loss.pointer == at).map(|loss| loss.effect).collect();
                    assert_eq!(effects, [Effect::MetadataOnly], "{}", dialect.name);
                    let arguments = json!({ sent: "open", "a.b-c_1": "x" });
                    let own = restore(&Schema::from_value(schema.clone()).unwrap(), arguments);
                    assert_eq!(own, json!({ name: "open", "a.b-c_1": "x" }));
                }
            }
        }
    }
}

#[test]
fn a_name_that_a_condition_refers_to_is_left_out() {
    let properties = json!({ "$top": { "type": "string" }, "b": { "type": "string" } });
    let schema = json!({ "type": "object", "properties": properties, "dependentRequired": { "b": ["$top"] } });
    let lowered = input(&schema, &Dialect::ANTHROPIC);
    assert_eq!(lowered.schema["properties"], json!({ "b": { "type": "string" } }));
    let effects: Vec<Effect> = lowered.losses.iter().map(|loss| loss.effect).collect();
    assert_eq!(effects, [Effect::Narrowed, Effect::Widened]);
}

#[test]
fn an_open_object_also_accepts_a_renamed_argument_under_its_own_name() {
    let schema = json!({ "type": "object", "properties": { "$top": { "type": "integer" } } });
    let lowered = input(&schema, &Dialect::BEDROCK);
    let effects: Vec<Effect> = lowered.losses.iter().map(|loss| loss.effect).collect();
    assert_eq!(effects, [Effect::MetadataOnly, Effect::Widened]);
}

#[test]
fn examples_have_the_renamed_arguments() {
    let properties = json!({ "$top": { "type": "integer" }, "$filter": { "type": ["object", "null"] } });
    let tool = Tool::builder("t").input(json!({ "type": "object", "properties": properties }));
    let tool = tool.examples([json!({ "$top": 3, "$filter": { "$gt": 1 } })]).build().unwrap();
    let described = anthropic::describe(&tool, "t", anthropic::Options::default());
    let example = described.json["input_examples"][0].clone();
    let accepts = jsonschema::validator_for(&described.json["input_schema"]).unwrap();
    let sent = described.json["input_schema"]["properties"].as_object().unwrap();
    assert!(accepts.is_valid(&example) && example.as_object().unwrap().keys().all(|name| sent.contains_key(name)));
    assert_eq!(restore(tool.input(), example), tool.examples()[0]);
}

#[test]
fn real_tools_break_no_rule() {
    let tools: Vec<_> = test_support::real_tools().into_iter().filter(|tool| tool.input().check().is_ok()).collect();
    for tool in &tools {
        for dialect in &RULED {
            let lowered = input(tool.input().as_value(), dialect);
            assert_eq!(broken(&lowered.schema, ""), Vec::<String>::new(), "{}: {}", dialect.name, tool.id());
        }
        for (adapter, describe) in ADAPTERS {
            let losses = describe(tool).map(|(_, losses)| losses).unwrap_or_default();
            let rejected: Vec<&Loss> = losses.iter().filter(|loss| loss.effect == Effect::Rejected).collect();
            assert!(rejected.is_empty(), "{adapter} {}: {rejected:?}", tool.id());
        }
    }
    test_support::ran(tools.len());
}

/// For each rule, a definition that breaks it.
fn breaking() -> Vec<(&'static str, Dialect, Value)> {
    let (openai, strict) = (Dialect::OPENAI, Dialect::OPENAI_STRICT);
    let (anthropic, anthropic_strict) = (Dialect::ANTHROPIC, Dialect::ANTHROPIC_STRICT);
    let x = |schema: Value| json!({ "type": "object", "properties": { "x": schema }, "required": ["x"] });
    vec![
        ("object", openai.clone(), json!({ "type": "null", "properties": {} })),
        ("root-properties", openai.clone(), json!({ "type": "object" })),
        ("root-choice", anthropic.clone(), json!({ "type": "object", "oneOf": [{ "required": ["a"] }] })),
        ("property-names", anthropic.clone(), json!({ "type": "object", "properties": { "filter[id]": {} } })),
        ("draft", anthropic, x(json!({ "type": "integer", "exclusiveMinimum": true }))),
        ("items", openai.clone(), x(json!({ "type": ["array", "null"] }))),
        ("pattern", openai, x(json!({ "type": "string", "pattern": LOOKAROUND[0] }))),
        ("closed", strict.clone(), x(json!({ "type": "object", "properties": {} }))),
        ("required", strict.clone(), json!({ "type": "object", "properties": { "x": { "type": "null" } } })),
        ("keywords", strict.clone(), x(json!({ "type": "object", "propertyNames": {} }))),
        ("format", strict.clone(), x(json!({ "type": "string", "format": "uri" }))),
        ("typed", strict.clone(), x(json!({ "description": "Any." }))),
        ("reference", strict.clone(), x(json!({ "$ref": "#", "description": "Again." }))),
        ("size", strict, Value::Null),
        ("one-type", anthropic_strict.clone(), x(json!({ "type": ["string", "null"] }))),
        ("min-items", anthropic_strict, x(json!({ "type": "array", "items": {}, "minItems": 2 }))),
    ]
}

#[test]
fn each_rule_has_a_source_and_finds_the_definition_that_breaks_it() {
    let mut seen: Vec<&str> = Vec::new();
    for (name, mut dialect, mut schema) in breaking() {
        if name == "size" {
            dialect.limits.properties = 1;
            schema = json!({ "type": "object", "properties": { "a": {}, "b": {} } });
        }
        let rule =
            dialect.rules().map(|(rule, _)| rule).find(|rule| rule.name() == name).unwrap_or_else(|| panic!("{name}"));
        assert!(!rule.broken_by(&dialect, "t", None, &schema).is_empty(), "{name}");
        seen.push(name);
    }
    let broken = |rule: Rule, dialect: &Dialect, name: &str, description: Option<&str>| {
        rule.broken_by(dialect, name, description, &json!({ "type": "object", "properties": {} }))
    };
    let long = "x".repeat(65);
    for name in ["", "a b", "mail:send", "é", &long] {
        assert_eq!(broken(Rule::ToolName, &Dialect::OPENAI, name, None), ["/name"], "{name}");
    }
    for name in ["", "1st", "-x", &long] {
        assert_eq!(broken(Rule::FunctionName, &Dialect::GEMINI, name, None), ["/name"], "{name}");
    }
    assert_eq!(broken(Rule::Description, &Dialect::BEDROCK, "t", Some("")), ["/description"]);
    seen.extend(["tool-name", "function-name", "description"]);
    for dialect in &PROVIDERS {
        for (rule, source) in dialect.rules() {
            assert!(seen.contains(&rule.name()), "no definition breaks {}", rule.name());
            assert!(source.starts_with("https://") || source.contains(" of "), "{source}");
        }
    }
}

#[test]
fn what_cannot_be_repaired_is_rejected_and_can_be_left_out() {
    let described = |name: &str| {
        let tool = Tool::builder("t").description("Does it.").build().unwrap();
        let losses = [
            openai::describe(&tool, name, openai::Options::responses()).losses,
            anthropic::describe(&tool, name, anthropic::Options::default()).losses,
            gemini::describe(&tool, name, gemini::Options::default()).losses,
            bedrock::describe(&tool, name, bedrock::Options::default()).losses,
        ];
        losses.map(|losses| losses.iter().any(|loss| loss.effect == Effect::Rejected && loss.side == Side::Record))
    };
    assert_eq!((described("a b"), described("a-b")), ([true; 4], [false; 4]));

    let tool = |name| Tool::builder(name).namespace("n").build().unwrap();
    let catalog = Catalog::new([tool("keep"), tool("leave")]).unwrap();
    for namespaced in [false, true] {
        let mut options = openai::Options::responses();
        options.namespaces = namespaced;
        let mut export = openai::tools(&catalog, Naming::NamespaceName, options).unwrap();
        let loss = Loss::new(Side::Record, "/name", "tool-name", Effect::Rejected, "is wrong");
        export.losses.iter_mut().find(|(id, _)| id.name() == "leave").unwrap().1.push(loss);
        assert_eq!(export.rejected().count(), 1);
        let kept = export.without_rejected();
        assert!(kept.json.to_string().contains("keep") && !kept.json["tools"].to_string().contains("leave"));
        let names: Vec<&str> = kept.names.iter().map(|name| name.name()).collect();
        assert_eq!(names, [if namespaced { "keep" } else { "n_keep" }]);
    }
}
