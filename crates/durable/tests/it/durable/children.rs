//! Runs that a step starts and waits for.

use super::*;

/// Returns a chain of one step, which adds one to the result of a child.
fn parent(child: &serde_json::Value) -> Chain {
    Chain::new().then(Step::new("diary:parent").arg("chain", child.clone()))
}

/// Returns the steps of a child, of which the second one adds one to the result of the first one.
fn two(first: &str, ms: u64, second: serde_json::Value) -> serde_json::Value {
    let mut steps = json!([{ "toolId": first, "id": "first", "args": { "n": 0, "ms": ms } }, second]);
    steps[1]["from"] = json!({ "n": { "step": "first" } });
    steps
}

async fn a_child_takes_the_room_of_its_parent_in_a_worker(place: &Place) {
    let _worker = Process::start(place, "max_runs=1");
    let client = client(place).await;
    let child = two("diary:once", 1_500, json!({ "toolId": "diary:once", "args": { "ms": 0 } }));
    let run = client.start(&parent(&child), id("order")).await.unwrap();

    let (step, pause) = waiting(&run).await;
    assert_eq!(step, 0);
    assert!(matches!(&pause, Pause::Child { run, .. } if run.as_str() == "order:0.child"), "{pause:?}");
    assert_eq!(run.status().await.unwrap().state, RunState::Running, "nobody has to decide");
    let decided = run.decide(0, &Decision::Retry).await.unwrap_err();
    assert_eq!(decided.to_string(), "step 0 of the run `order` waits for the run `order:0.child`, and for no decision");

    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 3);
    let once: Vec<(String, usize)> = starts(place, "once").into_iter().collect();
    assert_eq!(once, [("order:0.child/0".to_owned(), 1), ("order:0.child/1".to_owned(), 1)]);
}

async fn a_child_is_started_once_also_if_the_worker_of_its_parent_dies(place: &Place) {
    let mut first = Process::start(place, "");
    let client = client(place).await;
    let child = two("diary:repeatable", 1_500, json!({ "toolId": "diary:once", "args": { "ms": 0 } }));
    let run = client.start(&parent(&child), id("order")).await.unwrap();
    started(place, "order:0.child/0").await;
    first.kill();
    let _second = Process::start(place, "");

    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 3);
    let runs = client.list(&RunFilter::new()).await.unwrap();
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, ["order:0.child", "order"]);
    assert_eq!(starts(place, "once"), [("order:0.child/1".to_owned(), 1)].into());
}

async fn the_retry_of_a_run_continues_its_child_from_the_failed_step(place: &Place) {
    let _worker = Process::start(place, "");
    let client = client(place).await;
    let child = two("diary:once", 0, json!({ "toolId": "diary:broken" }));
    let run = client.start(&parent(&child), id("order")).await.unwrap();
    let outcome = soon(run.wait()).await.unwrap();
    assert_eq!(outcome.error().unwrap().message(), "no connection to the bank");
    for run in [&run, &client.run(id("order:0.child"))] {
        assert_eq!(run.status().await.unwrap().state, RunState::Failed);
    }

    place.repair();
    run.retry().await.unwrap();

    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 3);
    assert_eq!(starts(place, "once"), [("order:0.child/0".to_owned(), 1)].into());
}

async fn a_run_is_cancelled_resumed_and_deleted_with_its_children(place: &Place) {
    let mut first = Process::start(place, "");
    let client = client(place).await;
    let child = json!([{ "toolId": "diary:once", "args": { "n": 0, "ms": 0 }, "sleep": "1h" }]);
    let run = client.start(&parent(&child), id("order")).await.unwrap();
    let child = client.run(id("order:0.child"));
    let are = async |state| {
        [run.status().await, child.status().await]
            .iter()
            .all(|status| status.as_ref().is_ok_and(|it| it.state == state))
    };
    until(async || are(RunState::Running).await).await;

    run.cancel().await.unwrap();
    assert!(are(RunState::Cancelled).await);
    run.resume().await.unwrap();
    until(async || are(RunState::Running).await).await;
    first.kill();
    child.cancel().await.unwrap();
    assert_eq!(client.delete([child.id()]).await.unwrap(), 0, "its parent reads its outcome");
    let _second = Process::start(place, "");
    let outcome = soon(run.wait()).await.unwrap();
    assert_eq!(outcome.error().unwrap().message(), "the run `order:0.child` was cancelled");

    assert_eq!(client.delete([run.id()]).await.unwrap(), 2);
    assert!(matches!(child.status().await, Err(DurableError::UnknownRun(_))));
}

on_each_place! {
    a_child_takes_the_room_of_its_parent_in_a_worker,
    a_child_is_started_once_also_if_the_worker_of_its_parent_dies,
    the_retry_of_a_run_continues_its_child_from_the_failed_step,
    a_run_is_cancelled_resumed_and_deleted_with_its_children,
}

/// Has a child.
#[toolkit::tool(namespace = "children")]
async fn alone(ctx: &Context) -> Result<bool, ToolError> {
    let outcome = toolkit_durable::run_child(ctx, "child", &Chain::new()).await?;
    Ok(outcome.error().is_none())
}

#[tokio::test]
async fn only_a_step_of_a_durable_run_has_a_child() {
    let tools = Dispatcher::new(toolkit::catalog![alone].unwrap()).unwrap();
    let error = tools.call("children:alone", "{}").await.unwrap_err();
    assert_eq!(error.message(), "the tool is not a step of a durable run, and only such a step has child runs");
}
