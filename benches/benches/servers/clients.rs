//! Clients of the server of this program over HTTP: the processor time of a call that a client makes.

use std::io::{BufRead, BufReader, Write, stdin};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ClientConfig};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use toolkit::{Catalog, Dispatcher};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend};

use crate::cores::Cores;
use crate::http::{Http, Revision};
use crate::payload::ADD;
use crate::process::{Process, Turn};
use crate::rows::Row;
use crate::table::Client;

/// A client in a process of its own, and the server that it calls.
pub(crate) struct Caller {
    process: Process,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    _server: Http,
}

impl Caller {
    /// Starts the server, and a client of it.
    pub(crate) fn start(row: &Row, server: &Row) -> Self {
        let server = Http::start(server, Cores::all(), Revision::V2025_11_25, ADD);
        let mut command = row.program.command(Cores::all());
        command.args([row.server, "client", server.address()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Process(command.spawn().expect("this program starts"));
        let to = process.0.stdin.take().expect("stdin is a pipe");
        let from = BufReader::new(process.0.stdout.take().expect("stdout is a pipe"));
        Self { process, to, from, _server: server }
    }
}

impl Client for Caller {
    fn turn(&mut self, n_in_flight: usize, time: Duration) -> Turn {
        self.process.measure(|| {
            writeln!(self.to, "{n_in_flight} {}", time.as_millis()).expect("the client reads");
            let mut line = String::new();
            self.from.read_line(&mut line).expect("the client answers");
            line.split_whitespace().map(|micros| Duration::from_micros(micros.parse().expect("a number"))).collect()
        })
    }
}

/// Makes calls as each line of stdin says, and prints the durations of all of them, in microseconds.
pub(crate) fn call(name: &str, address: &str) {
    let runtime = Runtime::new().expect("a runtime");
    let address = format!("http://{address}/mcp");
    // The HTTP client requires a provider, even without TLS.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    match name {
        "toolkit" => {
            let dispatcher = Arc::new(runtime.block_on(dispatcher(&address)));
            turns(&runtime, move || {
                let dispatcher = dispatcher.clone();
                async move {
                    let sum = dispatcher.call("bench:add", json!({ "a": 1, "b": 2 })).await.expect("it adds");
                    assert_eq!(sum.value()["sum"], 3);
                }
            });
        }
        "rmcp" => {
            let connecting =
                async { ClientConfig::default().serve(StreamableHttpClientTransport::from_uri(address)).await };
            let client = Arc::new(runtime.block_on(connecting).expect("it connects"));
            turns(&runtime, move || {
                let client = client.clone();
                async move {
                    let Value::Object(arguments) = json!({ "a": 1, "b": 2 }) else { unreachable!() };
                    let call = CallToolRequestParams::new("add").with_arguments(arguments);
                    let result = client.call_tool(call).await.expect("it adds");
                    assert_eq!(result.structured_content.expect("it is there")["sum"], 3);
                }
            });
        }
        "post" => {
            let client = reqwest::Client::builder().no_proxy().build().expect("the defaults are valid");
            let body =
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}"#;
            turns(&runtime, move || {
                let request = client.post(&address).header("content-type", "application/json");
                let request = request.header("accept", "application/json, text/event-stream");
                let request = request.header("mcp-protocol-version", "2025-11-25").body(body);
                async move {
                    let response = request.send().await.expect("it answers");
                    let response: Value =
                        serde_json::from_str(&response.text().await.expect("it is UTF-8")).expect("it is JSON");
                    assert_eq!(response["result"]["structuredContent"]["sum"], 3);
                }
            });
        }
        _ => panic!("there is no client `{name}`"),
    }
}

async fn dispatcher(address: &str) -> Dispatcher {
    let backends = Backends::new();
    let endpoint = Endpoint::new(address).expect("it is an address");
    backends.register(McpBackend::http("bench", endpoint)).expect("it is the only one");
    let collected = backends.collect(Catalog::new([]).expect("it is empty")).await;
    Dispatcher::builder(collected.catalog).routes(collected.routes).build().expect("they belong together")
}

fn turns<F: Future<Output = ()> + Send + 'static>(runtime: &Runtime, make: impl Fn() -> F + Clone + Send + 'static) {
    for line in stdin().lines() {
        let line = line.expect("it is text");
        let (n_in_flight, millis) = line.split_once(' ').expect("two numbers");
        let n_in_flight: usize = n_in_flight.parse().expect("a number");
        let end = Instant::now() + Duration::from_millis(millis.parse().expect("a number"));
        let taken = runtime.block_on(async {
            let calling: JoinSet<_> = (0..n_in_flight).map(|_| calls_until(end, make.clone())).collect();
            calling.join_all().await.concat()
        });
        println!("{}", taken.join(" "));
    }
}

/// Returns the duration of each call, in microseconds.
async fn calls_until<F: Future<Output = ()>>(end: Instant, make: impl Fn() -> F) -> Vec<String> {
    let mut taken = Vec::new();
    let mut now = Instant::now();
    while now < end {
        make().await;
        taken.push(now.elapsed().as_micros().to_string());
        now = Instant::now();
    }
    taken
}
