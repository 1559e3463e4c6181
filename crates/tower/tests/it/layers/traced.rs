//! `Traced`: the spans that an OpenTelemetry exporter receives.

use opentelemetry::trace::{SpanKind, Status, TracerProvider as _};
use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use schemars::JsonSchema;
use serde::Serialize;
use toolkit::call::ErrorKind;
use toolkit::{CancelToken, Context, Dispatcher, ToolError, catalog, tool};
use toolkit_tower::{Retry, ToolCallId, Traced};
use tracing_subscriber::layer::SubscriberExt as _;

#[derive(Serialize, JsonSchema)]
struct Session {
    user: String,
    #[schemars(extend("writeOnly" = true))]
    token: String,
}

/// Logs a user in.
///
/// Only a first paragraph is a summary.
#[tool(namespace = "auth", version = "1.2.0", idempotent)]
async fn login(user: String, #[schemars(extend("writeOnly" = true))] password: String) -> Result<Session, ToolError> {
    tracing::info_span!("inside").in_scope(|| ());
    match user.as_str() {
        "nobody" => Err(ToolError::failed(format!("{user} has no password {password}"))),
        "busy" => Err(ToolError::new(ErrorKind::Unavailable, "not now")),
        "slow" => std::future::pending().await,
        _ => Ok(Session { user, token: format!("token of {password}") }),
    }
}

const ARGUMENTS: &str = r#"{"user":"ann","password":"hunter2"}"#;

/// Returns the exported spans of `calls`.
async fn spans_of(traced: Traced, calls: impl AsyncFnOnce(Dispatcher)) -> Vec<SpanData> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let exported = tracing_opentelemetry::layer().with_tracer(provider.tracer("tests")).with_location(false);
    let _subscribed = tracing::subscriber::set_default(tracing_subscriber::registry().with(exported));
    let retry = Retry::new().attempts(2).backoff(std::time::Duration::ZERO, std::time::Duration::ZERO);
    let builder = Dispatcher::builder(catalog![login].unwrap()).layer(traced).layer(retry);
    calls(builder.build().unwrap()).await;
    exporter.get_finished_spans().unwrap()
}

/// Returns the span of one call.
async fn span_of(traced: Traced, arguments: &str) -> SpanData {
    let spans = spans_of(traced, async |dispatcher| drop(dispatcher.call("login", arguments).await)).await;
    spans.into_iter().find(|span| span.name.starts_with("execute_tool")).unwrap()
}

fn attribute<'s>(span: &'s SpanData, key: &str) -> Option<&'s str> {
    let found = span.attributes.iter().find(|attribute| attribute.key.as_str() == key)?;
    match &found.value {
        Value::String(text) => Some(text.as_str()),
        other => panic!("{key} is {other:?}"),
    }
}

/// Returns the attributes of the semantic conventions.
fn conventional(span: &SpanData) -> Vec<(&str, &str)> {
    let mut found: Vec<(&str, &str)> = span
        .attributes
        .iter()
        .map(|KeyValue { key, .. }| key.as_str())
        .filter(|key| key.starts_with("gen_ai.") || key.starts_with("error."))
        .map(|key| (key, attribute(span, key).unwrap()))
        .collect();
    found.sort_unstable();
    found
}

#[tokio::test]
async fn a_call_is_a_span_with_the_conventional_attributes() {
    let context = Context::new().with(ToolCallId::new("call_7"));
    let spans = spans_of(Traced::new(), async |dispatcher| {
        dispatcher.call_with(&context, "login", ARGUMENTS).await.unwrap();
    });
    let spans = spans.await;
    let [inside, span] = &spans[..] else { panic!("{spans:#?}") };
    assert_eq!(
        (&*span.name, &span.span_kind, &span.status),
        ("execute_tool login", &SpanKind::Internal, &Status::Unset)
    );
    assert_eq!(
        conventional(span),
        [
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.call.id", "call_7"),
            ("gen_ai.tool.description", "Logs a user in."),
            ("gen_ai.tool.name", "login"),
            ("gen_ai.tool.type", "function"),
        ]
    );
    assert_eq!(attribute(span, "toolkit.tool.id"), Some("auth:login:1.2.0"));
    // The span of the tool is a child.
    assert_eq!((&*inside.name, inside.parent_span_id), ("inside", span.span_context.span_id()));
}

