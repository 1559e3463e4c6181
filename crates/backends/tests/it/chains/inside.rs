//! Chains that a tool runs, and chains whose listener panics.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use toolkit::{Dispatcher, catalog, tool};

use super::*;

/// Adds one.
#[tool(namespace = "inside")]
fn add_one(n: u64) -> u64 {
    n + 1
}

/// Adds one, later.
#[tool(namespace = "inside")]
async fn add_one_later(n: u64) -> u64 {
    tokio::task::yield_now().await;
    n + 1
}

/// Adds one on a thread of its own.
#[tool(namespace = "inside", blocking)]
fn add_one_elsewhere(n: u64) -> u64 {
    n + 1
}

/// Makes calls as a chain.
#[tool(namespace = "inside")]
async fn as_a_chain(tool: String, own: &OnceLock<Dispatcher>) -> Result<u64, ToolError> {
    let dispatcher = own.get().expect("the test has set it");
    let chain = Chain::new().then(Step::new(&*tool).arg("n", 1));
    let outcome = chain.run(dispatcher, &Context::new()).await.map_err(|problems| problems.to_string())?;
    let result = outcome.into_result()?.ok_or("no step")?;
    Ok(result.value().as_u64().expect("a number"))
}

async fn chain_under_a_limit_of_one_call(timeout: Option<Duration>) {
    let own: Arc<OnceLock<Dispatcher>> = Arc::default();
    let catalog = catalog![add_one, add_one_later, add_one_elsewhere, as_a_chain].unwrap();
    let builder = Dispatcher::builder(catalog).shared_state(Arc::clone(&own)).concurrency(1);
    let dispatcher = timeout.into_iter().fold(builder, |builder, limit| builder.timeout(limit)).build().unwrap();
    own.set(dispatcher.clone()).unwrap();
    for tool in ["add_one", "add_one_later", "add_one_elsewhere"] {
        // Long enough for any machine, and shorter than a deadlock.
        let call = dispatcher.call("as_a_chain", json!({ "tool": tool }));
        let result = tokio::time::timeout(Duration::from_secs(60), call).await.expect("the call hangs");
        assert_eq!(result.unwrap_or_else(|error| panic!("{tool}: {error}")).value(), json!(2));
    }
}

#[tokio::test]
async fn a_chain_that_a_tool_runs_is_under_the_tools_permit() {
    chain_under_a_limit_of_one_call(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_it_is_on_several_threads_and_with_a_timeout() {
    chain_under_a_limit_of_one_call(Some(Duration::from_secs(120))).await;
}

/// Reports progress.
#[tool(namespace = "inside")]
fn report(ctx: &Context) -> u8 {
    ctx.progress(1.0, None, "half");
    0
}

#[tokio::test]
async fn a_listener_that_panics_ends_no_chain_without_an_outcome() {
    let dispatcher = Dispatcher::new(catalog![add_one, report].unwrap()).unwrap();
    let context = Context::new().on_progress(|_| panic!("secret of a host"));
    let chain = Chain::new().then(Step::new("add_one").arg("n", 1)).then(Step::new("report"));
    for outcome in [chain.run(&dispatcher, &context).await.unwrap(), {
        let chain = Chain::new().then(Step::new("report"));
        chain.run_sync(&dispatcher, &context).unwrap()
    }] {
        assert_eq!(outcome.error().unwrap().kind(), ErrorKind::Panicked);
    }
}
