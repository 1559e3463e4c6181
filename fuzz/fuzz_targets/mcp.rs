//! Random bytes as messages to an MCP server, over a pipe and over HTTP.
//!
//! No input causes a panic or a hang: each line and each request has one JSON-RPC response, one array of responses if it
//! is a batch, or none if it is a notification.
#![no_main]

use std::io::{self, Cursor, Write};
use std::sync::{Arc, LazyLock, Mutex};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use http_body_util::{BodyExt, Full};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tokio::runtime::Runtime;
use toolkit::Dispatcher;
use toolkit_mcp_server::{Body, Server, Service};
use tower_service::Service as _;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there are threads"));
/// A server that lists its tools, and one that lists the search tools.
static SERVERS: LazyLock<[Server; 2]> = LazyLock::new(|| [1000, 0].map(server));
static SERVICES: LazyLock<[Service; 2]> =
    LazyLock::new(|| SERVERS.each_ref().map(|server| server.http().into_service()));

fn server(list_at_most: usize) -> Server {
    let dispatcher = Dispatcher::new(toolkit_fuzz::tools()).expect("the tools borrow nothing");
    let server = Server::builder(dispatcher).list_at_most(list_at_most).page_size(2).empty_prompts_and_resources(true);
    server.build().expect("their names are portable")
}

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, message)) = bytes.split_first() else {
        return;
    };
    let nth = usize::from(choice & 1);
    match choice & 2 {
        0 => over_a_pipe(&SERVERS[nth], message),
        _ => RUNTIME.block_on(over_http(&SERVICES[nth], message, choice & 4 != 0)),
    }
});

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn over_a_pipe(server: &Server, input: &[u8]) {
    let written = Written::default();
    let served = RUNTIME.block_on(server.pipes(Cursor::new(input.to_vec()), written.clone()));
    served.expect("what is in memory can be read and written");
    // All requests have been processed, but the responses may not have been written yet.
    let n_lines = input.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
    let output = std::mem::take(&mut *written.0.lock().expect("nobody panics"));
    let lines = output.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let n_answers = lines.filter(|line| is_answer(line)).count();
    assert!(n_answers <= n_lines, "{n_answers} answers to {n_lines} lines");
}

async fn over_http(service: &Service, message: &[u8], is_modern: bool) {
    let mut request = Request::post("/mcp").header(header::HOST, "localhost");
    request = request.header(header::CONTENT_TYPE, "application/json").header(header::ACCEPT, "text/event-stream");
    if is_modern {
        request = request.header("mcp-protocol-version", "2026-07-28");
        let message: Value = serde_json::from_slice(message).unwrap_or_default();
        for (name, said) in [("mcp-method", &message["method"]), ("mcp-name", &message["params"]["name"])] {
            if let Some(Ok(said)) = said.as_str().map(HeaderValue::from_str) {
                request = request.header(name, said);
            }
        }
    }
    let request = request.body(Full::new(Bytes::copy_from_slice(message))).expect("it is a request");
    let Ok(response) = service.clone().call(request).await;
    let status = response.status();
    assert!(matches!(status.as_u16(), 200 | 202 | 400 | 404), "{status}");
    let kind = response.headers().get(header::CONTENT_TYPE).cloned();
    let body = read(response).await;
    match kind.as_ref().and_then(|kind| kind.to_str().ok()) {
        Some("application/json") => assert!(is_answer(&body)),
        Some("text/event-stream") => {
            let events = body.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data: "));
            assert!(events.filter(|event| is_answer(event)).count() <= 1);
        }
        _ => assert!(body.is_empty() && status == 202, "{status} {}", String::from_utf8_lossy(&body)),
    }
}

/// Returns the available part of a body, since a stream of changes has no end.
async fn read(response: Response<Body>) -> Vec<u8> {
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    let is_endless = http_body::Body::size_hint(&body).exact().is_none();
    loop {
        let frame = match is_endless {
            true => tokio::time::timeout(std::time::Duration::ZERO, body.frame()).await.ok().flatten(),
            false => body.frame().await,
        };
        let Some(Ok(frame)) = frame else {
            return bytes;
        };
        bytes.extend_from_slice(&frame.into_data().unwrap_or_default());
    }
}

/// Returns true if a message responds to a request, or to a batch of them; it may be a notification instead.
fn is_answer(message: &[u8]) -> bool {
    let shown = || String::from_utf8_lossy(message).into_owned();
    let message: Value = serde_json::from_slice(message).unwrap_or_else(|error| panic!("{error}: {}", shown()));
    assert!(shown().len() < 1 << 20, "{} bytes", shown().len());
    match &message {
        Value::Array(batch) => {
            assert!(!batch.is_empty() && batch.iter().all(is_response), "{}", shown());
            true
        }
        one => is_response(one),
    }
}

fn is_response(message: &Value) -> bool {
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    if message.get("method").is_some() {
        assert!(message.get("id").is_none(), "a server asks nothing: {message}");
        return false;
    }
    assert!(message.get("result").is_some() != message.get("error").is_some(), "{message}");
    true
}
