//! Spans and metrics of `serve`, as a collector of OpenTelemetry receives them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use serde_json::{Value, json};

/// The trace of the client.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// The paths and bodies of requests.
type Received = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// A collector that keeps what it receives.
struct Collector {
    endpoint: String,
    received: Received,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let received = Received::default();
        let all = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, all) = (stream.unwrap(), Arc::clone(&all));
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    loop {
                        let (mut head, mut n_bytes) = (String::new(), 0);
                        while !head.ends_with("\r\n\r\n") {
                            let start = head.len();
                            if reader.read_line(&mut head).unwrap_or_default() == 0 {
                                return;
                            }
                            if let Some(length) = head[start..].to_ascii_lowercase().strip_prefix("content-length:") {
                                n_bytes = length.trim().parse().unwrap();
                            }
                        }
                        let mut body = vec![0; n_bytes];
                        reader.read_exact(&mut body).unwrap();
                        let path = head.split(' ').nth(1).unwrap().to_owned();
                        all.lock().unwrap().push((path, body));
                        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
                    }
                });
            }
        });
        Self { endpoint, received }
    }

    fn bodies<M: Message + Default>(&self, path: &str) -> Vec<M> {
        let received = self.received.lock().unwrap();
        received.iter().filter(|(at, _)| at == path).map(|(_, body)| M::decode(&**body).unwrap()).collect()
    }

    /// Returns the exported spans, with the name of their service.
    fn spans(&self) -> Vec<(String, Span)> {
        let exported = self.bodies::<ExportTraceServiceRequest>("/v1/traces");
        let of_resource = exported.into_iter().flat_map(|exported| exported.resource_spans);
        let spans = of_resource.flat_map(|spans| {
            let service = texts(&spans.resource.unwrap().attributes)["service.name"].clone();
            let spans = spans.scope_spans.into_iter().flat_map(|scope| scope.spans);
            spans.map(|span| (service.clone(), span)).collect::<Vec<_>>()
        });
        spans.collect()
    }
}

fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |attribute: &KeyValue| match attribute.value.as_ref().unwrap().value.as_ref().unwrap() {
        AnyValue::StringValue(text) => text.clone(),
        other => format!("{other:?}"),
    };
    attributes.iter().map(|attribute| (attribute.key.clone(), text(attribute))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn request(id: u32, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({ "traceparent": format!("00-{TRACE}-b7ad6b7169203331-01") });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// Sends requests to a proxy over stdio, waits for the responses, and returns them with its log.
fn through_proxy(requests: &[String], environment: &[(&str, &str)], flags: &[&str]) -> (Vec<Value>, String) {
    let folder = tempfile();
    let inner: BTreeMap<_, _> = environment.iter().filter(|(name, _)| *name != "OTEL_SERVICE_NAME").copied().collect();
    let mut inner = json!({ "command": env!("CARGO_BIN_EXE_fixture_tools"), "args": ["serve"], "env": inner });
    inner["env"]["OTEL_SERVICE_NAME"] = json!("inner");
    let file = folder.join("mcp.json");
    std::fs::write(&file, json!({ "mcpServers": { "inner": inner } }).to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
    command.args(["serve", "--proxy-wait", "30s", "--proxy"]).arg(&file).args(flags);
    command.envs(environment.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut stderr = child.stderr.take().unwrap();
    let log = std::thread::spawn(move || {
        let mut log = String::new();
        stderr.read_to_string(&mut log).unwrap();
        log
    });
    let mut responses = Vec::new();
    for request in requests {
        stdin.write_all(request.as_bytes()).unwrap();
        let response = stdout.by_ref().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        responses.push(response.into_iter().find(|message| message.get("id").is_some()).unwrap());
    }
    drop(stdin);
    child.wait().unwrap();
    (responses, log.join().unwrap())
}

fn tempfile() -> std::path::PathBuf {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static N: AtomicUsize = AtomicUsize::new(0);
    let n = N.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("toolkit-exported-{}-{n}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn one_trace_spans_client_proxy_server_and_the_registry_knows_its_attributes() {
    let collector = Collector::start();
    let requests = [
        request(1, "tools/call", json!({ "name": "inner_math_add", "arguments": { "a": 1, "b": 2 } })),
        request(2, "tools/call", json!({ "name": "inner_bad_refuse", "arguments": {} })),
        request(3, "tools/call", json!({ "name": "inner_absent", "arguments": {} })),
        request(4, "tools/list", json!({})),
    ];
    let environment = [("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.endpoint), ("OTEL_SERVICE_NAME", "proxy")];
    let (responses, log) = through_proxy(&requests, &environment, &[]);
    assert!(responses[0].get("result").is_some(), "{responses:?} {log}");
    // The server ends after its proxy.
    super::operated::until(|| collector.spans().iter().any(|(service, _)| service == "inner"));
    std::thread::sleep(Duration::from_millis(200));
    let spans = collector.spans();
    let registry: Value = serde_json::from_str(include_str!("../../../support/data/otel_mcp.json")).unwrap();
    for (service, span) in &spans {
        let kind = if span.kind == SpanKind::Server as i32 { "server" } else { "client" };
        let attributes = texts(&span.attributes);
        for name in attributes.keys() {
            assert!(registry["spans"][kind].get(name).is_some(), "{service} {}: {name}", span.name);
        }
        assert_eq!(attributes["network.transport"], "pipe");
    }
    let names: Vec<_> = spans.iter().map(|(service, span)| (service, &span.name, span.kind)).collect();
    let find = |service: &str, kind: SpanKind, name: &str| {
        let mut found =
            spans.iter().filter(|(of, span)| of == service && span.kind == kind as i32 && span.name == name);
        let (_, span) = found.next().unwrap_or_else(|| panic!("{service} {name}: {names:?}"));
        span
    };

    // The first request of the connection, whose span has no parent.
    assert!(find("proxy", SpanKind::Client, "server/discover").parent_span_id.is_empty());
    let add = [
        find("proxy", SpanKind::Server, "tools/call inner_math_add"),
        find("proxy", SpanKind::Client, "tools/call math_add"),
        find("inner", SpanKind::Server, "tools/call math_add"),
    ];
    assert_eq!(hex(&add[0].parent_span_id), "b7ad6b7169203331");
    assert_eq!(add[1].parent_span_id, add[0].span_id);
    assert_eq!(add[2].parent_span_id, add[1].span_id);
    for span in add {
        assert_eq!(hex(&span.trace_id), TRACE);
        assert_eq!(texts(&span.attributes)["gen_ai.operation.name"], "execute_tool");
    }
    let refused = find("proxy", SpanKind::Server, "tools/call inner_bad_refuse");
    assert_eq!(texts(&refused.attributes)["error.type"], "tool_error");
    // Clients choose the names of absent tools.
    let absent = find("proxy", SpanKind::Server, "tools/call");
    assert_eq!(texts(&absent.attributes)["rpc.response.status_code"], "-32602");
    find("proxy", SpanKind::Server, "tools/list");

    let exported = collector.bodies::<ExportMetricsServiceRequest>("/v1/metrics");
    let metrics = exported.into_iter().flat_map(|exported| exported.resource_metrics);
    let metrics = metrics.flat_map(|of_resource| of_resource.scope_metrics).flat_map(|scope| scope.metrics);
    let mut names = Vec::new();
    for metric in metrics {
        let known = &registry["metrics"][&metric.name];
        assert_eq!(known["unit"], json!(metric.unit), "{}", metric.name);
        let Some(Data::Histogram(histogram)) = metric.data else { panic!("{} is a histogram", metric.name) };
        for point in &histogram.data_points {
            for name in texts(&point.attributes).keys() {
                assert!(known["attributes"].get(name).is_some(), "{}: {name}", metric.name);
            }
            assert_eq!(point.explicit_bounds.len(), registry["buckets"].as_array().unwrap().len());
        }
        names.push(metric.name);
    }
    for name in registry["metrics"].as_object().unwrap().keys() {
        assert!(names.contains(name), "{name} is not in {names:?}");
    }
}

#[test]
fn a_collector_that_does_not_listen_neither_stops_calls_nor_the_end_of_the_server() {
    let environment = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"), ("OTEL_SERVICE_NAME", "proxy")];
    let call = request(1, "tools/call", json!({ "name": "inner_math_add", "arguments": { "a": 1, "b": 2 } }));
    let (responses, _) = through_proxy(&[call], &environment, &[]);
    assert!(responses[0].get("result").is_some(), "{responses:?}");
}

#[test]
fn audit_lines_have_the_caller_the_tool_and_the_outcome_of_each_call_but_no_arguments() {
    let requests = [
        request(1, "tools/call", json!({ "name": "math_add", "arguments": { "a": 730_155, "b": 2 } })),
        request(2, "tools/call", json!({ "name": "bad_refuse", "arguments": {} })),
        request(3, "tools/call", json!({ "name": "absent", "arguments": { "a": 730_155 } })),
        request(4, "tools/call", json!({ "name": "math_add", "arguments": { "a": "number 730155" } })),
        request(5, "tools/list", json!({})),
    ];
    let (responses, log) = through_proxy(&requests, &[], &["--audit", "--log-format", "json"]);
    assert_eq!(responses.len(), 5);
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let lines: Vec<Value> = lines.filter(|line| line["target"] == "audit").collect();
    let found: Vec<_> = lines.iter().map(|line| (line["tool"].as_str(), line["outcome"].as_str())).collect();
    assert_eq!(
        found,
        [
            (Some("math_add"), Some("ok")),
            (Some("bad_refuse"), Some("failed")),
            (Some("absent"), Some("unknown_tool")),
            (Some("math_add"), Some("invalid_arguments")),
        ],
        "{log}"
    );
    assert_eq!(lines[2]["code"], -32602);
    for line in &lines {
        assert!(line["duration_us"].is_u64() && line["traceparent"].as_str().unwrap().contains(TRACE), "{line}");
    }
    assert!(!log.contains("730155"), "{log}");
    // Without the option there is no audit line.
    let (_, log) = through_proxy(&requests[..1], &[("RUST_LOG", "info")], &[]);
    assert!(!log.contains("audit"), "{log}");
}

#[test]
fn audit_lines_over_http_name_the_address_of_the_client() {
    let proxy = super::operated::Operated::new(&json!({}), &["--audit"]);
    let call = request(1, "tools/call", json!({ "name": "math_add", "arguments": { "a": 1, "b": 2 } }));
    assert_eq!(proxy.ask("POST", "/mcp", &call).0, 200);
    super::operated::until(|| proxy.logged("tool=\"math_add\""));
    assert!(proxy.logged("outcome=\"ok\"") && proxy.logged("address=\"127.0.0.1\""));
}
