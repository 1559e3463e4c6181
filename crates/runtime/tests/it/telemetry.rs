//! The spans and measurements of requests of MCP, compared with the registry of the conventions.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use opentelemetry::trace::{SpanKind, Status, TracerProvider as _};
use opentelemetry::{KeyValue, global};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use serde_json::Value;
use toolkit_runtime::{
    ObservedRequest, RequestInfo, RequestOutcome, RequestTarget, SessionTimer, Side, TraceParent, Transport,
    known_method,
};
use tracing_subscriber::layer::SubscriberExt;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

fn registry() -> Value {
    let json = include_str!("../../../../tests/support/data/otel_mcp.json");
    serde_json::from_str(json).expect("the registry is JSON")
}

fn info(side: Side) -> RequestInfo<'static> {
    RequestInfo {
        side,
        method: "tools/call",
        transport: Transport::Http,
        version: Some("2025-11-25"),
        session: Some("s1"),
        id: Some("7"),
        peer: Some(("127.0.0.1", Some(8000))),
    }
}

/// The provider of all tests, since the histograms are created with the first request.
static METRICS: LazyLock<(SdkMeterProvider, InMemoryMetricExporter)> = LazyLock::new(|| {
    let exporter = InMemoryMetricExporter::default();
    let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter.clone()).build();
    global::set_meter_provider(provider.clone());
    (provider, exporter)
});

/// Returns the spans that a function exports.
fn spans(observe: impl FnOnce()) -> Vec<SpanData> {
    LazyLock::force(&METRICS);
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("test"))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false);
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), observe);
    exporter.get_finished_spans().expect("the spans are readable")
}

fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    attributes.iter().map(|attribute| (attribute.key.to_string(), attribute.value.to_string())).collect()
}

#[test]
fn spans_have_the_names_kinds_and_attributes_of_the_conventions() {
    let spans = spans(|| {
        for side in [Side::Server, Side::Client] {
            let mut observed = ObservedRequest::start(&info(side), None);
            observed.set_target(RequestTarget::Tool("add"));
            observed.end(RequestOutcome::ToolError);
            let mut observed = ObservedRequest::start(&RequestInfo { method: "prompts/get", ..info(side) }, None);
            observed.set_target(RequestTarget::Prompt("greet"));
            observed.end(RequestOutcome::Rpc(-32602));
            let mut observed = ObservedRequest::start(&RequestInfo { method: "resources/read", ..info(side) }, None);
            observed.set_target(RequestTarget::Resource("file:///a"));
            observed.end(RequestOutcome::Ok);
        }
    });
    let registry = registry();
    for (kind, name, spans) in [(SpanKind::Server, "server", &spans[..3]), (SpanKind::Client, "client", &spans[3..])] {
        for span in spans {
            assert_eq!(span.span_kind, kind);
            for attribute in &span.attributes {
                let is_known = registry["spans"][name].get(attribute.key.as_str()).is_some();
                assert!(is_known, "{} has the attribute {}", span.name, attribute.key);
            }
        }
        let [tool, prompt, resource] = spans else { panic!("three spans") };
        assert_eq!(tool.name, "tools/call add");
        let attributes = texts(&tool.attributes);
        assert_eq!(attributes["error.type"], "tool_error");
        assert_eq!(attributes["gen_ai.operation.name"], "execute_tool");
        assert_eq!(attributes["gen_ai.tool.name"], "add");
        assert_eq!(attributes["jsonrpc.request.id"], "7");
        assert_eq!(attributes["mcp.session.id"], "s1");
        assert_eq!(attributes["network.transport"], "tcp");
        assert_eq!(attributes["network.protocol.name"], "http");
        assert!(matches!(tool.status, Status::Error { .. }));
        assert_eq!(prompt.name, "prompts/get greet");
        let attributes = texts(&prompt.attributes);
        assert_eq!(attributes["rpc.response.status_code"], "-32602");
        assert_eq!(attributes["error.type"], "-32602");
        assert!(!attributes.contains_key("gen_ai.operation.name"));
        // URIs would make a name for each resource.
        assert_eq!(resource.name, "resources/read");
        assert_eq!(texts(&resource.attributes)["mcp.resource.uri"], "file:///a");
        assert_eq!(resource.status, Status::Unset);
    }
}

