//! Tools that this program cannot check are passed on, and their server checks them.

use serde_json::{Value, json};
use toolkit::Dispatcher;
use toolkit_mcp_server::Server;

use super::raw::{Raw, Way, raw};
use super::{call, collected, dispatcher, in_the_end, listed};

/// Starts a server with these tools, whose calls all have one result.
async fn serving(tools: &[Value], result: &Value) -> Raw {
    let calls = tools.iter().filter_map(|tool| tool["name"].as_str()).map(|name| format!("call_{name}"));
    let calls: Vec<String> = calls.collect();
    let responses = calls.iter().map(|name| (&**name, result.to_string().into_bytes()));
    let list = json!({ "tools": tools }).to_string().into_bytes();
    raw(Way::Json, responses.chain([("tools_list", list)])).await
}

/// Returns schemas of objects with the property `a`, none of which can be compiled here.
fn foreign_schemas() -> Vec<Value> {
    let property = |schema: Value| json!({ "type": "object", "properties": { "a": schema } });
    let dialect = |uri: &str| json!({ "$schema": uri, "type": "object", "properties": { "a": { "type": "string" } } });
    vec![
        dialect("http://json-schema.org/draft-04/schema#"),
        dialect("http://json-schema.org/draft-06/schema#"),
        dialect("https://json-schema.org/draft/2019-09/schema"),
        dialect("https://json-schema.org/2020-12/schema"),
        dialect("https://example.com/of-our-own"),
        property(json!({ "type": "array", "items": [{ "type": "string" }] })),
        property(json!({ "type": "integer", "minimum": 0, "exclusiveMinimum": true })),
        property(json!({ "type": "string", "required": true })),
        property(json!({ "type": "text" })),
        property(json!({ "type": "string", "pattern": "(" })),
        property(json!({ "type": "string", "pattern": "(?i)[a-z" })),
        property(json!({ "type": "integer", "minimum": null, "enum": null })),
        property(json!({ "$ref": "https://example.com/a.json" })),
        property(json!({ "$ref": "#/definitions/missing" })),
        json!({ "type": "object", "properties": { "a": {} }, "required": ["a", "a"] }),
        json!({ "type": "object", "properties": "none" }),
    ]
}

#[tokio::test]
async fn a_schema_that_cannot_be_compiled_is_listed_as_it_came_and_checked_by_its_server() {
    let schemas = foreign_schemas();
    let tool = |(n, schema): (usize, &Value)| json!({ "name": format!("t{n}"), "inputSchema": schema });
    let tools: Vec<Value> = schemas.iter().enumerate().map(tool).collect();
    let server = serving(&tools, &json!({ "content": [{ "type": "text", "text": "done" }] })).await;
    let collected = collected(&server.backend).await;
    assert!(collected.failures.is_empty(), "{:?}", collected.failures);
    let told: Vec<&str> = collected.diagnostics.iter().map(|told| told.message()).collect();
    assert!(told.is_empty(), "{told:#?}");
    let dispatcher = dispatcher(&server.backend).await;
    let listing = Server::new(dispatcher.clone()).unwrap().listed();
    for (n, schema) in schemas.iter().enumerate() {
        let entry: Value = listed(&listing, &format!("peer_t{n}"));
        assert_eq!(entry["inputSchema"], *schema);
        for arguments in [json!({ "a": "b" }), json!({ "a": [1], "b": null })] {
            let called = call(&dispatcher, &format!("peer:t{n}"), arguments.clone()).await;
            assert_eq!(called.unwrap(), "done", "{schema}");
            assert_eq!(server.requests.lock().unwrap().last().unwrap()["params"]["arguments"], arguments, "{schema}");
        }
        let called = call(&dispatcher, &format!("peer:t{n}"), json!([1])).await;
        assert!(called.is_err(), "the arguments of MCP are an object: {schema}");
    }
}

