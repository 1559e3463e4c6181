//! The test cases of the systems that this one replaces.

use test_support::ran;
use toolkit::Tool;
use toolkit::catalog::Naming;
use toolkit_backends::{Backends, LocalBackend};

use super::*;

/// The cases in which an MCP server differs, with the decision.
const DECIDED: [(&str, &str); 4] = [
    ("process", "a result is a `CallToolResult`, and not what the handler returned"),
    ("GET", "is a stream of changes for clients that accept events, as the protocol has it; for others 405"),
    ("{invalid json", "a message that cannot be read is 400, with the same error"),
    ("version_without_namespace", "the version is kept, and is no part of the id"),
];

async fn echoing() -> Client {
    let local = LocalBackend::new("local");
    let taking = |name: &'static str, property: &str| {
        let schema = json!({ "type": "object", "properties": { property: { "type": "string" } } });
        let output = json!({ "type": "object" });
        Tool::builder(name).description("A tool.").version("2.0.0").input(schema).output(output).build().unwrap()
    };
    local.add(taking("echo", "message"), |arguments, _| async move { Ok(json!({ "echo": arguments["message"] })) });
    local.add(taking("process", "input"), |arguments, _| async move { Ok(json!({ "result": arguments["input"] })) });
    local.add(taking("fails", "input"), |_, _| async move { Err::<Value, _>("it does".into()) });
    let backends = Backends::new();
    backends.register(local).unwrap();
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    let server = Server::builder(dispatcher).naming(Naming::Name).named("test-server", "1.0.0").build().unwrap();
    Client::of(serve(server.http()).await)
}

#[tokio::test]
async fn requests_get_the_responses_of_the_protocol() {
    let document: Value = serde_json::from_str(include_str!("../../cases/mcp_requests.json")).unwrap();
    let client = echoing().await;
    let cases = document["mcp_requests"].as_array().unwrap();
    for case in cases {
        let mut message = case["request"].clone();
        message["jsonrpc"] = "2.0".into();
        message["id"] = 1.into();
        match (message["method"].as_str(), case["http"].as_str(), case["http_body"].as_str()) {
            (Some("initialize"), ..) => {
                let result = client.send(&message).await.result();
                let expect = &case["expect"];
                assert_eq!(result["protocolVersion"], expect["protocolVersion"]);
                assert_eq!(result["serverInfo"]["name"], expect["serverInfo.name"]);
                assert!(result["capabilities"]["tools"].is_object());
            }
            (Some("tools/list"), ..) => {
                let result = client.send(&message).await.result();
                assert_eq!(result["tools"][0]["name"], case["expect"]["tools[0].name"]);
            }
            (Some("tools/call"), ..) if case["request"]["params"].is_string() => {
                message["params"] = call("fails", json!({}));
                assert_eq!(client.send(&message).await.result()["isError"], true);
            }
            (Some("tools/call"), ..) => match case.get("mcp_error_code") {
                Some(code) => assert_eq!(client.send(&message).await.code(), code.as_i64().unwrap()),
                None => {
                    let result = client.send(&message).await.result();
                    assert_eq!(result["content"], case["mcp_conformant_result"]["content"], "{}", DECIDED[0].1);
                    assert_eq!(result["structuredContent"], case["mcp_conformant_result"]["structuredContent"]);
                }
            },
            (Some("ping"), ..) => assert_eq!(client.send(&message).await.result(), json!({})),
            (_, Some("GET"), _) => {
                assert_eq!(client.without("accept").get("/mcp").await.status, case["status"], "{}", DECIDED[1].1);
            }
            (.., Some(body)) => {
                let response = client.post(body.as_bytes()).await;
                assert_eq!(
                    (response.status, response.code()),
                    (400, case["error_code"].as_i64().unwrap()),
                    "{}",
                    DECIDED[2].1
                );
            }
            _ => panic!("nothing tries {case}"),
        }
    }
    ran(cases.len());
}

#[tokio::test]
async fn a_registry_serves_its_tools_round_trip() {
    let document: Value = serde_json::from_str(include_str!("../../cases/mcp_requests.json")).unwrap();
    let client = echoing().await;
    let cases = document["registry"].as_array().unwrap();
    for case in cases {
        match case["id"].as_str().unwrap() {
            "mcp_backend_round_trip" => {
                let params = call(case["tool"].as_str().unwrap(), case["args"].clone());
                let result = client.send(&request(1, "tools/call", params)).await.result();
                assert_eq!(result["structuredContent"], case["expect"]);
            }
            "version_without_namespace" => {
                let tool = Tool::builder("versioned").description("A tool.").version("2.0.0").build().unwrap();
                let id = tool.id();
                assert_eq!((id.to_string(), id.version()), ("versioned".to_owned(), Some("2.0.0")), "{}", DECIDED[3].1);
                let catalog = Catalog::new([tool]).unwrap();
                assert!(catalog.get(case["get"].as_str().unwrap()).is_some());
            }
            "stats" => {
                let list = client.send(&request(1, "tools/list", json!({}))).await.result();
                assert_eq!(list["tools"].as_array().unwrap().len(), 3);
            }
            // `backends::registry` tests that names of backends are unique.
            "mcp_empty_name" => assert!(Backends::new().register(LocalBackend::new("")).is_err()),
            "mcp_duplicate_name" => {
                let backends = Backends::new();
                backends.register(LocalBackend::new("one")).unwrap();
                assert!(backends.register(LocalBackend::new("one")).is_err());
            }
            other => panic!("nothing tries {other}"),
        }
    }
    ran(cases.len());
}
