//! No loss is unreported: for each change of a tool, an adapter changes its output or reports a loss with the field.

use test_support::{ran, real_tools, sample};

use super::*;

/// Returns a tool with every field.
fn rich() -> Value {
    serde_json::from_str(include_str!("rich.json")).unwrap()
}

/// Returns a JSON Pointer to each value below the root.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value)).collect()
        }
        Value::Array(list) => list.iter().enumerate().map(|(idx, value)| (idx.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (key, value) in members {
        let at = format!("{at}/{key}");
        places(value, &at, all);
        all.push(at);
    }
}

/// Returns copies of the tool without the value, and with other values of the same type.
fn changes(whole: &Value, at: &str) -> Vec<Value> {
    let (parent, key) = at.rsplit_once('/').unwrap();
    let mut without = whole.clone();
    match without.pointer_mut(parent).unwrap() {
        Value::Object(map) => drop(map.shift_remove(&key.replace("~1", "/").replace("~0", "~"))),
        Value::Array(list) => drop(list.remove(key.parse().unwrap())),
        _ => unreachable!(),
    }
    let there = whole.pointer(at).unwrap();
    let others = match there {
        Value::Bool(value) => vec![json!(!value)],
        Value::Number(number) => vec![json!(number.as_u64().unwrap_or_default() + 1)],
        Value::String(text) => vec![json!(format!("{text}x")), json!(text.replace('.', "_"))],
        _ => vec![],
    };
    let other = |value| {
        let mut changed = whole.clone();
        *changed.pointer_mut(at).unwrap() = value;
        changed
    };
    others.into_iter().map(other).chain([without]).collect()
}

/// Returns true if a loss refers to the pointer: by the name of the field or, in a schema, by a keyword above it.
fn names(losses: &[Loss], at: &str) -> bool {
    let mut steps = at[1..].split('/');
    let field = steps.next().unwrap();
    let side = match field {
        "inputSchema" => Side::Input,
        "outputSchema" => Side::Output,
        _ => Side::Record,
    };
    let keywords: Vec<&str> = steps.collect();
    let within = &at[1 + field.len()..];
    let speaks = |loss: &Loss| loss.keyword == field || keywords.contains(&&*loss.keyword) || loss.pointer == within;
    losses.iter().any(|loss| loss.side == side && speaks(loss))
}

/// Returns true if the value has no meaning, so that its removal changes nothing.
fn says_nothing(whole: &Value, at: &str) -> bool {
    let (parent, key) = at.rsplit_once('/').unwrap();
    let beside = whole.pointer(parent).unwrap();
    let there = &beside[key];
    match key {
        "properties" | "required" => *there == json!({}) || *there == json!([]),
        "type" => beside.get("enum").is_some() || beside.get("const").is_some(),
        // The whole choice has the same meaning, or one of its branches has.
        "description" => {
            let choice = parent.rsplitn(3, '/').last().unwrap();
            let branches = ["anyOf", "oneOf"].iter().filter_map(|keyword| beside[keyword].as_array()).flatten();
            whole.pointer(&format!("{choice}/description")) == Some(there)
                || branches.into_iter().any(|branch| branch["description"] == *there)
        }
        _ => false,
    }
}

/// In strict mode, null represents an absent argument, so that a nullable argument has the same schema.
fn is_about_null(whole: &Value, at: &str) -> bool {
    let there = whole.pointer(at).unwrap();
    at.contains("/required") || *there == json!({ "type": "null" }) || *there == json!("null")
}

/// Returns true if the value is the default of its keyword. A type of TypeScript has the same text without it.
fn is_default(whole: &Value, at: &str) -> bool {
    at.ends_with("/additionalProperties") && whole.pointer(at) == Some(&json!(true))
}

fn written_out(tool: &Tool) -> Value {
    let mut json = tool.to_json();
    for schema in ["inputSchema", "outputSchema"] {
        if let Some(schema) = json.get_mut(schema) {
            toolkit::schema::inline::inline(schema);
        }
    }
    json
}

/// Returns the pointers of unreported losses with the adapter.
pub(crate) fn silent(tool: &Tool, at: &[String]) -> Vec<String> {
    let whole = tool.to_json();
    let before = ADAPTERS.map(|(_, describe)| describe(tool));
    let mut silent = Vec::new();
    for at in at.iter().filter(|at| !says_nothing(&whole, at)) {
        for changed in changes(&whole, at) {
            let Ok(changed) = Tool::from_json(&changed) else { continue };
            // An unused definition has no meaning.
            if written_out(&changed) == written_out(tool) {
                continue;
            }
            for ((adapter, describe), before) in ADAPTERS.iter().zip(&before) {
                let (Some((json, losses)), Some((now, now_losses))) = (before, describe(&changed)) else { continue };
                let is_told = names(losses, at) || names(&now_losses, at);
                let may_look_alike = (*adapter == "openai strict" && is_about_null(&whole, at))
                    || (adapter.starts_with("typescript") && is_default(&whole, at));
                if *json == now && !is_told && !may_look_alike {
                    silent.push(format!("{adapter}: {at}"));
                }
            }
        }
    }
    silent.dedup();
    silent
}

#[test]
fn no_field_of_a_tool_is_lost_without_a_report() {
    let tool = Tool::from_json(rich()).unwrap();
    assert!(ADAPTERS.iter().all(|(_, describe)| describe(&tool).is_some()));
    let mut at = Vec::new();
    places(&rich(), "", &mut at);
    let silent = silent(&tool, &at);
    assert!(silent.is_empty(), "{silent:#?}");
    ran(at.len() * ADAPTERS.len());
}

#[test]
fn no_field_of_a_real_tool_is_lost_without_a_report() {
    let tools = real_tools();
    let mut dice = test_support::mutate::Dice::new(7);
    let (mut n_ran, mut lost) = (0, Vec::new());
    for tool in sample(&tools, 4) {
        let mut all = Vec::new();
        places(&tool.to_json(), "", &mut all);
        let at: Vec<String> = (0..2).map(|_| all[dice.below(all.len())].clone()).collect();
        n_ran += at.len();
        lost.extend(silent(tool, &at).into_iter().map(|lost| format!("{} {lost}", tool.id())));
    }
    assert!(lost.is_empty(), "{lost:#?}");
    ran(n_ran);
}

#[test]
fn descriptions_are_counted_and_cut_for_azure_and_older_models() {
    let text = "Sends é. ".repeat(200);
    let tool = Tool::builder("send").description(text.trim_end().to_owned()).build().unwrap();
    let catalog = Catalog::new([tool.clone()]).unwrap();
    let export = openai::tools(&catalog, Naming::Name, openai::Options::chat_completions()).unwrap();
    let usage = export.usage.iter().find(|usage| usage.what == "characters of a description").unwrap();
    assert_eq!((usage.count, usage.limit, usage.is_over()), (1799, 1024, true));
    let mut options = openai::Options::chat_completions();
    options.max_description = Some(1024);
    let export = openai::tools(&catalog, Naming::Name, options).unwrap();
    let sent = export.json[0]["function"]["description"].as_str().unwrap();
    assert!(sent.chars().count() <= 1024 && sent.ends_with("é. …"), "{sent}");
    assert_eq!(export.losses[0].1[0].to_string(), "`description` is cut: it has more than 1024 characters");
    assert!(export.usage.iter().all(|usage| !usage.is_over()));
}

#[test]
fn callers_behavior_and_strict_mode_of_bedrock_are_exported() {
    let mut options = anthropic::Options::default();
    options.allowed_callers = &["code_execution_20260120"];
    let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let tool = Tool::builder("now").input(schema.clone()).build().unwrap();
    let described = anthropic::describe(&tool, "now", options);
    assert_eq!(described.json["allowed_callers"], json!(["code_execution_20260120"]));
    let own = json!({ "name": "now", "input_schema": schema, "allowed_callers": ["direct"] });
    let own = anthropic::read(&own).unwrap();
    assert_eq!(anthropic::describe(&own, "now", options).json["allowed_callers"], json!(["direct"]));

    let read = gemini::read(&json!({ "name": "now", "behavior": "NON_BLOCKING" })).unwrap();
    let described = gemini::describe(&read, "now", gemini::Options::default());
    assert_eq!((&described.json["behavior"], described.losses.len()), (&json!("NON_BLOCKING"), 0));

    let nested = json!({ "type": "object", "properties": { "x": schema }, "additionalProperties": false });
    let tool = Tool::builder("now").input(nested).build().unwrap();
    let mut options = bedrock::Options::default();
    options.strict = true;
    assert_eq!(bedrock::describe(&tool, "now", options).json["toolSpec"]["strict"], true);
    options = bedrock::Options::default();
    options.open_objects = true;
    let described = bedrock::describe(&tool, "now", options);
    assert!(!described.json.to_string().contains("additionalProperties"));
    assert_eq!(described.losses[0].effect, Effect::Widened);
}

#[test]
fn a_tool_that_a_provider_defines_is_not_read_as_one_without_arguments() {
    for json in [
        json!({ "type": "bash_20250124", "name": "bash" }),
        json!({ "type": "computer_toolset_20260801", "name": "computer" }),
        json!({ "type": "web_search_20260318", "name": "web_search" }),
    ] {
        let error = anthropic::read(&json).unwrap_err().to_string();
        assert!(error.contains(json["type"].as_str().unwrap()) && error.contains("only functions"), "{error}");
    }
    let grammar = json!({ "type": "custom", "name": "sql", "format": { "type": "grammar", "syntax": "lark" } });
    for json in [grammar, json!({ "type": "web_search" }), json!({ "type": "computer" })] {
        let error = openai::read(&json).unwrap_err().to_string();
        assert!(error.contains("only functions"), "{error}");
    }
    for json in [json!({ "computerUse": {} }), json!({ "googleSearch": {} })] {
        assert!(gemini::read(&json).is_err(), "{json}");
    }
}