#[test]
fn a_request_continues_the_trace_of_its_sender_and_names_itself_as_the_parent() {
    let parent = TraceParent { traceparent: format!("00-{TRACE}-b7ad6b7169203331-01"), tracestate: Some("a=1".into()) };
    let mut sent = None;
    let spans = spans(|| {
        let server = ObservedRequest::start(&info(Side::Server), Some(&parent));
        server.span().in_scope(|| {
            let client = ObservedRequest::start(&info(Side::Client), None);
            sent = client.trace_parent();
            client.end(RequestOutcome::Ok);
        });
        server.end(RequestOutcome::Ok);
    });
    let [client, server] = &spans[..] else { panic!("two spans") };
    assert_eq!(server.span_context.trace_id().to_string(), TRACE);
    assert_eq!(server.parent_span_id.to_string(), "b7ad6b7169203331");
    assert_eq!(client.parent_span_id, server.span_context.span_id());
    let expected = format!("00-{TRACE}-{}-01", client.span_context.span_id());
    assert_eq!(sent, Some(TraceParent { traceparent: expected, tracestate: Some("a=1".to_owned()) }));
}

#[test]
fn a_request_over_pipes_has_no_protocol_of_the_network() {
    let info = RequestInfo { transport: Transport::Pipe, session: None, peer: None, ..info(Side::Server) };
    let spans = spans(|| ObservedRequest::start(&info, None).end(RequestOutcome::Ok));
    let attributes = texts(&spans[0].attributes);
    assert_eq!(attributes["network.transport"], "pipe");
    for absent in ["network.protocol.name", "mcp.session.id", "client.address", "client.port"] {
        assert!(!attributes.contains_key(absent), "{attributes:?}");
    }
}

#[test]
fn an_invalid_parent_starts_a_new_trace() {
    for traceparent in ["", "00", "00-0-0-01", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "é-é-é-é"]
    {
        let parent = TraceParent { traceparent: traceparent.to_owned(), tracestate: None };
        let spans = spans(|| ObservedRequest::start(&info(Side::Server), Some(&parent)).end(RequestOutcome::Ok));
        assert_ne!(spans[0].span_context.trace_id().to_string(), TRACE, "{traceparent}");
    }
}

#[test]
fn a_request_without_an_end_was_cancelled() {
    let spans = spans(|| drop(ObservedRequest::start(&info(Side::Server), None)));
    assert_eq!(texts(&spans[0].attributes)["error.type"], "cancelled");
}

#[test]
fn each_method_of_the_registry_is_known_and_other_methods_have_one_name() {
    for method in registry()["methods"].as_array().expect("a list of methods") {
        let method = method.as_str().expect("a method");
        // Notifications are not observed.
        if !method.starts_with("notifications/") {
            assert_eq!(known_method(method), method);
        }
    }
    assert_eq!(known_method("tools/call\n"), "_OTHER");
}

