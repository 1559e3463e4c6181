//! `cost`, and the limits of the providers in `check` and `export`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::tools;

/// Returns the lines below the header.
fn costs(text: &str) -> Vec<Vec<&str>> {
    let rows = rows(text);
    assert_eq!(rows[0][1..], ["TOKENS", "NAME", "DESCRIPTION", "ARGUMENTS", "INPUT", "OUTPUT"]);
    rows[1..].to_vec()
}

fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split('\t').collect()).collect()
}

#[test]
fn every_format_has_its_cost() {
    let ran = tools(&["cost"]).exits(0).says("estimated");
    let tokens: BTreeMap<&str, usize> =
        costs(&ran.out).iter().map(|row| (row[0], row[1].parse().expect("tokens are a number"))).collect();
    let formats: Vec<&str> = tokens.keys().copied().collect();
    assert_eq!(
        formats,
        [
            "a2a",
            "anthropic",
            "bedrock",
            "gemini",
            "gemini-interactions",
            "markdown",
            "mcp",
            "openai",
            "openai-chat",
            "otc",
            "search-tools",
            "typescript"
        ]
    );
    // The total of declarations is that of one document, and each of them alone is listed as one.
    let declared = tools(&["cost", "--format", "typescript"]).exits(0);
    let declared = costs(&declared.out);
    assert_eq!(declared[10][1], tokens["typescript"].to_string());
    assert!(declared[0][1].parse::<usize>().unwrap() < tokens["typescript"]);
    assert!(tokens["search-tools"] < tokens["openai-chat"]);
    let with_output = tools(&["cost", "--output-schemas"]).exits(0);
    for (format, has_output) in [("openai", true), ("gemini", true), ("openai-chat", false), ("anthropic", false)] {
        let row = costs(&with_output.out).into_iter().find(|row| row[0] == format).unwrap();
        assert_eq!(row[1].parse::<usize>().unwrap() > tokens[format], has_output, "{row:?}");
        assert_eq!(row[6] != "0", has_output, "{row:?}");
    }
    let parts = costs(&ran.out);
    let parts: Vec<usize> = parts.iter().find(|row| row[0] == "openai-chat").unwrap()[1..]
        .iter()
        .map(|cell| cell.parse().unwrap())
        .collect();
    assert!(parts[0] > parts[1..].iter().sum() && parts[5] == 0, "{parts:?}");
    assert!(parts[1..5].iter().all(|part| *part > 0), "{parts:?}");
}

#[test]
fn the_tools_that_cost_most_come_first() {
    let ran = tools(&["cost", "--format", "anthropic", "--top", "3"]).exits(0);
    let rows = costs(&ran.out);
    let tokens: Vec<usize> = rows.iter().map(|row| row[1].parse().unwrap()).collect();
    assert_eq!((rows.len(), rows[3][0]), (4, "all 20"));
    assert!(tokens[0] >= tokens[1] && tokens[1] >= tokens[2] && tokens[3] > tokens[..3].iter().sum());
    assert!(rows[0][0].contains(':'), "{rows:?}");
    tools(&["cost", "--format", "xml"]).exits(2);
    tools(&["cost", "--top", "0"]).exits(2);
}

#[test]
fn costs_as_json_contain_the_counter() {
    let all = tools(&["cost", "--json"]).exits(0).json();
    assert_eq!(all["counter"], "estimate");
    assert_eq!(all["formats"][0]["format"], "mcp");
    let one = tools(&["cost", "--json", "--format", "mcp", "--top", "100"]).exits(0).json();
    assert_eq!((&one["cost"], &one["nTools"]), (&all["formats"][0]["cost"], &json!(20)));
    let tools = one["tools"].as_array().unwrap();
    let sum: u64 = tools.iter().map(|tool| tool["total"].as_u64().unwrap()).sum();
    assert_eq!(one["cost"]["total"], sum);
    assert!(tools.iter().all(|tool| tool["description"].as_u64() < tool["total"].as_u64()));
}

