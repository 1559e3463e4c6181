//! Tools in forms that other clients accept, and tools that the host changes.

use serde_json::{Value, json};
use toolkit::backend::Backend;
use toolkit::{Catalog, Coercion, Dispatcher};
use toolkit_backends::{Backends, Collected};
use toolkit_mcp_client::McpServers;
use toolkit_mcp_server::{Proxy, Server};

use super::raw::{Raw, Way, raw};
use super::{call, collected, dispatcher, in_the_end};

async fn listing(way: Way, tools: &Value) -> Raw {
    raw(way, [("tools_list", json!({ "tools": tools }).to_string().into_bytes())]).await
}

fn names(collected: &Collected) -> Vec<&str> {
    collected.catalog.iter().map(toolkit::Tool::name).collect()
}

#[tokio::test]
async fn a_tool_with_an_invalid_name_is_called_by_the_name_that_its_server_knows() {
    let long = "n".repeat(70);
    let theirs = ["files/read", "a b", "a:b", "a_b", "获取", &long, "plain"];
    let tools: Vec<Value> = theirs.iter().map(|name| json!({ "name": name, "inputSchema": {} })).collect();
    let server = listing(Way::Json, &json!(tools)).await;
    let collected = collected(&server.backend).await;
    assert!(collected.diagnostics.is_empty(), "{:?}", collected.diagnostics);
    let listed = names(&collected);
    assert_eq!(listed.len(), theirs.len());
    for expected in ["files_read", "a_b", "plain"] {
        assert!(listed.contains(&expected), "{listed:?}");
    }
    assert!(listed.iter().all(|name| name.len() + "peer_".len() <= 64), "{listed:?}");
    let again = collected_names(&server).await;
    assert_eq!(listed, again, "names are the same each time");
    let dispatcher = dispatcher(&server.backend).await;
    let mut called: Vec<String> = Vec::new();
    for name in &listed {
        let _ = call(&dispatcher, &format!("peer:{name}"), json!({})).await;
        let requests = server.requests.lock().unwrap();
        let last = requests.iter().rfind(|request| request["method"] == "tools/call").unwrap();
        called.push(last["params"]["name"].as_str().unwrap().to_owned());
    }
    called.sort();
    let mut theirs = theirs.map(str::to_owned);
    theirs.sort();
    assert_eq!(called, theirs);
}

#[tokio::test]
async fn of_names_that_would_be_equal_the_one_that_needs_no_change_stays() {
    for theirs in [["a.b.c", "a_b_c", "a.b_c"], ["a_b_c", "a.b_c", "a.b.c"], ["a b/c", "a.b.c", "a_b_c"]] {
        let tools: Vec<Value> = theirs.iter().map(|name| json!({ "name": name, "inputSchema": {} })).collect();
        let server = listing(Way::Json, &json!(tools)).await;
        let backends = Backends::new();
        backends.register(server.backend.clone()).unwrap();
        let served = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
        let left_out = in_the_end(Proxy::new(served.clone(), backends).collect()).await;
        assert!(left_out.is_empty(), "{left_out}");
        let listing = served.listed();
        let names: Vec<&str> = listing.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names.len(), theirs.len(), "{theirs:?}: {names:?}");
        assert!(names.iter().all(|name| *name == "peer_a_b_c" || name.starts_with("peer_a_b_c_")), "{names:?}");
        let exact =
            listing.iter().find(|tool| tool.name == "peer_a_b_c").unwrap_or_else(|| panic!("{theirs:?}: {names:?}"));
        let id = exact.tool.id().to_string();
        let _ = in_the_end(served.dispatcher().call(&id, json!({}))).await;
        assert_eq!(server.requests.lock().unwrap().last().unwrap()["params"]["name"], "a_b_c", "{theirs:?}");
    }
}

async fn collected_names(server: &Raw) -> Vec<String> {
    names(&collected(&server.backend).await).into_iter().map(str::to_owned).collect()
}

/// Returns the server with an object `toolkit` of a configuration file.
fn configured(server: &Raw, settings: &Value) -> toolkit_mcp_client::McpBackend {
    let entry = json!({ "mcpServers": { "peer": { "url": server.url, "toolkit": settings } } }).to_string();
    let servers = McpServers::from_json(&entry).unwrap();
    assert_eq!(servers.rejected().next(), None);
    servers.into_iter().next().unwrap()
}

