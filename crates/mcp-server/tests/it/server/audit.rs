//! The audit lines of a server in a program that logs with a subscriber of its own.

use std::fmt::{Debug, Write};
use std::sync::PoisonError;

use toolkit::{catalog, tool};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::*;

/// Greets with an audit line.
#[tool(read_only)]
fn audited() -> &'static str {
    "hello"
}

/// Greets without one.
#[tool(read_only)]
fn quiet() -> &'static str {
    "hello"
}

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A subscriber that receives what programs log by default, of the server's calls.
struct Host;

impl Subscriber for Host {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "audit" && *metadata.level() <= Level::INFO
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        LINES.lock().unwrap_or_else(PoisonError::into_inner).push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, "{}={value:?} ", field.name());
    }
}

#[tokio::test]
async fn an_embedded_server_logs_no_line_for_each_call_unless_it_was_asked_to() {
    tracing::subscriber::set_global_default(Host).unwrap();
    let dispatcher = Dispatcher::new(catalog![audited, quiet].unwrap()).unwrap();
    let by_default = Client::of(serve(Server::new(dispatcher.clone()).unwrap().http()).await);
    let with_audit = Client::of(serve(Server::builder(dispatcher).audit().build().unwrap().http()).await);
    for make in [request, modern] {
        assert_eq!(by_default.send(&make(1, "tools/call", call("quiet", json!({})))).await.status, 200);
        assert_eq!(with_audit.send(&make(2, "tools/call", call("audited", json!({})))).await.status, 200);
    }
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(lines.len() == 2 && lines.iter().all(|line| line.contains(r#"tool="audited""#)), "{lines:?}");
}