#[test]
fn check_shows_the_usage_of_each_limit() {
    let ran = tools(&["check", "--limits"]);
    let rows = rows(&ran.out);
    let row = |target: &str, what: &str| {
        rows.iter().find(|row| row[..2] == [target, what]).unwrap_or_else(|| panic!("{what}"))
    };
    assert_eq!(row("OpenAI", "tools")[2..4], ["20", "128"]);
    assert_eq!(row("Gemini", "tools")[2..4], ["20", "512"]);
    assert_eq!(row("OpenAI strict", "levels")[3], "10");
    let strict: Vec<usize> = row("Anthropic", "strict tools")[2..4].iter().map(|cell| cell.parse().unwrap()).collect();
    assert!(strict[0] > 0 && strict[1] == 20);
    assert!(row("Anthropic", "optional parameters of strict tools")[4].contains(" ("));
    tools(&["check", "--limits", "--lock", "x"]).exits(2);
}

#[test]
fn check_as_json_has_the_usage_of_each_tool() {
    let report = tools(&["check", "--limits", "--json"]).json();
    let limits = report["limits"].as_array().unwrap();
    let optional = limits.iter().find(|limit| limit["what"] == "optional parameters of strict tools").unwrap();
    assert_eq!((&optional["target"], &optional["limit"]), (&json!("Anthropic"), &json!(24)));
    let takes = optional["tools"].as_array().unwrap().iter().map(|tool| tool[1].as_u64().unwrap());
    assert_eq!(Value::from(takes.sum::<u64>()), optional["count"]);
}

#[test]
fn losses_include_the_usage_of_limits() {
    let quiet = tools(&["export", "--format", "openai"]).exits(0);
    assert!(!quiet.err.contains("of at most"), "{}", quiet.err);
    let told = tools(&["export", "--format", "openai", "--losses"]).exits(0);
    assert!(told.err.contains("note: OpenAI: 20 tools, of at most 128\n"), "{}", told.err);
    let strict = tools(&["export", "--format", "anthropic", "--strict", "--losses"]).exits(0);
    assert!(strict.err.contains("optional parameters of strict tools, of at most 24"), "{}", strict.err);
}

#[test]
fn the_rules_of_a_provider_are_printed_with_their_sources() {
    let ran = tools(&["export", "--format", "openai", "--strict", "--rules"]).exits(0);
    let rules = rows(&ran.out);
    let items = rules.iter().find(|rule| rule[0] == "items").expect("a rule about arrays");
    assert_eq!(items[1], "an array has `items`, an object");
    assert!(rules.len() > 10 && rules.iter().all(|rule| rule.len() == 3 && !rule[2].is_empty()), "{rules:?}");
    tools(&["export", "--format", "markdown", "--rules"]).exits(2);
    let export = tools(&["export", "--format", "bedrock", "--without-rejected"]).exits(0).json();
    assert!(export[0]["toolSpec"]["name"].is_string());
}

#[test]
fn check_concerns_only_the_chosen_providers() {
    let targets = |args: &[&str]| -> Vec<String> {
        let ran = tools(&[&["check", "--limits"], args].concat());
        let mut targets: Vec<String> =
            rows(&ran.out).iter().filter(|row| row.len() == 5).map(|row| row[0].to_owned()).collect();
        targets.dedup();
        targets
    };
    assert_eq!(targets(&["--provider", "anthropic"]), ["Anthropic"]);
    assert_eq!(targets(&["--provider", "gemini", "--provider", "anthropic"]), ["Anthropic", "Gemini"]);
    assert!(targets(&[]).contains(&"OpenAI".to_owned()));
    tools(&["check", "--provider", "gpt"]).exits(2).says("gemini-interactions");
    tools(&["check", "--provider", "openai", "--lock", "x"]).exits(2);
}