#[test]
fn durations_have_the_names_units_bounds_and_attributes_of_the_conventions() {
    let (provider, exporter) = &*METRICS;
    for side in [Side::Server, Side::Client] {
        let _session = SessionTimer::start(side, Transport::Pipe, Some("2025-11-25"));
        let mut observed = ObservedRequest::start(&info(side), None);
        observed.set_target(RequestTarget::Tool("add"));
        observed.end(RequestOutcome::Rpc(-32603));
    }
    provider.force_flush().expect("the exporter is in memory");
    let registry = registry();
    let exported = exporter.get_finished_metrics().expect("the metrics are readable");
    let mut names = Vec::new();
    for metric in exported.iter().flat_map(|exported| exported.scope_metrics()).flat_map(|scope| scope.metrics()) {
        let known = &registry["metrics"][metric.name()];
        assert_eq!(metric.unit(), known["unit"], "{}", metric.name());
        let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else { panic!("a histogram") };
        for point in histogram.data_points() {
            let bounds: Vec<Value> = point.bounds().map(Value::from).collect();
            let expected: Vec<f64> = registry["buckets"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
            assert_eq!(bounds, expected.into_iter().map(Value::from).collect::<Vec<_>>());
            for attribute in point.attributes() {
                let is_known = known["attributes"].get(attribute.key.as_str()).is_some();
                assert!(is_known, "{} has the attribute {}", metric.name(), attribute.key);
            }
        }
        names.push(metric.name().to_owned());
    }
    names.sort();
    names.dedup();
    let mut expected: Vec<&String> = registry["metrics"].as_object().expect("metrics").keys().collect();
    expected.sort();
    assert_eq!(names.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn the_other_side_of_a_connection_is_the_server_of_a_client_and_the_client_of_a_server() {
    let spans = spans(|| {
        for side in [Side::Server, Side::Client] {
            let observed = ObservedRequest::start(&RequestInfo { id: None, ..info(side) }, None);
            observed.set_id(&12);
            observed.end(RequestOutcome::Failed("timeout"));
        }
    });
    for (span, this, other) in [(&spans[0], "client", "server"), (&spans[1], "server", "client")] {
        let attributes = texts(&span.attributes);
        assert_eq!(attributes[&format!("{this}.address")], "127.0.0.1");
        assert_eq!(attributes[&format!("{this}.port")], "8000");
        assert!(!attributes.contains_key(&format!("{other}.address")), "{attributes:?}");
        assert_eq!((&*attributes["jsonrpc.request.id"], &*attributes["error.type"]), ("12", "timeout"));
        assert!(!attributes.contains_key("rpc.response.status_code"), "{attributes:?}");
    }
}

#[test]
fn a_parent_is_read_by_the_rules_of_the_trace_context() {
    const SPAN: &str = "b7ad6b7169203331";
    for (traceparent, flags) in [
        (format!("00-{TRACE}-{SPAN}-01"), Some("01")),
        (format!("00-{TRACE}-{SPAN}-03"), Some("01")),
        (format!("00-{TRACE}-{SPAN}-ff"), Some("01")),
        // A later version may have more parts.
        (format!("01-{TRACE}-{SPAN}-01"), Some("01")),
        (format!("01-{TRACE}-{SPAN}-01-more"), Some("01")),
        (format!("00-{TRACE}-{SPAN}-01-more"), None),
        (format!("ff-{TRACE}-{SPAN}-01"), None),
        (format!("0-{TRACE}-{SPAN}-01"), None),
        (format!("00-{TRACE}0-{SPAN}-01"), None),
        (format!("00-{TRACE}-{SPAN}0-01"), None),
        (format!("00-{TRACE}-{SPAN}-1"), None),
        (format!("00-{TRACE}-{SPAN}-001"), None),
        (format!("00-{TRACE}-{SPAN}-0x"), None),
        (format!("00-{}-{SPAN}-01", "0".repeat(32)), None),
        (format!("00-{TRACE}-{}-01", "0".repeat(16)), None),
    ] {
        // Without a valid `tracestate`, the trace goes on.
        let parent = TraceParent { traceparent: traceparent.clone(), tracestate: Some("no state".to_owned()) };
        let mut sent = None;
        spans(|| {
            let observed = ObservedRequest::start(&info(Side::Server), Some(&parent));
            sent = observed.trace_parent();
        });
        let sent = sent.expect("the span is exported");
        let parts: Vec<_> = sent.traceparent.split('-').collect();
        assert_eq!((parts[1] == TRACE, sent.tracestate), (flags.is_some(), None), "{traceparent}");
        assert!(flags.is_none_or(|flags| parts[3] == flags), "{traceparent}: {}", sent.traceparent);
    }
    assert_eq!(ObservedRequest::start(&info(Side::Server), None).trace_parent(), None, "nothing exports spans");
}

#[test]
fn durations_have_the_attributes_of_their_request_and_their_session() {
    let (provider, exporter) = &*METRICS;
    for side in [Side::Server, Side::Client] {
        drop(SessionTimer::start(side, Transport::Http, Some("attributes")));
        let mut observed = ObservedRequest::start(&RequestInfo { version: Some("attributes"), ..info(side) }, None);
        observed.set_target(RequestTarget::Tool("add"));
        observed.end(RequestOutcome::Rpc(-32603));
    }
    provider.force_flush().expect("the exporter is in memory");
    let exported = exporter.get_finished_metrics().expect("the metrics are readable");
    let mut found = BTreeMap::new();
    for metric in exported.iter().flat_map(|exported| exported.scope_metrics()).flat_map(|scope| scope.metrics()) {
        let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else { panic!("a histogram") };
        for point in histogram.data_points() {
            let attributes: Vec<_> = point.attributes().cloned().collect();
            let attributes = texts(&attributes);
            if attributes.get("mcp.protocol.version").is_some_and(|version| version == "attributes") {
                found.insert(metric.name().to_owned(), attributes);
            }
        }
    }
    let session =
        [("mcp.protocol.version", "attributes"), ("network.protocol.name", "http"), ("network.transport", "tcp")];
    let operation = [
        ("error.type", "-32603"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "add"),
        ("mcp.method.name", "tools/call"),
        ("rpc.response.status_code", "-32603"),
    ];
    let peer = [("server.address", "127.0.0.1"), ("server.port", "8000")];
    for (name, expected) in [
        ("mcp.server.session.duration", session.to_vec()),
        ("mcp.client.session.duration", session.to_vec()),
        ("mcp.server.operation.duration", [&session[..], &operation].concat()),
        ("mcp.client.operation.duration", [&session[..], &operation, &peer].concat()),
    ] {
        let expected: BTreeMap<_, _> =
            expected.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        assert_eq!(found.get(name), Some(&expected), "{name}");
    }
}
