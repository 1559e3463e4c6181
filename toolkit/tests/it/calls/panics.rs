//! A panic of any participant of a call is the error of that call.

use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll};

use toolkit::call::ErrorKind;
use toolkit::dispatch::{BoxFuture, Call, ToolService};
use toolkit::stream::Event;
use toolkit::{Catalog, Chunks, Context, Dispatcher, RunResult, ToolError, catalog, handle, tool};
use tower::Layer;
use tower_service::Service;

const SECRET: &str = "secret of a host";

/// The place where a layer panics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Where {
    Nowhere,
    Clone,
    Ready,
    Call,
    Future,
    AfterIt,
    Drop,
    Error,
}

const ALL: [Where; 7] =
    [Where::Clone, Where::Ready, Where::Call, Where::Future, Where::AfterIt, Where::Drop, Where::Error];

/// A layer that panics, and records the kinds of the outcomes.
#[derive(Clone)]
struct Panics(Where, Arc<Mutex<Vec<Option<ErrorKind>>>>);

struct Panicking(Panics, ToolService);

impl Layer<ToolService> for Panics {
    type Service = Panicking;

    fn layer(&self, inner: ToolService) -> Panicking {
        Panicking(self.clone(), inner)
    }
}

impl Clone for Panicking {
    fn clone(&self) -> Self {
        if self.0.0 == Where::Clone {
            panic!("{SECRET}");
        }
        Self(self.0.clone(), self.1.clone())
    }
}

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("{SECRET}");
        }
    }
}

#[derive(Debug)]
struct Unprintable;

impl std::fmt::Display for Unprintable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("{SECRET}")
    }
}

impl std::error::Error for Unprintable {}

impl Drop for Unprintable {
    fn drop(&mut self) {
        drop(PanicsInDrop);
    }
}

impl Service<Call> for Panicking {
    type Response = RunResult;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<RunResult, Self::Error>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Self::Error>> {
        if self.0.0 == Where::Ready {
            panic!("{SECRET}");
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call) -> Self::Future {
        let Panics(place, seen) = self.0.clone();
        if place == Where::Call {
            panic!("{SECRET}");
        }
        let inner = self.1.call(call);
        Box::pin(async move {
            let _guard = (place == Where::Drop).then(|| PanicsInDrop);
            if place == Where::Future {
                panic!("{SECRET}");
            }
            let outcome = inner.await;
            seen.lock().unwrap().push(outcome.as_ref().err().map(ToolError::kind));
            match place {
                Where::AfterIt => panic!("{SECRET}"),
                Where::Error => Err(Unprintable.into()),
                _ => Ok(outcome?),
            }
        })
    }
}

/// Adds one.
#[tool(namespace = "panics")]
async fn add_one(n: u8) -> u8 {
    tokio::task::yield_now().await;
    n + 1
}

/// Gives items.
#[tool(namespace = "panics")]
fn items(n: u8) -> Chunks<u8> {
    Chunks::from_items(0..n)
}

/// Reports.
#[tool(namespace = "panics")]
fn report(ctx: &Context) -> u8 {
    ctx.progress(1.0, None, "");
    1
}

fn catalog() -> Catalog {
    catalog![add_one, items, report].unwrap()
}

fn check(error: &ToolError, what: &dyn std::fmt::Debug) {
    assert_eq!(error.kind(), ErrorKind::Internal, "{what:?}");
    assert!(!error.message().contains("secret"), "{what:?}: {error}");
    assert!(!error.to_string().contains("secret"), "{what:?}: {error}");
}

#[tokio::test]
async fn a_panic_of_a_layer_is_that_calls_error() {
    for place in ALL {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let dispatcher = Dispatcher::builder(catalog())
            .layer(Panics(Where::Nowhere, Arc::clone(&seen)))
            .layer(Panics(place, Arc::default()))
            .concurrency(1)
            .build()
            .unwrap();
        for _ in 0..3 {
            let error = dispatcher.call("add_one", r#"{"n":1}"#).await.unwrap_err();
            check(&error, &place);
            assert_eq!(error.tool(), Some("panics:add_one"));
        }
        assert_eq!(*seen.lock().unwrap(), [Some(ErrorKind::Internal); 3], "{place:?}");
        let mut stream = dispatcher.stream("items", r#"{"n":3}"#);
        let mut n_errors = 0;
        while let Some(event) = stream.next().await {
            match event.event {
                Event::Chunk(_) => {}
                Event::Error(error) => {
                    check(&error, &place);
                    n_errors += 1;
                }
                other => panic!("{place:?}: {other:?}"),
            }
        }
        assert_eq!(n_errors, 1, "{place:?}");
        assert!(stream.next().await.is_none());
    }
}

#[tokio::test]
async fn a_selector_that_panics_is_that_calls_error() {
    let dispatcher = Dispatcher::builder(catalog()).select(|_, _| panic!("{SECRET}")).build().unwrap();
    check(&dispatcher.call("report", "{}").await.unwrap_err(), &"call");
    check(&dispatcher.call_sync("report", "{}").unwrap_err(), &"call_sync");
    let event = dispatcher.stream("report", "{}").next().await.unwrap().event;
    assert!(matches!(event, Event::Error(_)), "{event:?}");
}

#[tokio::test]
async fn a_listener_that_panics_ends_no_stream_without_an_event() {
    let dispatcher = Dispatcher::new(catalog()).unwrap();
    let context = Context::new().on_progress(|_| panic!("{SECRET}"));
    let mut stream = dispatcher.stream_with(&context, "report", "{}");
    assert!(matches!(stream.next().await.unwrap().event, Event::Error(_)));
    assert!(stream.next().await.is_none());
    assert_eq!(handle!(report).call_with(&context, &dispatcher, ()).await.unwrap_err().kind(), ErrorKind::Panicked);
}

/// Fails with an error that panics when it is dropped or printed.
#[tool(namespace = "panics")]
fn fail() -> Result<u8, ToolError> {
    Err(ToolError::internal(Unprintable))
}

#[tokio::test]
async fn an_error_whose_cause_panics_when_it_is_dropped_can_be_dropped() {
    let dispatcher = Dispatcher::new(catalog![fail].unwrap()).unwrap();
    check(&dispatcher.call("fail", "{}").await.unwrap_err(), &"call");
    drop(dispatcher.call_sync("fail", "{}"));
}
