//! The calls of a reply run concurrently, and each has exactly one result.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Barrier;
use toolkit::call::{CancelToken, ErrorKind};
use toolkit::catalog::{ExportedNames, Naming};
use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
use toolkit_providers::anthropic::{MESSAGES, Options, tools};
use toolkit_providers::reply::{CallInfo, Reply, ResultLimits, RunOptions};

struct Gate(Barrier);

/// Waits until all calls have arrived.
#[tool(read_only)]
async fn meet(gate: &Gate) -> &'static str {
    gate.0.wait().await;
    "met"
}

/// Never ends.
#[tool]
async fn hang() -> &'static str {
    std::future::pending().await
}

/// Panics.
#[tool]
fn crash() -> &'static str {
    panic!("secret")
}

/// Fails.
#[tool]
fn fail() -> Result<String, ToolError> {
    Err(ToolError::failed("no such file"))
}

/// Doubles a number, and reports progress.
#[tool(read_only)]
fn double(n: i64, ctx: &Context) -> i64 {
    ctx.progress(1.0, 1.0, "done");
    n * 2
}

/// Returns the id of its call.
#[tool(read_only)]
fn id(ctx: &Context) -> Option<String> {
    ctx.get::<CallInfo>().map(|call| call.id.clone())
}

#[derive(Default)]
struct Writes {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// Writes.
#[tool]
async fn write(writes: &Arc<Writes>) {
    let now = writes.now.fetch_add(1, Ordering::SeqCst) + 1;
    writes.most.fetch_max(now, Ordering::SeqCst);
    tokio::task::yield_now().await;
    writes.now.fetch_sub(1, Ordering::SeqCst);
}

fn dispatcher(n_meeting: usize) -> (Dispatcher, ExportedNames, Arc<Writes>) {
    let writes = Arc::new(Writes::default());
    let catalog = catalog![meet, hang, crash, fail, double, id, write].unwrap();
    let names = tools(&catalog, Naming::default(), Options::default()).unwrap().names;
    let builder = Dispatcher::builder(catalog).state(Gate(Barrier::new(n_meeting))).state(Arc::clone(&writes));
    (builder.build().unwrap(), names, writes)
}

fn reply(names: &ExportedNames, calls: &[(&str, Value)]) -> Reply {
    let calls = calls.iter().enumerate().map(|(idx, (name, input))| {
        json!({ "type": "tool_use", "id": format!("toolu_{idx}"), "name": name, "input": input })
    });
    let content: Vec<Value> = calls.collect();
    MESSAGES.read(json!({ "id": "msg", "content": content, "stop_reason": "tool_use" }), names).unwrap()
}

fn kinds(results: &toolkit_providers::reply::ToolResults) -> Vec<Option<ErrorKind>> {
    results.iter().map(|(_, outcome)| outcome.as_ref().err().map(ToolError::kind)).collect()
}

#[tokio::test]
async fn calls_run_at_the_same_time_up_to_the_limit() {
    let (dispatcher, names, _) = dispatcher(8);
    let calls: Vec<(&str, Value)> = (0..8).map(|_| ("meet", json!({}))).collect();
    let reply = reply(&names, &calls);
    let results = reply.run_with(&dispatcher, RunOptions::new().concurrency(8)).await;
    assert_eq!(kinds(&results), [None; 8]);

    let options = RunOptions::new().concurrency(7).timeout(Duration::from_millis(100));
    let results = reply.run_with(&dispatcher, options).await;
    assert_eq!(kinds(&results), [Some(ErrorKind::TimedOut); 8]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_failing_call_never_loses_the_others() {
    let (dispatcher, names, _) = dispatcher(1);
    let calls = [
        ("double", json!({ "n": 1 })),
        ("crash", json!({})),
        ("fail", json!({})),
        ("double", json!({ "n": "x" })),
        ("nothing", json!({})),
        ("double", json!({ "n": 2 })),
    ];
    let results = reply(&names, &calls).run(&dispatcher).await;
    assert_eq!(
        kinds(&results),
        [
            None,
            Some(ErrorKind::Panicked),
            Some(ErrorKind::Failed),
            Some(ErrorKind::InvalidArguments),
            Some(ErrorKind::UnknownTool),
            None,
        ]
    );
    let messages = results.messages().unwrap();
    let blocks = messages[0]["content"].as_array().unwrap();
    let ids: Vec<&str> = blocks.iter().map(|block| block["tool_use_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["toolu_0", "toolu_1", "toolu_2", "toolu_3", "toolu_4", "toolu_5"]);
    assert!(!blocks[1]["content"].as_str().unwrap().contains("secret"));
}

#[tokio::test]
async fn a_cancelled_reply_has_a_result_for_each_call() {
    let (dispatcher, names, _) = dispatcher(1);
    let reply = reply(&names, &[("double", json!({ "n": 1 })), ("hang", json!({})), ("hang", json!({}))]);
    let token = CancelToken::new();
    let options = RunOptions::new().context(Context::new().with_cancel(token.clone()));
    let mut running = reply.start(&dispatcher, options);
    let (call, outcome) = running.next().await.unwrap();
    assert_eq!((&*call.id, outcome.as_ref().unwrap().value()), ("toolu_0", json!(2)), "the first that is done");
    token.cancel();
    while running.next().await.is_some() {}
    assert_eq!(kinds(&running.finish()), [None, Some(ErrorKind::Cancelled), Some(ErrorKind::Cancelled)]);
}

#[tokio::test]
async fn results_that_nobody_waited_for_are_cancelled() {
    let (dispatcher, names, _) = dispatcher(1);
    let running = reply(&names, &[("hang", json!({})), ("hang", json!({}))]).start(&dispatcher, RunOptions::new());
    assert_eq!(kinds(&running.finish()), [Some(ErrorKind::Cancelled); 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_run_one_after_another_on_request() {
    let (dispatcher, names, writes) = dispatcher(1);
    let calls: Vec<(&str, Value)> = (0..20).map(|_| ("write", json!({}))).collect();
    let reply = reply(&names, &calls);
    let results = reply.run_with(&dispatcher, RunOptions::new().one_write_at_a_time()).await;
    assert_eq!(kinds(&results), [None; 20]);
    assert_eq!(writes.most.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_its_result_says_so() {
    let (dispatcher, names, writes) = dispatcher(1);
    let reply = reply(&names, &[("write", json!({})), ("id", json!({}))]);
    let options = RunOptions::new().deny("toolu_0", "not on Sundays");
    let messages = reply.run_with(&dispatcher, options).await.messages().unwrap();
    let blocks = &messages[0]["content"];
    assert_eq!(blocks[0]["content"], "the tool did not run: the call was not approved: not on Sundays");
    assert_eq!(blocks[1]["content"], "toolu_1", "a tool can read the id of its call");
    assert_eq!(writes.most.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn calls_beyond_the_limit_are_answered_and_do_not_run() {
    let (dispatcher, names, _) = dispatcher(1);
    let calls: Vec<(&str, Value)> = (0..10_000).map(|n| ("double", json!({ "n": n }))).collect();
    let progress = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&progress);
    let options = RunOptions::new().max_calls(3).on_progress(move |call, progress| {
        assert_eq!((&*call.name, &*progress.message), ("double", "done"));
        count.fetch_add(1, Ordering::SeqCst);
    });
    let results = reply(&names, &calls).run_with(&dispatcher, options).await;
    assert_eq!(results.len(), 10_000);
    assert_eq!(kinds(&results)[..4], [None, None, None, Some(ErrorKind::Overloaded)]);
    assert_eq!(progress.load(Ordering::SeqCst), 3);
    assert_eq!(results.messages().unwrap()[0]["content"].as_array().unwrap().len(), 10_000);
}

/// Repeats a text.
#[tool(read_only)]
fn long(n: usize) -> Vec<String> {
    vec!["text".to_owned(); n]
}

#[tokio::test]
async fn long_results_share_the_room_fairly_and_say_what_is_missing() {
    let dispatcher = Dispatcher::new(catalog![long].unwrap()).unwrap();
    let names = tools(dispatcher.catalog(), Naming::default(), Options::default()).unwrap().names;
    let reply =
        reply(&names, &[("long", json!({ "n": 2 })), ("long", json!({ "n": 9999 })), ("long", json!({ "n": 8888 }))]);
    let mut limits = ResultLimits::default();
    (limits.result_bytes, limits.total_bytes) = (4000, 5000);
    let messages = reply.run(&dispatcher).await.messages_within(&limits).unwrap();
    let texts: Vec<&str> = (0..3).map(|idx| messages[0]["content"][idx]["content"].as_str().unwrap()).collect();
    assert_eq!(texts[0], r#"["text","text"]"#);
    for text in &texts[1..] {
        assert!((2000..2700).contains(&text.len()), "{}", text.len());
        let items: Vec<String> = serde_json::from_str(text).unwrap();
        assert!(items.last().unwrap().ends_with("items left out]"), "{:?}", items.last());
    }
}

#[test]
fn without_a_runtime_calls_run_one_after_another() {
    let (dispatcher, names, _) = dispatcher(1);
    let reply = reply(&names, &[("double", json!({ "n": 1 })), ("crash", json!({})), ("double", json!({ "n": 2 }))]);
    assert_eq!(kinds(&test_support::block_on(reply.run(&dispatcher))), [None, Some(ErrorKind::Panicked), None]);
    assert_eq!(kinds(&reply.run_sync(&dispatcher, &Context::new())), [None, Some(ErrorKind::Panicked), None]);
}

#[tokio::test]
async fn exported_names_are_accepted_by_a_dispatcher_and_by_a_chain() {
    use toolkit_backends::chain::{Chain, Step};
    let (all, _, _) = dispatcher(1);
    let export = tools(&catalog![double].unwrap(), Naming::default(), Options::default()).unwrap();
    let exported = all.with_names(export.names);
    assert_eq!(exported.call("double", r#"{"n": 4}"#).await.unwrap().value(), json!(8));
    let chain =
        Chain::new().then(Step::new("double").named("one").arg("n", 1)).then(Step::new("double").take("n", "one", ""));
    let outcome = chain.run(&exported, &Context::new()).await.unwrap();
    assert_eq!(outcome.result().unwrap().value(), json!(4));
    let error = exported.call("fail", "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownTool, "it exists, but was not exported");
    assert!(Chain::new().then(Step::new("fail")).check(&exported).is_err());
}
