//! The client of the official Rust SDK runs programs.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};

use super::served::{Log, server};

fn program(code: &str) -> CallToolRequestParams {
    let Value::Object(arguments) = json!({ "code": code }) else { unreachable!() };
    CallToolRequestParams::new("run_code").with_arguments(arguments)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rust_sdk_lists_calls_and_cancels_programs() {
    let (log, dropped) = (Log::default(), Arc::new(AtomicUsize::new(0)));
    let listening = server(&log, &dropped).await.http().bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/mcp", listening.local_addr().unwrap());
    tokio::spawn(listening.run(pending()));

    // Its HTTP client requires a provider, even without TLS.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let config = ClientConfig::new(ClientCapabilities::default(), Implementation::from_build_env());
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
    let client = config.serve_with_lifecycle(StreamableHttpClientTransport::from_uri(uri), lifecycle).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool.name == "run_code"), "{tools:?}");

    let code = "await tools.served.note({ text: 'from a program' })\nreturn [1, 2].map(n => n + 1)";
    let result = client.call_tool(program(code)).await.unwrap();
    assert_eq!(result.structured_content, Some(json!({ "value": [2, 3] })));
    assert_eq!(*log.lines(), ["from a program"]);

    let failed = client.call_tool(program("await tools.served.not({})")).await.unwrap();
    assert_eq!(failed.is_error, Some(true));
    assert!(json!(failed.content)[0]["text"].as_str().unwrap().contains("did you mean tools.served.note?"));

    let counted = async |n| {
        while dropped.load(Ordering::SeqCst) < n {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let running =
        tokio::spawn(async move { client.call_tool(program("await tools.served.wait_forever()")).await.map(drop) });
    counted(1).await;
    running.abort();
    tokio::time::timeout(Duration::from_secs(60), counted(2)).await.unwrap();
}
