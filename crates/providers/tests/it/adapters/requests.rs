//! The limits of a request, and the selection of strict tools.

use serde_json::{Map, Value, json};
use toolkit::catalog::Naming;
use toolkit::{Catalog, Tool};
use toolkit_providers::{Export, RequestLimits, Usage, anthropic, gemini, openai};

/// Returns a tool with the given numbers of optional parameters and of parameters with several types.
fn tool(name: &str, n_optional: usize, n_unions: usize) -> Tool {
    let mut properties = Map::new();
    for nth in 0..n_optional {
        properties.insert(format!("o{nth}"), json!({ "type": "string", "description": "One." }));
    }
    let mut required = Vec::new();
    for nth in 0..n_unions {
        let union = json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] });
        properties.insert(format!("u{nth}"), union);
        required.push(format!("u{nth}"));
    }
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    Tool::builder(name.to_owned()).description("Does it.").input(schema).build().unwrap()
}

fn strict(tools: Vec<Tool>) -> Export {
    let catalog = Catalog::new(tools).unwrap();
    anthropic::tools(&catalog, Naming::Name, anthropic::Options::default().strict()).unwrap()
}

/// Returns the names of the strict tools.
fn strict_names(export: &Export) -> Vec<&str> {
    let tools = export.json.as_array().unwrap().iter();
    tools.filter(|tool| tool["strict"] == true).map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[track_caller]
fn usage<'e>(export: &'e Export, what: &str) -> &'e Usage {
    export.usage.iter().find(|usage| usage.what == what).unwrap_or_else(|| panic!("{what}: {:?}", export.usage))
}

#[test]
fn twenty_tools_are_strict_and_the_others_report_the_reason() {
    let names: Vec<String> = (0..25).map(|nth| format!("tool{nth:02}")).collect();
    let export = strict(names.iter().map(|name| tool(name, 0, 0)).collect());
    assert_eq!(strict_names(&export), names[..20]);
    let (given_up, why) = &export.not_strict[0];
    assert_eq!((export.not_strict.len(), given_up.name()), (5, "tool20"));
    let said = "`strict` is given up: a request to Anthropic has room for 20 strict tools";
    assert_eq!(why.last().unwrap().to_string(), said);
    let tools = usage(&export, "strict tools");
    assert_eq!((tools.count, tools.limit, tools.is_over()), (25, 20, true));
    assert_eq!(tools.to_string(), "Anthropic: 25 strict tools, of at most 20");
    // The other tools are exported as without strict mode.
    let last = export.json.as_array().unwrap().last().unwrap();
    assert_eq!(last.get("strict"), None);
}

#[test]
fn tools_that_were_read_as_strict_share_the_limits() {
    let read = |nth: usize| {
        let json = json!({
            "name": format!("tool{nth:02}"),
            "description": "Does it.",
            "strict": true,
            "input_schema": { "type": "object", "properties": {}, "additionalProperties": false },
        });
        anthropic::read(&json).unwrap()
    };
    let catalog = Catalog::new((0..22).map(read)).unwrap();
    for options in [anthropic::Options::default(), anthropic::Options::default().strict()] {
        let export = anthropic::tools(&catalog, Naming::Name, options).unwrap();
        assert_eq!((strict_names(&export).len(), export.not_strict.len()), (20, 2));
        assert_eq!(usage(&export, "strict tools").count, 22);
    }
}

#[test]
fn strict_mode_prefers_tools_that_write_then_those_with_the_smallest_share() {
    let reads = |name: &str, n_optional| {
        let Value::Object(mut record) = tool(name, n_optional, 0).to_json() else { unreachable!() };
        record.insert("annotations".to_owned(), json!({ "readOnlyHint": true }));
        Tool::from_json(Value::Object(record)).unwrap()
    };
    // There is room for 24 optional parameters.
    let export =
        strict(vec![reads("a_reads", 1), tool("b_large", 20, 0), tool("c_small", 10, 0), tool("d_small", 10, 0)]);
    assert_eq!(strict_names(&export), ["a_reads", "c_small", "d_small"]);
    let export = strict(vec![reads("a_reads", 5), tool("b_large", 20, 0)]);
    assert_eq!(strict_names(&export), ["b_large"]);
    let optional = usage(&export, "optional parameters of strict tools");
    assert_eq!((optional.count, optional.limit), (25, 24));
    let takes: Vec<(&str, usize)> = optional.tools.iter().map(|(id, takes)| (id.name(), *takes)).collect();
    assert_eq!(takes, [("b_large", 20), ("a_reads", 5)]);
}

