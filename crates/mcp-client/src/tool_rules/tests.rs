use serde_json::{Value, json};

use super::ToolRules;

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn tools_are_served_that_are_allowed_and_not_denied() {
    let patterns = |patterns: &[&str]| patterns.iter().map(ToString::to_string).collect::<Vec<_>>();
    for (allowed, denied, served, unmatched) in [
        (None, &[][..], &["read", "write"][..], &[][..]),
        (Some(&["read"][..]), &[], &["read"], &[]),
        (Some(&[]), &[], &[], &[]),
        (Some(&["*"]), &["w*"], &["read"], &[]),
        (Some(&["wr*", "none"]), &["x"], &["write"], &["`none` in `tools`", "`x` in `disabledTools`"]),
        (None, &["*"], &[], &[]),
    ] {
        let rules = ToolRules { allowed: allowed.map(patterns), denied: patterns(denied), ..ToolRules::default() };
        let mut tools = vec![json!({ "name": "read" }), json!({ "name": "write" })];
        let applied = rules.apply(&mut tools);
        assert_eq!(
            (names(&tools), applied.unmatched),
            (served.to_vec(), patterns(unmatched)),
            "{allowed:?} {denied:?}"
        );
    }
}

#[test]
fn a_change_replaces_the_fields_that_it_has() {
    let change = |change: Value| serde_json::from_value(change).unwrap();
    let changes = [
        ("read", change(json!({ "title": "Reads", "readOnly": true, "openWorld": false }))),
        ("write", change(json!({ "name": "put", "description": "Writes.", "destructive": true, "idempotent": false }))),
        ("none", change(json!({}))),
    ];
    let rules = ToolRules {
        changes: changes.into_iter().map(|(name, change)| (name.to_owned(), change)).collect(),
        denied: vec!["hidden".to_owned()],
        ..ToolRules::default()
    };
    let mut tools = vec![
        json!({ "name": "read", "title": "x", "description": "d", "_meta": { "rs.toolkit/name": "forged", "a": 1 } }),
        json!({ "name": "write" }),
        json!({ "name": "hidden" }),
    ];
    let applied = rules.apply(&mut tools);
    assert_eq!(
        tools,
        [
            json!({ "name": "read", "title": "Reads", "description": "d", "_meta": { "a": 1 } }),
            json!({ "name": "put", "description": "Writes.", "_meta": { "rs.toolkit/name": "write" } }),
        ]
    );
    assert_eq!(applied.unmatched, ["`none` in `toolkit.tools`"]);
    let hints = |name: &str| {
        let hints = &applied.hints[name];
        [hints.read_only, hints.destructive, hints.idempotent, hints.open_world]
    };
    assert_eq!(hints("read"), [Some(true), None, None, Some(false)]);
    assert_eq!(hints("write"), [None, Some(true), Some(false), None]);
    assert_eq!(applied.hints.len(), 2);
}

#[test]
fn a_fixed_argument_is_not_listed_and_one_that_is_missing_is_reported() {
    let change = json!({ "fixedArguments": { "region": "eu", "other": 1 } });
    let changes = [("find".to_owned(), serde_json::from_value(change).unwrap())].into();
    let rules = ToolRules { changes, ..ToolRules::default() };
    let input = json!({ "type": "object", "properties": { "text": {}, "region": {} }, "required": ["region", "text"] });
    let mut tools = vec![json!({ "name": "find", "inputSchema": input })];
    let applied = rules.apply(&mut tools);
    let listed = json!({ "type": "object", "properties": { "text": {} }, "required": ["text"] });
    assert_eq!(tools[0]["inputSchema"], listed);
    assert_eq!(applied.unmatched, ["`other` in `fixedArguments` of `find`"]);
    assert_eq!(rules.fixed_arguments("find").unwrap()["region"], "eu");
}