#[tokio::test]
async fn a_result_is_not_compared_with_an_output_schema_that_cannot_be_compiled() {
    let tool = |(n, schema)| json!({ "name": format!("t{n}"), "inputSchema": {}, "outputSchema": schema });
    let tools: Vec<Value> = foreign_schemas().into_iter().enumerate().map(tool).collect();
    let result = json!({ "content": [], "structuredContent": { "a": { "b": 1 } } });
    let server = serving(&tools, &result).await;
    let collected = collected(&server.backend).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    for (n, tool) in tools.iter().enumerate() {
        let called = call(&dispatcher, &format!("peer:t{n}"), json!({})).await;
        assert_eq!(called.unwrap(), json!({ "a": { "b": 1 } }), "{tool}");
    }
}

#[tokio::test]
async fn an_output_schema_that_is_invalid_in_each_dialect_is_dropped() {
    let tool = |(n, schema)| json!({ "name": format!("t{n:02}"), "inputSchema": {}, "outputSchema": schema });
    let tools: Vec<Value> = foreign_schemas().into_iter().enumerate().map(tool).collect();
    let server = serving(&tools, &json!({ "content": [] })).await;
    let collected = collected(&server.backend).await;
    let listed: Vec<bool> = collected.catalog.iter().map(|tool| tool.output().is_some()).collect();
    // Those of the first dialects, and a list of items, which was valid before draft 2020-12.
    assert_eq!(listed, [[true; 6].as_slice(), &[false; 10]].concat(), "or official clients reject the whole list");
    let told: Vec<&str> = collected.diagnostics.iter().map(|told| told.message()).collect();
    assert_eq!(told.len(), 10, "{told:#?}");
    let expected =
        "lists `t09` with invalid fields, which are dropped: /outputSchema is invalid: at /properties/a/pattern";
    assert!(told[3].contains(expected), "{told:#?}");
}

#[tokio::test]
async fn a_large_schema_is_passed_on() {
    let names: Vec<String> = (0..20_000).map(|n| format!("value_{n}")).collect();
    let schema = json!({ "type": "object", "properties": { "a": { "enum": names } } });
    assert!(schema.to_string().len() > 200_000);
    let server = serving(&[json!({ "name": "large", "inputSchema": schema })], &json!({ "content": [] })).await;
    let collected = collected(&server.backend).await;
    assert!(collected.diagnostics.is_empty(), "{:?}", collected.diagnostics);
    let listed = collected.catalog.resolve("peer:large").unwrap().input().as_value().clone();
    assert_eq!(listed, schema);
}

#[tokio::test]
async fn a_missing_or_other_input_schema_takes_any_object() {
    let schemas =
        [json!(null), json!(true), json!(false), json!([]), json!("none"), json!({}), json!({ "type": "array" })];
    let tool = |(n, schema): (usize, &Value)| json!({ "name": format!("t{n}"), "inputSchema": schema });
    let mut tools: Vec<Value> = schemas.iter().enumerate().map(tool).collect();
    tools.push(json!({ "name": format!("t{}", schemas.len()) }));
    let server = serving(&tools, &json!({ "content": [] })).await;
    let dispatcher = dispatcher(&server.backend).await;
    for (n, tool) in tools.iter().enumerate() {
        let listed = dispatcher.catalog().resolve(&format!("peer:t{n}")).unwrap();
        assert_eq!(*listed.input().as_value(), json!({ "type": "object" }), "{tool}");
        call(&dispatcher, &format!("peer:t{n}"), json!({ "a": 1 })).await.unwrap();
    }
}

