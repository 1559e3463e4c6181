//! The backends of a tool, the selection of one, and the counts of its calls.

use std::pin::{Pin, pin};
use std::task::{Poll, Waker};
use std::time::Duration;

use toolkit::backend::{BackendCall, BackendResponse, BackendState, BackendStatus, OfferedTools};
use toolkit::dispatch::BoxFuture;
use toolkit::internals::Changes;
use toolkit::prompt::{Completion, CompletionReference, CompletionRequest};
use toolkit::tool::{ToolBackend, ToolId};

use super::*;

/// Polls a future once.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut std::task::Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// A backend of this kind and name that answers with its name.
fn named(name: &'static str, kind: BackendKind) -> Scripted {
    Scripted::new(name, kind, [open("who")]).doing(move |_| Ok(json!(name).into()))
}

/// A table in which three backends run one tool, the last one first.
fn three() -> (Vec<Tool>, Routes, [Arc<RoutedBackend>; 3]) {
    let mut routes = Routes::default();
    let backends = [("m", BackendKind::Mcp), ("p", BackendKind::Provider), ("l", BackendKind::Local)];
    let mut tools = Vec::new();
    let backends = backends.map(|(name, kind)| {
        let (added, backend) = add(&named(name, kind), "n", &mut routes);
        tools = added;
        backend
    });
    (tools, routes, backends)
}

#[tokio::test]
async fn the_first_kind_of_backend_that_is_enabled_runs_a_tool() {
    let (tools, routes, backends) = three();
    let id = tools[0].id().clone();
    let kinds: Vec<BackendKind> = routes.backends(&id).map(ToolBackend::kind).collect();
    assert_eq!(kinds, [BackendKind::Local, BackendKind::Provider, BackendKind::Mcp]);
    assert_eq!((routes.owner(&id), routes.is_empty(), Routes::default().is_empty()), (Some("l"), false, true));
    let dispatcher = Dispatcher::builder(Catalog::new(tools).unwrap()).routes(routes).build().unwrap();
    for (nth, expected) in [(2, "l"), (1, "p"), (0, "m")] {
        assert_eq!(dispatcher.call("n:who", "{}").await.unwrap().value(), expected);
        assert!(backends[nth].is_enabled() && backends[nth].set_enabled(false));
        assert!(!backends[nth].is_enabled() && !backends[nth].set_enabled(false));
    }
    let error = dispatcher.call("n:who", "{}").await.unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Unavailable, "the backends of this tool are disabled: `l`, `p`, `m`")
    );
    assert!(backends[1].set_enabled(true));
    assert_eq!(dispatcher.call("n:who", "{}").await.unwrap().value(), "p");
}

