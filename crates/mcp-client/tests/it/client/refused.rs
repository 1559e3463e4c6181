//! JSON-RPC errors of servers: the model reads their text.

use serde_json::json;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;

use super::raw::{EACH_WAY, raw, tools};
use super::{call, dispatcher, in_the_end};

/// Errors, the kind that they become, and the message.
fn table() -> Vec<(String, ErrorKind, String)> {
    let mut table = Vec::new();
    let failed = |code: &str, text: &str| match text {
        "" => format!("the MCP server `peer` failed with error {code}"),
        text => format!("the MCP server `peer` failed with error {code}: {text}"),
    };
    for code in ["-32603", "-32601", "-32700", "-32600", "-32000", "-32001", "-32099", "0", "1", "404", "2147483647"] {
        let error = format!(r#"{{"code":{code},"message":"sheet `a` does not exist"}}"#);
        table.push((error, ErrorKind::Internal, failed(code, "sheet `a` does not exist")));
    }
    // Codes that are not 32-bit integers.
    for code in ["9007199254740991", "-1e300", "1e400", "1.5", "\"ENOENT\"", "null", "{}"] {
        let error = format!(r#"{{"code":{code},"message":"no file"}}"#);
        table.push((error, ErrorKind::Internal, failed("-32603", "no file")));
    }
    let shown = |error: &str, text: &str| (error.to_owned(), ErrorKind::Internal, failed("-32603", text));
    let long = "x".repeat(5_000);
    table.extend([
        (
            r#"{"code":-32602,"message":"`a` is missing"}"#.to_owned(),
            ErrorKind::InvalidArguments,
            "`a` is missing".to_owned(),
        ),
        (
            r#"{"code":-32602,"message":""}"#.to_owned(),
            ErrorKind::InvalidArguments,
            "the MCP server `peer` rejected the arguments".to_owned(),
        ),
        (
            r#"{"code":-32602,"message":"Unknown tool: it"}"#.to_owned(),
            ErrorKind::UnknownTool,
            "the MCP server `peer` no longer has this tool: Unknown tool: it".to_owned(),
        ),
        (
            r#"{"code":-32021,"message":"needs sampling"}"#.to_owned(),
            ErrorKind::Failed,
            "the tool requires a client capability that this program does not support: needs sampling".to_owned(),
        ),
        shown(r#"{"code":-32603,"message":"failed","data":"row 7 is locked"}"#, "failed (row 7 is locked)"),
        shown(r#"{"code":-32603,"message":"failed","data":{"row":7}}"#, r#"failed ({"row":7})"#),
        shown(r#"{"code":-32603,"message":"row 7 is locked","data":"row 7"}"#, "row 7 is locked"),
        shown(r#"{"code":-32603,"message":"","data":"row 7"}"#, "row 7"),
        shown(r#"{"code":-32603,"data":["row",7]}"#, r#"["row",7]"#),
        shown(r#"{"code":-32603,"message":"failed","data":null}"#, "failed"),
        shown(
            &format!(r#"{{"code":-32603,"message":"failed","data":"{long}"}}"#),
            &format!("failed ({}…)", &long[..1_000]),
        ),
        shown(
            &format!(r#"{{"code":-32603,"message":"failed","data":["{long}"]}}"#),
            &format!("failed ([\"{}…)", &long[..998]),
        ),
        shown(&format!(r#"{{"code":-32603,"message":"{long}"}}"#), &format!("{}…", &long[..2_000])),
        shown("{\"code\":-32603,\"message\":\"a\\u001b[2J\u{200b}b\\ud800\"}", "a\\u{1b}[2J\\u{200b}b\u{fffd}"),
        shown(r#"{"code":-32603,"message":{"text":"odd"}}"#, r#"{"text":"odd"}"#),
        shown(r#""only a text""#, "only a text"),
        shown("{}", ""),
    ]);
    table
}

#[tokio::test]
async fn the_text_of_each_error_reaches_the_model() {
    let names: Vec<String> = (0..table().len()).map(|n| format!("t{n}")).collect();
    for way in EACH_WAY {
        let errors: Vec<(String, Vec<u8>)> = std::iter::zip(&names, table())
            .map(|(name, (error, ..))| (format!("call_{name}.error"), error.into_bytes()))
            .collect();
        let listed = tools(&names.iter().map(|name| &**name).collect::<Vec<_>>());
        let responses = errors.iter().map(|(name, error)| (&**name, error.clone()));
        let server = raw(way, responses.chain([("tools_list", listed)])).await;
        let dispatcher = dispatcher(&server.backend).await;
        for (name, (sent, kind, message)) in std::iter::zip(&names, table()) {
            let error = call(&dispatcher, &format!("peer:{name}"), json!({})).await.unwrap_err();
            assert_eq!((error.kind(), error.message()), (kind, &*message), "{way:?}: {sent}");
            assert!(!error.is_retryable(), "{sent}");
        }
    }
}

#[tokio::test]
async fn the_text_of_an_error_of_a_resource_is_not_hidden() {
    for way in EACH_WAY {
        let error = br#"{"code":-32603,"message":"the disk is full"}"#.to_vec();
        let server = raw(way, [("tools_list", tools(&[])), ("resources_read.error", error)]).await;
        let context = toolkit::Context::new();
        let error = in_the_end(server.backend.resources().unwrap().read("x:a", &context)).await.unwrap_err();
        let message = "the MCP server `peer` failed with error -32603: the disk is full";
        assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, message), "{way:?}");
    }
}