#[test]
fn parameters_of_several_types_are_counted_at_every_level() {
    let export = strict(vec![tool("one", 0, 10), tool("other", 0, 7)]);
    assert_eq!(usage(&export, "parameters of several types of strict tools").count, 17);
    assert_eq!(strict_names(&export), ["other"]);
    let schema = json!({
        "type": "object",
        "properties": { "place": {
            "type": "object", "properties": { "lat": { "type": "number" } }, "additionalProperties": false,
        } },
        "additionalProperties": false,
    });
    let nested = Tool::builder("nested").description("Does it.").input(schema).build().unwrap();
    assert_eq!(usage(&strict(vec![nested]), "optional parameters of strict tools").count, 2);
}

#[test]
fn the_order_of_tools_does_not_matter() {
    let tools = || (0..30).map(|nth| tool(&format!("tool{nth:02}"), nth % 4, nth % 3)).collect::<Vec<_>>();
    let mut reversed = tools();
    reversed.reverse();
    assert_eq!(strict(tools()), strict(reversed));
}

#[test]
fn strict_tools_stay_within_every_limit() {
    for step in 1..12 {
        let tools = (0..40).map(|nth| tool(&format!("tool{nth:02}"), (nth * step) % 7, (nth * 3 + step) % 5)).collect();
        let export = strict(tools);
        let strict_tools: Vec<&Value> =
            export.json.as_array().unwrap().iter().filter(|tool| tool["strict"] == true).collect();
        let sum = |prefix: &str| -> usize {
            let names =
                strict_tools.iter().flat_map(|tool| tool["input_schema"]["properties"].as_object().unwrap().keys());
            names.filter(|name| name.starts_with(prefix)).count()
        };
        assert!(strict_tools.len() <= 20 && sum("o") <= 24 && sum("u") <= 16 && !strict_tools.is_empty());
        assert_eq!(strict_tools.len() + export.not_strict.len(), 40);
    }
}

#[test]
fn a_host_can_set_other_limits() {
    let catalog = Catalog::new((0..25).map(|nth| tool(&format!("tool{nth:02}"), 0, 0))).unwrap();
    let mut limits = RequestLimits::NONE;
    limits.name = "Mine";
    limits.strict_tools = Some(2);
    let options = anthropic::Options::default().strict();
    let export = anthropic::tools_within(&limits, &catalog, Naming::Name, options).unwrap();
    assert_eq!((strict_names(&export).len(), export.usage.len(), export.usage[0].target), (2, 1, "Mine"));
}

#[test]
fn too_many_tools_and_long_names_are_reported() {
    let catalog = Catalog::new((0..600).map(|nth| tool(&format!("tool{nth:03}"), 0, 0))).unwrap();
    let openai = openai::tools(&catalog, Naming::Name, openai::Options::default()).unwrap();
    let gemini = gemini::tools(&catalog, Naming::Name, gemini::Options::default()).unwrap();
    for (export, limit) in [(&openai, 128), (&gemini, 512)] {
        let tools = usage(export, "tools");
        assert_eq!((tools.count, tools.limit, tools.is_over()), (600, limit, true));
        let names = usage(export, "characters of a name");
        assert_eq!((names.count, names.limit, names.is_over()), (7, 64, false));
    }
}

#[test]
fn the_largest_schema_is_reported_for_each_limit_of_openais_strict_mode() {
    let values: Vec<String> = (0..300).map(|nth| format!("{nth:0>60}")).collect();
    let schema = json!({
        "type": "object",
        "properties": { "choice": { "type": "string", "enum": values } },
        "required": ["choice"],
        "additionalProperties": false,
    });
    let large = Tool::builder("large").description("Does it.").input(schema).build().unwrap();
    let catalog = Catalog::new([large, tool("small", 2, 0)]).unwrap();
    let export = openai::tools(&catalog, Naming::Name, openai::Options::responses().strict()).unwrap();
    let long = usage(&export, "characters in one long enum");
    assert_eq!((long.target, long.count, long.limit), ("OpenAI strict", 18_000, 15_000));
    assert_eq!(usage(&export, "properties").count, 2);
    assert_eq!(usage(&export, "enum values").tools[0].0.name(), "large");
    // The tool is therefore not strict, and the reason is reported.
    assert_eq!(strict_names(&export), ["small"]);
    assert!(export.not_strict[0].1[0].reason.contains("15000 characters in one long enum, but the schema has 18000"));
}