#[tokio::test]
async fn a_tool_without_a_backend_is_an_error_and_functions_need_none() {
    let described = open("who").in_namespace("n".parse().unwrap());
    let dispatcher = Dispatcher::new(base().with([described]).unwrap()).unwrap();
    let error = dispatcher.call("n:who", "{}").await.unwrap_err();
    let message = "no backend runs this tool, and it is not a function of this program";
    assert_eq!((error.kind(), error.stage(), error.message()), (ErrorKind::NoBackend, Stage::Select, message));
    assert_eq!(dispatcher.call("here:increment", r#"{"n": 1}"#).await.unwrap().value(), 2);
    let names = |name: &str| dispatcher.catalog().resolve(name).unwrap();
    assert!(!dispatcher.is_proxied(names("here:increment")));
}

#[tokio::test]
async fn a_selector_chooses_among_the_enabled_backends_and_the_function() {
    for (picked, expected) in [(Some(0), Ok("p")), (Some(1), Ok("m")), (Some(2), Err(())), (None, Err(()))] {
        let (tools, routes, backends) = three();
        backends[2].set_enabled(false);
        let builder = Dispatcher::builder(Catalog::new(tools).unwrap()).routes(routes);
        let dispatcher = builder.select(move |_, _| picked).build().unwrap();
        let called = dispatcher.call("n:who", "{}").await;
        match (called, expected) {
            (Ok(result), Ok(expected)) => assert_eq!(result.value(), expected),
            (Err(error), Err(())) => {
                let message = "the selector chose none of the tool's backends: provider `p` with `who`, mcp `m`";
                assert_eq!((error.kind(), error.message()), (ErrorKind::NoBackend, message));
            }
            (called, _) => panic!("{picked:?}: {called:?}"),
        }
    }
    // The function of a tool comes first.
    for (picked, expected) in [(0, json!(2)), (1, json!("p"))] {
        let mut routes = Routes::default();
        let backend = Arc::new(RoutedBackend::new(named("p", BackendKind::Provider)).unwrap());
        let id = base().resolve("here:increment").unwrap().id().clone();
        routes.add(id, backend, ToolBackend::provider("p", "who").unwrap());
        let select = move |_: &Tool, targets: &[&ToolBackend]| {
            assert_eq!(targets.iter().map(|target| target.kind().as_str()).collect::<Vec<_>>(), ["local", "provider"]);
            Some(picked)
        };
        let dispatcher =
            Dispatcher::builder(base()).routes(routes).validate_output(false).select(select).build().unwrap();
        assert_eq!(dispatcher.call("here:increment", r#"{"n": 1}"#).await.unwrap().value(), expected);
    }
}

#[tokio::test]
async fn calls_of_a_backend_are_counted_by_their_end() {
    let mut routes = Routes::default();
    let backend = Scripted::new("p", BackendKind::Provider, [numeric("count")]).doing(|call| {
        match call.arguments().to_value()?["n"].as_i64() {
            Some(1) => Ok(json!(1).into()),
            Some(2) => Ok(json!("wrong").into()),
            _ => Err(ToolError::failed("it does")),
        }
    });
    let (tools, backend) = add(&backend, "p", &mut routes);
    let dispatcher = Dispatcher::builder(Catalog::new(tools).unwrap()).routes(routes).build().unwrap();
    assert_eq!(backend.calls().n_ended, 0);
    for n in [1, 2, 3, 3, 1] {
        let _ = dispatcher.call("p:count", format!(r#"{{"n": {n}}}"#)).await;
    }
    let _ = dispatcher.call("p:count", "{}").await.unwrap_err();
    let running = dispatcher.call("p:count", r#"{"n": 1}"#);
    let mut running = Box::pin(running);
    assert!(now(running.as_mut()).is_none());
    assert_eq!(backend.calls().n_running, 1);
    assert!(now(backend.idle()).is_none());
    drop(running);
    let calls = backend.calls();
    assert_eq!((calls.n_running, calls.n_ended), (0, 6));
    assert_eq!(calls.errors, [(ErrorKind::InvalidOutput, 1), (ErrorKind::Failed, 2), (ErrorKind::Cancelled, 1)]);
    assert!(now(backend.idle()).is_some());
    let bounds: Vec<u128> = calls.histogram.iter().map(|(bound, _)| bound.as_micros()).collect();
    assert_eq!(bounds, [100, 1_000, 5_000, 25_000, 100_000, 500_000, 2_500_000, 10_000_000, 60_000_000, 300_000_000]);
    // Each call but the dropped one waits for a millisecond.
    assert!(calls.histogram[1].1 <= 1 && calls.histogram[9].1 == 6 && calls.duration >= Duration::from_millis(5));
    assert!(calls.histogram.is_sorted_by_key(|(_, n)| *n));
}

#[tokio::test]
async fn a_backend_is_idle_when_nothing_holds_it() {
    let backend = RoutedBackend::new(named("p", BackendKind::Provider)).unwrap();
    let held = [backend.hold(), backend.hold()];
    let mut idle = Box::pin(backend.idle());
    assert!(now(idle.as_mut()).is_none());
    let [first, second] = held;
    drop(first);
    assert!(now(idle.as_mut()).is_none());
    drop(second);
    assert!(now(idle).is_some());
    assert!(RoutedBackend::new(named("not a name", BackendKind::Provider)).is_err());
}

#[tokio::test]
async fn a_change_is_seen_until_it_is_marked_as_seen() {
    let changes = Changes::default();
    let waiting = [Box::pin(changes.changed()), Box::pin(changes.changed())];
    let mut waiting = waiting.map(|waiting| waiting as Pin<Box<dyn Future<Output = ()>>>);
    assert!(waiting.iter_mut().all(|waiting| now(waiting.as_mut()).is_none()));
    changes.notify();
    assert!(waiting.iter_mut().all(|waiting| now(waiting.as_mut()).is_some()));
    assert!(now(changes.changed()).is_some());
    changes.mark_seen();
    assert!(now(changes.changed()).is_none());
}

#[tokio::test]
async fn a_backend_without_prompts_has_defaults() {
    let backend = named("p", BackendKind::Provider);
    let routed = RoutedBackend::new(backend.clone()).unwrap();
    assert_eq!(backend.status(), BackendStatus::new(BackendState::Ready));
    assert!(!backend.calls_tools() && backend.coercion().is_none());
    let request = CompletionRequest::new(CompletionReference::Prompt("prompt".to_owned()), "argument", "");
    assert_eq!(routed.complete(&request, &Context::new()).await.unwrap(), Completion::default());
    assert_eq!((&**routed.name(), routed.backend().name()), ("p", "p"));
}

/// A backend that calls tools, such as one that runs programs of models. Restricted, it lists its first tool and a new one.
struct Programs {
    tools: Vec<Tool>,
    is_slow: bool,
    restricted: Option<bool>,
}

impl Programs {
    fn new(is_slow: bool, restricted: Option<bool>) -> Self {
        Self { tools: vec![open("run"), open("check")], is_slow, restricted }
    }
}

impl Backend for Programs {
    fn name(&self) -> &str {
        "programs"
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Local
    }

    fn calls_tools(&self) -> bool {
        true
    }

    fn restricted_to(&self, _: &Catalog, _: &Routes) -> Option<Box<dyn Backend>> {
        let tools = vec![self.tools[0].clone(), open("new")];
        Some(Box::new(Self { tools, is_slow: self.restricted?, restricted: None }))
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        let target = |tool: &Tool| ToolBackend::local(format!("its-{}", tool.name())).unwrap();
        let offered = OfferedTools::new(self.tools.iter().map(|tool| (tool.clone(), target(tool))));
        match self.is_slow {
            true => Box::pin(std::future::pending()),
            false => Box::pin(async { Ok(offered) }),
        }
    }

    fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async { Ok(json!("done").into()) })
    }
}

/// A table with this backend and one that calls no tools, the backend, and the ids of its two tools and that of the other.
fn with_programs(programs: Programs) -> (Routes, Arc<RoutedBackend>, [ToolId; 3]) {
    let mut routes = Routes::default();
    assert!(routes.is_empty());
    let routed = Arc::new(RoutedBackend::new(programs).unwrap());
    let ids = ["programs:run", "programs:check", "n:who"].map(|id| id.parse::<ToolId>().unwrap());
    for id in &ids[..2] {
        routes.add(id.clone(), Arc::clone(&routed), ToolBackend::local(id.name().to_owned()).unwrap());
    }
    add(&named("p", BackendKind::Provider), "n", &mut routes);
    assert!(!routes.is_empty());
    assert_eq!(ids.each_ref().map(|id| routes.calls_tools(id)), [true, true, false]);
    (routes, routed, ids)
}

#[tokio::test]
async fn a_backend_that_calls_tools_is_restricted_with_the_catalog_and_still_the_same() {
    let (mut routes, routed, ids) = with_programs(Programs::new(false, Some(false)));
    let tools = routes.restrict(&base()).unwrap();
    assert_eq!(tools.iter().map(|tool| tool.id().clone()).collect::<Vec<_>>(), [ids[0].clone()]);
    let targets = |id: &ToolId| routes.backends(id).map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(ids.each_ref().map(targets), [vec!["local `its-run`"], vec![], vec!["provider `p` with `who`"]]);
    assert_eq!(ids.each_ref().map(|id| routes.owner(id)), [Some("programs"), None, Some("p")]);

    let dispatcher = Dispatcher::builder(Catalog::new(tools).unwrap()).routes(routes).build().unwrap();
    assert_eq!(dispatcher.call("programs:run", "{}").await.unwrap().value(), "done");
    assert_eq!(routed.calls().n_ended, 1);
    assert!(routed.set_enabled(false) && !routed.set_enabled(false));
    assert_eq!(dispatcher.call("programs:run", "{}").await.unwrap_err().kind(), ErrorKind::Unavailable);
}

#[test]
fn a_backend_that_calls_tools_and_cannot_be_restricted_runs_none() {
    let (mut routes, _, ids) = with_programs(Programs::new(false, None));
    assert!(routes.restrict(&base()).unwrap().is_empty());
    assert_eq!(ids.each_ref().map(|id| routes.owner(id)), [None, None, Some("p")]);

    let (mut routes, ..) = with_programs(Programs::new(false, Some(true)));
    let error = routes.restrict(&base()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(error.message(), "the backend `programs` does not list its tools at once");
}
