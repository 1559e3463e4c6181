//! JSON that parsers reject costs one entry of a list or one message, over each transport.

use std::io::{BufRead, Write};

use serde_json::{Value, json};
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit::{Catalog, Context, Dispatcher};
use toolkit_backends::Backends;
use toolkit_mcp_server::{Proxy, Server};

use super::raw::{EACH_WAY, Way, raw, tools};
use super::{call, collected, dispatcher, in_the_end, peer};

/// Values that parsers reject, and the values that are read instead, if any.
fn damages() -> Vec<(Vec<u8>, Option<Value>)> {
    let nested = [vec![b'['; 5_000], vec![b']'; 5_000]].concat();
    let digits = "9".repeat(400);
    vec![
        (br#""a\ud800b""#.to_vec(), Some(json!("a\u{fffd}b"))),
        (br#""\udc00\ud83d\ude00\uD83D""#.to_vec(), Some(json!("\u{fffd}\u{1f600}\u{fffd}"))),
        (b"\"a\xFFb\xE2\x82\"".to_vec(), Some(json!("a\u{fffd}b\u{fffd}"))),
        (b"1e400".to_vec(), Some(json!("1e400"))),
        (b"[-1E+999]".to_vec(), Some(json!(["-1E+999"]))),
        (digits.clone().into_bytes(), Some(json!(digits))),
        (b"NaN".to_vec(), Some(json!("NaN"))),
        (
            br#"{"x": -Infinity, "y": "\ud800 NaN 1e400"}"#.to_vec(),
            Some(json!({ "x": "-Infinity", "y": "\u{fffd} NaN 1e400" })),
        ),
        (br#"{"x": 1, "x": 2}"#.to_vec(), Some(json!({ "x": 2 }))),
        (nested, None),
    ]
}

/// Returns a list of entries, each with one of the damages, and at last one that is intact.
fn list(field: &str, entry: &str) -> Vec<u8> {
    let named = |name: &str| entry.replace("NAME", name).into_bytes();
    let mut entries: Vec<Vec<u8>> = Vec::new();
    for (n, (damage, _)) in damages().into_iter().enumerate() {
        let entry = named(&format!("e{n}"));
        entries.push([&entry[..entry.len() - 1], b",\"_meta\":{\"x\":", &damage, b"}}"].concat());
    }
    entries.push(named("intact"));
    [format!("{{\"{field}\":[").into_bytes(), entries.join(&b','), b"]}".to_vec()].concat()
}

/// Returns the names of the entries that can be read.
fn readable() -> Vec<String> {
    let read = damages().into_iter().enumerate().filter(|(_, (_, read))| read.is_some());
    read.map(|(n, _)| format!("e{n}")).chain(["intact".to_owned()]).collect()
}

#[tokio::test]
async fn a_damaged_tool_costs_no_other() {
    for way in EACH_WAY {
        let list = list("tools", r#"{"name":"NAME","inputSchema":{"type":"object"}}"#);
        let server = raw(way, [("tools_list", list)]).await;
        let collected = collected(&server.backend).await;
        assert!(collected.failures.is_empty(), "{way:?}: {:?}", collected.failures);
        let mut names: Vec<String> = collected.catalog.iter().map(|tool| tool.name().to_owned()).collect();
        names.sort();
        assert_eq!(names, readable(), "{way:?}");
        let problems: Vec<String> = collected.diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(problems.len(), 1, "{problems:?}");
        let expected = "lists `e9`, which is left out: it is nested deeper than 127 levels";
        assert!(problems[0].contains(expected), "{problems:?}");
        for (n, (_, read)) in damages().into_iter().enumerate().filter(|(_, (_, read))| read.is_some()) {
            let tool = collected.catalog.resolve(&format!("peer:e{n}")).unwrap();
            assert_eq!(tool.meta().unwrap().get("x"), read.as_ref(), "{way:?}");
        }
    }
}

#[tokio::test]
async fn a_damaged_resource_costs_no_other() {
    for way in EACH_WAY {
        let resources = list("resources", r#"{"uri":"x:NAME","name":"NAME"}"#);
        let templates = list("resourceTemplates", r#"{"uriTemplate":"x:NAME/{id}","name":"NAME"}"#);
        let read = br#"{"contents":[{"uri":"x:a","text":"a\ud800"}]}"#.to_vec();
        let responses =
            [("resources_list", resources), ("resources_templates_list", templates), ("resources_read", read)];
        let server = raw(way, responses).await;
        let (resources, context) = (server.backend.resources().unwrap(), Context::new());
        let listed = in_the_end(resources.list(&context)).await.unwrap();
        let names: Vec<String> = listed.into_iter().map(|resource| resource.name).collect();
        assert_eq!(names, readable(), "{way:?}");
        let listed = in_the_end(resources.templates(&context)).await.unwrap();
        let names: Vec<String> = listed.into_iter().map(|template| template.name).collect();
        assert_eq!(names, readable(), "{way:?}");
        let contents = in_the_end(resources.read("x:a", &context)).await.unwrap();
        assert!(json!(contents).to_string().contains("a\u{fffd}"), "{contents:?}");
    }
}

#[tokio::test]
async fn an_error_that_is_nested_too_deeply_ends_its_call() {
    for way in EACH_WAY {
        let data = "[".repeat(5_000) + &"]".repeat(5_000);
        let error = format!(r#"{{"code": -1, "message": "no", "data": {data}}}"#).into_bytes();
        let server = raw(way, [("tools_list", tools(&["deep"])), ("call_deep.error", error)]).await;
        let error = call(&dispatcher(&server.backend).await, "peer:deep", json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidResponse, "{way:?}: {error:?}");
    }
}

#[tokio::test]
async fn a_damaged_result_is_repaired_or_fails_its_call_only() {
    for way in EACH_WAY {
        let names: Vec<String> = (0..damages().len()).map(|n| format!("t{n}")).collect();
        let listed = tools(&names.iter().map(|name| &**name).collect::<Vec<_>>());
        let results: Vec<(String, Vec<u8>)> = std::iter::zip(&names, damages())
            .map(|(name, (damage, _))| {
                let result = [&b"{\"content\":[],\"structuredContent\":{\"x\":"[..], &damage, b"}}"].concat();
                (format!("call_{name}"), result)
            })
            .collect();
        let responses = results.iter().map(|(name, result)| (&**name, result.clone()));
        let server = raw(way, responses.chain([("tools_list", listed)])).await;
        let dispatcher = dispatcher(&server.backend).await;
        for (name, (_, read)) in std::iter::zip(&names, damages()) {
            let outcome = call(&dispatcher, &format!("peer:{name}"), json!({})).await;
            match read {
                Some(read) => assert_eq!(outcome.unwrap(), json!({ "x": read }), "{way:?}"),
                None => {
                    let error = outcome.unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::InvalidResponse, "{way:?}: {error:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_message_beside_others_and_text_in_its_line_is_read() {
    let logged = br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}} "#;
    let responses = [
        ("tools_list", tools(&["before", "after"])),
        ("call_before", br#"{"content":[],"structuredContent":1}"#.to_vec()),
        ("call_before.before", logged.to_vec()),
        // The brace that ends the message follows the text.
        ("call_after", br#"{"content":[],"structuredContent":2}} done."#.to_vec()),
    ];
    let server = raw(Way::Stdio, responses).await;
    let dispatcher = dispatcher(&server.backend).await;
    assert_eq!(call(&dispatcher, "peer:before", json!({})).await.unwrap(), 1);
    assert_eq!(call(&dispatcher, "peer:after", json!({})).await.unwrap(), 2);
}

#[tokio::test]
async fn a_line_at_the_limit_of_a_message_costs_no_other_line() {
    const LIMIT: usize = 2_000;
    for n_text in LIMIT - 90..LIMIT - 60 {
        let long = format!(r#"{{"content":[],"structuredContent":"{}"}}"#, "x".repeat(n_text));
        let responses = [
            ("tools_list", tools(&["long", "short"])),
            ("call_long", long.into_bytes()),
            ("call_short", br#"{"content":[],"structuredContent":1}"#.to_vec()),
        ];
        let server = raw(Way::Stdio, responses).await;
        let dispatcher = dispatcher(&server.backend.clone().max_message_bytes(LIMIT)).await;
        let _ = call(&dispatcher, "peer:long", json!({})).await;
        assert_eq!(call(&dispatcher, "peer:short", json!({})).await.unwrap(), 1, "{n_text}");
    }
}

#[tokio::test]
async fn a_server_may_write_lists_for_objects_and_tools_where_it_is_initialized() {
    for way in EACH_WAY {
        let initialized = br#"{"protocolVersion":"2025-06-18","capabilities":{"tools":[]},"tools":[{"name":"no"}]}"#;
        let responses = [("initialize", initialized.to_vec()), ("tools_list", tools(&["yes"]))];
        let server = raw(way, responses).await;
        let listed = in_the_end(server.backend.tools()).await.unwrap().tools;
        assert_eq!(listed.iter().map(|(tool, _)| tool.name()).collect::<Vec<_>>(), ["yes"], "{way:?}");
    }
}

#[tokio::test]
async fn a_message_with_equal_fields_is_read() {
    let responses = [
        ("tools_list", tools(&["twice"])),
        ("call_twice", br#"{"content":[]},"result":{"content":[],"structuredContent":1}"#.to_vec()),
    ];
    for way in EACH_WAY {
        let server = raw(way, responses.clone()).await;
        let dispatcher = dispatcher(&server.backend).await;
        assert_eq!(call(&dispatcher, "peer:twice", json!({})).await.unwrap(), 1, "{way:?}");
    }
}

/// Numbers that a value would change.
const NUMBERS: &str =
    r#"{"a":18446744073709551616,"b":[12345678901234567890123,1.10,-0],"c":{"d/e":1e400,"f":2.50e1}}"#;

/// Connects a client to a proxy for a server, and returns a function that calls a tool and returns the result as text.
pub(super) async fn raw_client(backend: toolkit_mcp_client::McpBackend) -> impl FnMut(&str, &str) -> String {
    let backends = Backends::new();
    backends.register(backend).unwrap();
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    assert!(in_the_end(Proxy::new(server.clone(), backends).collect()).await.is_empty());
    let (input, mut to) = std::io::pipe().unwrap();
    let (from, output) = std::io::pipe().unwrap();
    tokio::spawn(async move { server.pipes(input, output).await });
    let mut lines = std::io::BufReader::new(from).lines();
    let mut exchange = move |message: &str| {
        tokio::task::block_in_place(|| {
            writeln!(to, "{message}").unwrap();
            lines.next().unwrap().unwrap()
        })
    };
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    exchange(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }).to_string());
    move |tool, arguments| {
        let params = format!(r#"{{"name": "{tool}", "arguments": {arguments}}}"#);
        exchange(&format!(r#"{{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {params}}}"#))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_of_a_result_keep_their_digits_through_a_proxy() {
    for way in EACH_WAY {
        for is_error in [false, true] {
            let text = r#"{"type":"text","text":"\ud800 1.10","annotations":{"priority":0.10}}"#;
            let result = format!(
                r#"{{"content":[{text},{{"type":"resource_link","uri":"x:a","name":"a","size":1e3}}],"structuredContent":{NUMBERS},"isError":{is_error},"_meta":{{"n":{NUMBERS}}},"x":1.10}}"#
            );
            let server = raw(way, [("tools_list", tools(&["exact"])), ("call_exact", result.into_bytes())]).await;
            let received = raw_client(server.backend.clone()).await("peer_exact", "{}");
            for part in [
                format!(r#""structuredContent":{NUMBERS}"#),
                format!(r#""n":{NUMBERS}"#),
                r#""priority":0.10"#.to_owned(),
                r#""size":1e3"#.to_owned(),
                r#""uri":"proxy:peer/x:a""#.to_owned(),
                r#""x":1.10"#.to_owned(),
                r#""text":"\ufffd 1.10""#.to_owned(),
            ] {
                assert!(received.contains(&part), "{way:?}: {part} is not in {received}");
            }
            assert!(!received.contains("rs.toolkit/text"), "{received}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_that_only_the_text_of_a_result_has_keep_their_digits() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "number" } } });
    let tools = json!({ "tools": [{ "name": "exact", "inputSchema": { "type": "object" }, "outputSchema": schema }] });
    for (result, expected) in [
        (r#"{"content":[{"type":"text","text":"{\"a\":1.10}"}]}"#, r#""structuredContent":{"a":1.10}"#),
        (r#"{"content":[],"structuredContent":{"a":1e400}}"#, r#""structuredContent":{"a":1e400}"#),
    ] {
        let responses = [("tools_list", tools.to_string().into_bytes()), ("call_exact", result.into())];
        let server = raw(Way::Json, responses).await;
        let received = raw_client(server.backend.clone()).await("peer_exact", "{}");
        assert!(received.contains(expected), "{received}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_of_arguments_keep_their_digits_through_a_proxy() {
    let numbers = NUMBERS.replace("1e400", "1e4");
    for way in [Way::Json, Way::Events] {
        let result = br#"{"content":[]}"#.to_vec();
        let server = raw(way, [("tools_list", tools(&["exact"])), ("call_exact", result)]).await;
        raw_client(server.backend.clone()).await("peer_exact", &numbers);
        let bodies = server.bodies.lock().unwrap();
        let sent = bodies.last().unwrap();
        assert!(sent.contains(&format!(r#""arguments":{numbers}"#)), "{sent}");
    }
}

/// Arguments that parsers reject, and those that the server receives.
fn arguments() -> [(&'static str, Value); 4] {
    [
        (r#"{"a": "\ud800"}"#, json!({ "a": "\u{fffd}" })),
        (r#"{"\udc00": ["\uD83D\ude00"]}"#, json!({ "\u{fffd}": ["\u{1f600}"] })),
        (r#"{"a": 1e400}"#, json!({ "a": "1e400" })),
        (r#"{"a": NaN}"#, json!({ "a": "NaN" })),
    ]
}

#[tokio::test]
async fn damaged_arguments_are_repaired_for_a_server() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    for (sent, received) in arguments() {
        let result = in_the_end(dispatcher.call("peer:echo", sent)).await.unwrap();
        assert_eq!(result.value()["arguments"], received, "{sent}");
    }
    let error = in_the_end(dispatcher.call("peer:echo", r#"{"a": "#)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MalformedJson);
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_arguments_pass_through_a_proxy() {
    let mut call = raw_client(peer(&["usual"])).await;
    // The last one is not a message.
    for (sent, received) in &arguments()[..3] {
        let answer: Value = serde_json::from_str(&call("peer_echo", sent)).unwrap();
        assert_eq!(&answer["result"]["structuredContent"]["arguments"], received, "{answer}");
    }
}