#[tokio::test]
async fn a_failure_has_a_type_and_no_message() {
    for (arguments, expected) in [
        (r#"{"user":"nobody","password":"hunter2"}"#, "failed"),
        (r#"{"user":"ann","password":2}"#, "invalid_arguments"),
        ("hunter2", "malformed_json"),
    ] {
        let span = span_of(Traced::new(), arguments).await;
        assert_eq!(attribute(&span, "error.type"), Some(expected));
        assert!(matches!(span.status, Status::Error { .. }), "{:?}", span.status);
        assert!(!format!("{span:?}").contains("hunter2"), "{span:#?}");
    }
}

#[tokio::test]
async fn arguments_and_results_are_recorded_on_request_without_secrets() {
    let span = span_of(Traced::new().arguments(true).results(true), ARGUMENTS).await;
    assert_eq!(attribute(&span, "gen_ai.tool.call.arguments"), Some(r#"{"user":"ann","password":"…"}"#));
    assert_eq!(attribute(&span, "gen_ai.tool.call.result"), Some(r#"{"user":"ann","token":"…"}"#));
    let span = span_of(Traced::new().arguments(true), ARGUMENTS).await;
    assert_eq!(attribute(&span, "gen_ai.tool.call.result"), None);
}

#[tokio::test]
async fn invalid_arguments_of_a_tool_with_secrets_are_not_recorded() {
    for arguments in [r#"{"user":"ann","passwrod":"hunter2"}"#, r#"["hunter2"]"#, "hunter2", r#""hunter2""#] {
        let span = span_of(Traced::new().arguments(true).results(true), arguments).await;
        assert_eq!(attribute(&span, "gen_ai.tool.call.arguments"), None);
        assert!(!format!("{span:?}").contains("hunter2"), "{span:#?}");
    }
}

#[tokio::test]
async fn long_values_are_truncated() {
    let arguments = format!(r#"{{"user":"{}","password":"p"}}"#, "ä".repeat(1_000));
    let span = span_of(Traced::new().arguments(true).results(true).max_bytes(100), &arguments).await;
    for attribute in ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result"].map(|key| attribute(&span, key).unwrap())
    {
        assert!(attribute.ends_with("ä…") && (95..=103).contains(&attribute.len()), "{attribute}");
    }
}

#[tokio::test]
async fn a_value_is_truncated_beyond_its_limit_of_16_kib_and_not_at_it() {
    let recorded = async |traced: Traced, n_letters: usize| {
        let arguments = format!(r#"{{"user":"{}","password":"p"}}"#, "u".repeat(n_letters));
        let span = span_of(traced.arguments(true), &arguments).await;
        attribute(&span, "gen_ai.tool.call.arguments").unwrap().to_owned()
    };
    let n_others = recorded(Traced::new(), 0).await.len();
    for (n_bytes, traced) in [(16 << 10, Traced::default()), (100, Traced::new().max_bytes(100))] {
        let exact = recorded(traced, n_bytes - n_others).await;
        assert!(exact.len() == n_bytes && exact.ends_with('}'), "{exact}");
        let longer = recorded(traced, n_bytes - n_others + 1).await;
        assert!(longer.len() == n_bytes + '…'.len_utf8() && longer.ends_with('…'), "{longer}");
    }
}

#[tokio::test]
async fn a_default_layer_records_neither_arguments_nor_results() {
    let span = span_of(Traced::default(), ARGUMENTS).await;
    assert_eq!(attribute(&span, "gen_ai.tool.call.arguments"), None);
    assert_eq!(attribute(&span, "gen_ai.tool.call.result"), None);
}

#[tokio::test]
async fn one_span_covers_all_attempts() {
    let spans = spans_of(Traced::new(), async |dispatcher| {
        let arguments = r#"{"user":"busy","password":"p"}"#;
        // Without timers there is only one attempt.
        assert!(dispatcher.call("login", arguments).await.is_err());
    });
    let names: Vec<_> = spans.await.into_iter().map(|span| span.name).collect();
    assert_eq!(names, ["inside", "inside", "execute_tool login"]);
}

#[tokio::test]
async fn a_dropped_call_is_recorded_as_cancelled() {
    let slow = r#"{"user":"slow","password":"p"}"#;
    let dropped = spans_of(Traced::new(), async |dispatcher| {
        let call = dispatcher.call("login", slow);
        tokio::select! { biased; _ = call => panic!("it hangs"), () = tokio::task::yield_now() => {} }
    });
    let cancelled = spans_of(Traced::new(), async |dispatcher| {
        let token = CancelToken::new();
        let context = Context::new().with_cancel(token.clone());
        let call = dispatcher.call_with(&context, "login", slow);
        let (outcome, ()) = tokio::join!(call, async { token.cancel() });
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Cancelled);
    });
    for spans in [dropped.await, cancelled.await] {
        let span = spans.iter().find(|span| span.name == "execute_tool login").unwrap();
        assert_eq!(attribute(span, "error.type"), Some("cancelled"));
    }
}
