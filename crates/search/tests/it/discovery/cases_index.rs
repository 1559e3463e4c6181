//! The test cases of the systems that this one replaces: pages, changes and registration.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use test_support::ran;
use toolkit::Tool;
use toolkit::tool::ToolBackend;
use toolkit_search::{Index, IndexError};

use super::{cases, ids, tool};

const TEXT: &str = include_str!("../../cases/index.json");

/// The cases with another expectation, with the decision.
const DECIDED: [(&str, &str); 6] = [
    ("nondeterministic_searcher", "the order of an answer is always the same"),
    ("offset_past_end", "a cursor is one that the index gave; none leads past the end"),
    ("offset_equals_len", "a cursor is one that the index gave; none leads past the end"),
    ("cursor_format", "a cursor is opaque, and bound to its question"),
    ("batch_not_atomic", "a batch is registered as a whole or not at all"),
    ("limit_zero", "an error of its own kind"),
];

fn is_decided(case: &Value) -> bool {
    DECIDED.iter().any(|(id, _)| case["id"] == *id)
}

fn local(name: &str) -> ToolBackend {
    ToolBackend::local(name).unwrap()
}

#[test]
fn pages_match_the_cases() {
    let (cases, mut n_ran) = (cases(TEXT, "pagination"), 0);
    for case in cases.iter().filter(|case| !is_decided(case)) {
        let id = case["id"].as_str().unwrap();
        let names = case["tools"].as_array().or(case["namespaces"].as_array()).into_iter().flatten();
        let names = names.map(|name| name.as_str().unwrap());
        let tools: Vec<Tool> = names
            .map(|name| if id == "namespaces_page" { tool(&format!("{name}:x"), "") } else { tool(name, "") })
            .collect();
        let index = Index::from_tools(&tools);
        match id {
            "not_base64" => assert!(index.page("", 1, case["cursor"].as_str()).is_err()),
            "stale_after_register" => {
                index.register_all([(tool("a", ""), local("a")), (tool("b", ""), local("b"))]).unwrap();
                let cursor = index.page("", 1, None).unwrap().next_cursor;
                index.register(tool("c", ""), local("c")).unwrap();
                assert!(index.page("", 1, cursor.as_deref()).is_err());
            }
            _ => {
                let limit = case["limit"].as_u64().unwrap() as usize;
                let (mut pages, mut cursor) = (Vec::new(), None);
                loop {
                    let items: Vec<String>;
                    if id == "namespaces_page" {
                        let page = index.namespaces_page(limit, cursor.as_deref()).unwrap();
                        (items, cursor) = (page.items, page.next_cursor);
                    } else {
                        let page = index.page(case["query"].as_str().unwrap(), limit, cursor.as_deref()).unwrap();
                        items = ids(&page.items).into_iter().map(str::to_owned).collect();
                        cursor = page.next_cursor;
                    }
                    pages.push(items);
                    if cursor.is_none() {
                        break;
                    }
                }
                if case["pages"].is_array() {
                    assert_eq!(json!(pages), case["pages"], "{id}");
                } else {
                    let sizes: Vec<usize> = pages.iter().map(Vec::len).collect();
                    assert_eq!(json!(sizes), case["page_sizes"], "{id}");
                }
            }
        }
        n_ran += 1;
    }
    ran(n_ran);
}

#[test]
fn listeners_are_notified_as_in_the_cases() {
    let cases = cases(TEXT, "events");
    for case in &cases {
        let index = Index::new();
        let told = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&told);
        let _subscription = index.on_change(move |change| log.lock().unwrap().push(json!(change)["type"].clone()));
        for action in case["actions"].as_array().unwrap() {
            match action.as_str().unwrap().split(' ').collect::<Vec<_>>()[..] {
                ["register", name, "local", backend] => index.register(tool(name, ""), local(backend)).unwrap(),
                ["unregister", backend] => index.unregister("t", &local(backend)).unwrap(),
                ["refresh"] => index.refresh(),
                ref other => panic!("{other:?}"),
            }
        }
        assert_eq!(json!(*told.lock().unwrap()), case["events"]);
    }
    ran(cases.len());
}

#[test]
fn namespaces_match_the_cases() {
    let cases = cases(TEXT, "namespaces");
    for case in &cases {
        let index = Index::new();
        for namespace in case["register"].as_array().unwrap() {
            let id = match namespace.as_str().unwrap() {
                "" => "x".to_owned(),
                namespace => format!("{namespace}:x"),
            };
            index.register(tool(&id, ""), local("x")).unwrap();
            if case["then"].is_string() {
                index.unregister_tool(&id).unwrap();
            }
        }
        assert_eq!(json!(index.namespaces()), case["expect"]);
    }
    ran(cases.len());
}

#[test]
fn registration_matches_the_cases() {
    let (cases, mut n_ran) = (cases(TEXT, "registration"), 0);
    for case in cases.iter().filter(|case| !is_decided(case)) {
        let index = Index::new();
        let provider = |tool: &str| ToolBackend::provider("provider1", tool).unwrap();
        let base = json!({ "name": "t", "namespace": "n", "inputSchema": { "type": "object" } });
        let registered = |fields: &Value, backend| index.register(Tool::from_json(fields).unwrap(), backend);
        registered(&base, local("x")).unwrap();
        let mut other = base.clone();
        match case["id"].as_str().unwrap() {
            "same_provider_two_tools" => {
                index.unregister_tool("n:t").unwrap();
                registered(&base, provider("tool-a")).unwrap();
                registered(&base, provider("tool-b")).unwrap();
                assert_eq!(json!(index.snapshot().backends("n:t").len()), case["backends_after"]);
            }
            "three_kinds" => {
                registered(&base, provider("p")).unwrap();
                registered(&base, ToolBackend::mcp("m").unwrap()).unwrap();
                assert_eq!(json!(index.snapshot().backends("n:t").len()), case["backends_after"]);
                assert!(matches!(index.snapshot().get("n:t").unwrap().1, ToolBackend::Local { .. }));
            }
            id if id.starts_with("mismatch") => {
                match case["field"].as_str().unwrap() {
                    "inputSchema" => other["inputSchema"] = json!({ "type": "object", "required": ["a"] }),
                    "icons" => other["icons"] = json!([{ "src": "https://example.com/i.png" }]),
                    _ => other["annotations"] = json!({ "readOnlyHint": true }),
                }
                assert!(matches!(registered(&other, local("x")), Err(IndexError::OtherDefinition { .. })), "{id}");
            }
            "extensions_may_differ" => {
                other["tags"] = json!(["new"]);
                registered(&other, local("x")).unwrap();
                assert_eq!(index.snapshot().summary("n:t").unwrap().tags, ["new"]);
            }
            // Names are checked when a tool is read or built.
            "invalid_name" => assert!(Tool::builder("in valid").build().is_err()),
            "unregister_last_removes_tool" => {
                index.unregister("n:t", &local("x")).unwrap();
                assert!(index.snapshot().get("n:t").is_none());
            }
            "unregister_unknown_tool" => {
                assert!(matches!(index.unregister("n:u", &local("x")), Err(IndexError::UnknownTool { .. })));
            }
            "unregister_unknown_backend" => {
                assert!(matches!(index.unregister("n:t", &local("y")), Err(IndexError::UnknownBackend { .. })));
            }
            "unregister_provider_format" => {
                registered(&base, provider("tool-a")).unwrap();
                index.unregister("n:t", &provider("tool-a")).unwrap();
            }
            id => panic!("{id}"),
        }
        n_ran += 1;
    }
    ran(n_ran);
}
