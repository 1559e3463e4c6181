//! A trace that crosses every process between a client and a tool.

use std::process::{Command, Stdio};

use serde_json::json;
use toolkit::Context;
use toolkit::call::TraceContext;
use toolkit_mcp_client::{Endpoint, McpBackend};

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server and haproxy"]
async fn a_trace_reaches_the_tool_from_an_mcp_client_behind_haproxy_a_front_and_nats() {
    if Command::new("haproxy").arg("-v").stdout(Stdio::null()).status().is_err() {
        assert!(std::env::var_os("TOOLKIT_REQUIRE_NATS").is_none(), "haproxy is not installed");
        println!("SKIPPED: haproxy is not installed");
        return;
    }
    let server = Server::start();
    let _worker = worker(&server);
    let [front_port, proxy_port] = [free_port(), free_port()];
    let _front = Killed(
        Command::new(&*TOOLS)
            .args(["serve", "--http", &format!("127.0.0.1:{front_port}"), "--nats-tools", &server.url()])
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    // The configuration for operators, with these ports and one replica.
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/haproxy.cfg")).unwrap();
    let text = text.replace("127.0.0.1:8080", &format!("127.0.0.1:{proxy_port}"));
    let text = text.replace("127.0.0.1:8001", &format!("127.0.0.1:{front_port}"));
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains(":8002") && !line.contains(":8003")).collect();
    let configuration = server.folder().join("haproxy.cfg");
    std::fs::write(&configuration, lines.join("\n") + "\n").unwrap();
    let _haproxy =
        Killed(Command::new("haproxy").args(["-db", "-f"]).arg(&configuration).stderr(Stdio::null()).spawn().unwrap());

    let endpoint = Endpoint::new(&format!("http://127.0.0.1:{proxy_port}/mcp")).unwrap();
    let client = McpBackend::http("front", endpoint);
    until(async || {
        let listed = soon(toolkit::backend::Backend::tools(&client)).await;
        listed.is_ok_and(|listed| listed.tools.iter().any(|(tool, _)| tool.id().name() == "diary_trace"))
    })
    .await;
    let backends = Backends::new();
    backends.register(client).unwrap();
    let collected = soon(backends.collect(Catalog::new([]).unwrap())).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();

    let trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
    let trace = TraceContext::new(format!("00-{trace_id}-1234567890123456-01")).tracestate("vendor=1");
    let context = Context::new().with(trace);
    soon(dispatcher.call_with(&context, "front:diary_trace", json!({ "id": 1 }))).await.unwrap();
    // The tool wrote it to its file.
    let written = std::fs::read_to_string(server.folder().join("diary")).unwrap();
    let line = written.lines().find(|line| line.starts_with("trace 1 ")).unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    assert!(words[3].starts_with(&format!("00-{trace_id}-")) && words[4] == "vendor=1", "{line}");
}