#[tokio::test]
async fn decoration_of_a_wrong_type_is_dropped_and_the_tool_stays() {
    let decorations = [
        json!({ "title": 1 }),
        json!({ "description": ["Reads.", "Writes."] }),
        json!({ "icons": "icon.png" }),
        json!({ "icons": [{ "sizes": 16 }] }),
        json!({ "annotations": "readOnly" }),
        json!({ "annotations": { "readOnlyHint": "yes", "title": 2, "openWorldHint": false } }),
        json!({ "_meta": "none" }),
        json!({ "_meta": { "rs.toolkit/tool": 7, "x": 1 } }),
        json!({ "execution": true }),
        json!({ "outputSchema": "text" }),
    ];
    let tools: Vec<Value> = decorations
        .iter()
        .enumerate()
        .map(|(n, decoration)| {
            let mut tool = json!({ "name": format!("t{n:02}"), "inputSchema": { "type": "object" } });
            tool.as_object_mut().unwrap().extend(decoration.as_object().unwrap().clone());
            tool
        })
        .collect();
    let server = serving(&tools, &json!({ "content": [] })).await;
    let collected = collected(&server.backend).await;
    assert!(collected.failures.is_empty(), "{:?}", collected.failures);
    assert_eq!(collected.catalog.len(), tools.len(), "{:#?}", collected.diagnostics);
    let told: Vec<&str> = collected.diagnostics.iter().map(|told| told.message()).collect();
    assert_eq!(told.len(), tools.len(), "one for each tool: {told:#?}");
    for (n, told) in told.iter().enumerate() {
        let expected = format!("the MCP server `peer` lists `t{n:02}` with invalid fields, which are dropped: /");
        assert!(told.starts_with(&expected), "{told}");
    }
    let offers = in_the_end(toolkit::backend::Backend::tools(&server.backend)).await.unwrap();
    let tool = |n: usize| &offers.tools[n].0;
    assert_eq!(tool(5).annotations().open_world, Some(false), "what has its type stays");
    assert_eq!(tool(7).meta().unwrap(), json!({ "x": 1 }));
}

#[tokio::test]
async fn an_empty_list_is_an_empty_object_where_the_protocol_has_one() {
    let nested = json!({ "type": "object", "properties": [], "default": [] });
    let tool = json!({
        "name": "php",
        "inputSchema": {
            "type": "object",
            "properties": { "a": [], "b": nested, "c": { "type": "array", "items": [] } },
            "$defs": [],
            "required": [],
        },
        "outputSchema": { "type": "object", "properties": [] },
        "annotations": [],
        "_meta": [],
    });
    let result = json!({ "content": [], "structuredContent": [], "_meta": [] });
    let tools = [tool, json!({ "name": "bare", "inputSchema": [], "_meta": [] })];
    let server = serving(&tools, &result).await;
    let collected = collected(&server.backend).await;
    assert!(collected.diagnostics.is_empty(), "{:?}", collected.diagnostics);
    let php = collected.catalog.resolve("peer:php").unwrap();
    let properties = json!({
        "a": {},
        "b": { "type": "object", "properties": {}, "default": [] },
        "c": { "type": "array", "items": {} },
    });
    let expected = json!({ "type": "object", "properties": properties, "$defs": {}, "required": [] });
    assert_eq!(*php.input().as_value(), expected);
    assert!(php.input().check().is_ok());
    let dispatcher = dispatcher(&server.backend).await;
    assert_eq!(call(&dispatcher, "peer:php", json!({})).await.unwrap(), json!({}));
    call(&dispatcher, "peer:bare", json!({})).await.unwrap();
}

#[tokio::test]
async fn schemas_arguments_and_results_keep_their_order() {
    const SCHEMA: &str = concat!(
        r#"{"type":"object","required":["reasoning","query"],"properties":{"reasoning":{"type":"string"},"#,
        r#""query":{"type":"object","properties":{"z":{},"a":{}}},"limit":{"type":"integer","minimum":0}}}"#,
    );
    const ARGUMENTS: &str = r#"{"reasoning":"x","query":{"z":1,"a":2},"limit":3}"#;
    const RESULT: &str = r#"{"total":1,"hits":[{"z":1,"a":2}]}"#;
    let value = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let tool = json!({ "name": "find", "inputSchema": value(SCHEMA), "outputSchema": { "type": "object" } });
    let server = serving(&[tool], &json!({ "structuredContent": value(RESULT), "content": [] })).await;
    let dispatcher = dispatcher(&server.backend).await;

    let listing = Server::new(dispatcher.clone()).unwrap().listed();
    let entry: Value = listed(&listing, "peer_find");
    assert_eq!(entry["inputSchema"].to_string(), SCHEMA);

    let called = call(&dispatcher, "peer:find", value(ARGUMENTS)).await.unwrap();
    assert_eq!(called.to_string(), RESULT);
    let bodies = server.bodies.lock().unwrap();
    assert!(bodies.last().unwrap().contains(ARGUMENTS), "{bodies:?}");
}