#[tokio::test]
async fn the_file_changes_names_texts_and_hints_of_tools() {
    let tools = json!([
        { "name": "rm", "description": "Removes.", "inputSchema": {}, "annotations": { "readOnlyHint": true } },
        { "name": "ls", "inputSchema": {}, "annotations": { "destructiveHint": false } },
    ]);
    let server = raw(
        Way::Json,
        [
            ("tools_list", json!({ "tools": tools }).to_string().into_bytes()),
            ("call_rm", br#"{"content":[{"type":"text","text":"removed"}]}"#.to_vec()),
        ],
    )
    .await;
    let changes = json!({
        "rm": { "name": "remove", "title": "Remove", "description": "Removes a file.", "destructive": true },
        "ls": { "readOnly": true },
        "mv": { "name": "move" },
    });
    let backend = configured(&server, &json!({ "tools": changes }));
    let collected = collected(&backend).await;
    assert_eq!(names(&collected), ["ls", "remove"]);
    let told: Vec<&str> = collected.diagnostics.iter().map(|told| told.message()).collect();
    assert_eq!(told, ["the MCP server `peer` has no tool for the rule `mv` in `toolkit.tools`"]);
    let tool = |name: &str| collected.catalog.iter().find(|tool| tool.name() == name).unwrap();
    let (remove, ls) = (tool("remove"), tool("ls"));
    assert_eq!((remove.title(), remove.description()), (Some("Remove"), "Removes a file."));
    assert_eq!((remove.annotations().read_only, remove.annotations().destructive), (None, Some(true)), "not trusted");
    assert_eq!((ls.annotations().read_only, ls.annotations().destructive), (Some(true), None));
    let dispatcher = toolkit::Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    assert_eq!(call(&dispatcher, "peer:remove", json!({})).await.unwrap(), "removed");
}

#[tokio::test]
async fn results_are_compared_with_their_schema_as_the_file_says() {
    let output = json!({ "type": "object", "properties": { "sum": { "type": "number" } }, "required": ["sum"] });
    let tools = json!({ "tools": [{ "name": "add", "inputSchema": {}, "outputSchema": output }] });
    let result = json!({ "content": [{ "type": "text", "text": "three" }], "structuredContent": { "sum": "three" } });
    let responses =
        [("tools_list", tools), ("call_add", result)].map(|(name, json)| (name, json.to_string().into_bytes()));
    let server = raw(Way::Json, responses).await;
    for (check, is_lenient) in [("strict", false), ("warn", true), ("off", true)] {
        let backend = configured(&server, &json!({ "outputValidation": check }));
        let dispatcher = dispatcher(&backend).await;
        let called = in_the_end(dispatcher.call("peer:add", json!({}))).await;
        assert_eq!(called.is_ok(), is_lenient, "{check}: {called:?}");
        if let Ok(result) = called {
            assert_eq!(result.content()[0].as_text(), Some("three"));
            assert_eq!(result.value(), json!({ "sum": "three" }));
        }
        assert_eq!(in_the_end(backend.tools()).await.unwrap().tools[0].0.output().is_some(), !is_lenient);
    }
}

#[tokio::test]
async fn arguments_of_a_server_are_corrected_as_the_file_says() {
    let input = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let tools = json!({ "tools": [{ "name": "double", "inputSchema": input }] });
    let result = json!({ "content": [{ "type": "text", "text": "42" }] });
    let responses =
        [("tools_list", tools), ("call_double", result)].map(|(name, json)| (name, json.to_string().into_bytes()));
    let server = raw(Way::Json, responses).await;
    for (settings, is_corrected) in [
        (json!({}), false),
        (json!({ "coercion": "off" }), false),
        (json!({ "coercion": "null-as-absent" }), false),
        (json!({ "coercion": "lossless" }), true),
        (json!({ "coercion": "lenient" }), true),
    ] {
        // The default of servers is for their own tools.
        let dispatcher = dispatcher(&configured(&server, &settings)).await.with_default_coercion(Coercion::Lossless);
        let called = in_the_end(dispatcher.call("peer:double", json!({ "n": "21" }))).await;
        assert_eq!(called.is_ok(), is_corrected, "{settings}: {called:?}");
        if is_corrected {
            let sent = server.requests.lock().unwrap().last().unwrap()["params"]["arguments"].clone();
            assert_eq!(sent, json!({ "n": 21 }));
        }
    }
}

#[tokio::test]
async fn the_root_of_an_input_schema_is_plain_if_the_file_says_so() {
    let branch = |name: &str, schema: Value| json!({ "properties": { name: schema }, "required": [name] });
    let input = json!({
        "type": "object",
        "properties": { "dry_run": { "type": "boolean" } },
        "oneOf": [branch("id", json!({ "type": "integer" })), branch("name", json!({ "type": "string" }))],
    });
    let tools = json!({ "tools": [{ "name": "remove", "inputSchema": input }] });
    let result = json!({ "content": [{ "type": "text", "text": "done" }] });
    let responses =
        [("tools_list", tools), ("call_remove", result)].map(|(name, json)| (name, json.to_string().into_bytes()));
    let server = raw(Way::Json, responses).await;
    for (settings, is_plain) in [(json!({}), false), (json!({ "plainInputSchemas": true }), true)] {
        let dispatcher = dispatcher(&configured(&server, &settings)).await;
        let tool = dispatcher.catalog().resolve("peer:remove").unwrap();
        let listed = tool.input().as_value();
        assert_eq!(listed.get("oneOf").is_none(), is_plain, "{listed:#}");
        let served = toolkit_mcp_server::Server::new(dispatcher.clone()).unwrap().listed();
        let entry = super::listed(&served, "peer_remove");
        assert_eq!(entry["inputSchema"].get("oneOf").is_none(), is_plain, "{entry:#}");
        assert_eq!(listed["properties"].as_object().unwrap().len(), if is_plain { 3 } else { 1 }, "{listed:#}");
        // The server decides about the combination.
        let arguments = json!({ "id": 7, "name": "a" });
        let called = in_the_end(dispatcher.call("peer:remove", arguments.clone())).await;
        assert_eq!(called.is_ok(), is_plain, "{called:?}");
        if is_plain {
            assert_eq!(server.requests.lock().unwrap().last().unwrap()["params"]["arguments"], arguments);
        }
    }
}
