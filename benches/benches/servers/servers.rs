//! The servers that are compared.

use std::io::{BufRead, BufReader, BufWriter, Write, stdin, stdout};
use std::sync::Arc;

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ServerCapabilities, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use toolkit::{Dispatcher, tool};

/// Runs one of the servers until the process is killed, or its stdin ends.
pub(crate) fn serve(name: &str) {
    if name == "pipe-loop" {
        return minimal_loop();
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        match name {
            "http-toolkit" => toolkit_over_http().await,
            "http-rmcp" => rmcp_over_http().await,
            "http-axum" => axum_alone().await,
            "pipe-toolkit" => toolkit_server().stdio().await.expect("the pipes hold"),
            "pipe-rmcp" => drop(Bare.serve(rmcp::transport::stdio()).await.expect("it begins").waiting().await),
            other => panic!("there is no server `{other}`"),
        }
    });
    std::process::exit(0);
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize)]
struct Terms {
    a: i64,
    b: i64,
}

/// Adds two integers.
#[tool(crate = ::toolkit)]
fn add(a: i64, b: i64) -> Sum {
    Sum { sum: a + b }
}

fn toolkit_server() -> toolkit_mcp::server::Server {
    let dispatcher = Dispatcher::new(toolkit::catalog![add].expect("one tool")).expect("it borrows nothing");
    toolkit_mcp::server::Server::new(dispatcher).expect("its name is portable")
}

async fn toolkit_over_http() {
    let listening = toolkit_server().http().bind("127.0.0.1:0").await.expect("a port is free");
    println!("{}", listening.local_addr().expect("it has one"));
    listening.run(std::future::pending()).await;
}

/// rmcp without its macros and its router: serde, the function, and a result. Nothing is checked but by serde.
#[derive(Clone)]
struct Bare;

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default());
        let Terms { a, b } = serde_json::from_value(arguments).expect("valid");
        let sum = serde_json::to_value(Sum { sum: a + b }).expect("a number");
        Ok(CallToolResult::structured(sum).into())
    }
}

async fn rmcp_over_http() {
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(|| Ok(Bare), Arc::new(NeverSessionManager::default()), config);
    serve_router(axum::Router::new().nest_service("/mcp", service)).await;
}

#[derive(Deserialize)]
struct Message<'m> {
    #[serde(borrow)]
    id: &'m RawValue,
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    arguments: Terms,
}

/// The response, by the shortest way that there is.
fn answered(message: &[u8]) -> String {
    let message: Message<'_> = serde_json::from_slice(message).expect("valid");
    let Terms { a, b } = message.params.arguments;
    let (id, sum) = (message.id, a + b);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{{\"sum\":{sum}}}"}}],"structuredContent":{{"sum":{sum}}}}}}}"#
    )
}

/// A handler that knows nothing of the protocol but this one call.
async fn axum_alone() {
    let handler = async |body: axum::body::Bytes| ([("content-type", "application/json")], answered(&body));
    serve_router(axum::Router::new().route("/mcp", axum::routing::post(handler))).await;
}

async fn serve_router(router: axum::Router) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    println!("{}", listener.local_addr().expect("it has one"));
    axum::serve(listener, router).await.expect("it serves");
}

/// One thread that reads lines and writes lines, and sends them when there is nothing left to read.
fn minimal_loop() {
    let (mut input, mut output) = (BufReader::new(stdin()), BufWriter::new(stdout()));
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).is_ok_and(|n_read| n_read > 0) {
        if line.windows(12).any(|word| word == b"\"tools/call\"") {
            writeln!(output, "{}", answered(&line)).expect("somebody reads");
        } else if line.windows(12).any(|word| word == b"\"initialize\"") {
            writeln!(output, "{{}}").expect("somebody reads");
        }
        line.clear();
        if input.buffer().is_empty() {
            output.flush().expect("somebody reads");
        }
    }
}
