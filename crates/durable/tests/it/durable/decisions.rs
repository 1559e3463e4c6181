//! Approval, deadlines and cancellation.

use super::*;

fn approved(name: &str) -> (Chain, RunId) {
    (adding("diary:approved", 2, 10), id(name))
}

async fn approval_survives_a_restart_of_everything(place: &Place) {
    let mut worker = Process::start(place, "approve");
    let client = client(place).await;
    let (chain, name) = approved("order");
    let run = client.start(&chain, name.clone()).await.unwrap();
    let (step, pause) = waiting(&run).await;
    let Pause::Question { message, .. } = &pause else { panic!("{pause:?}") };
    assert_eq!((step, message.as_str()), (0, "Run `diary:approved` with these arguments?\n\nn: 0\nms: 10"));
    worker.kill();
    drop((run, client));
    place.restart();
    let _worker = Process::start(place, "approve");

    let client = super::client(place).await;
    let run = client.run(name);
    assert_eq!(waiting(&run).await, (0, pause));
    run.decide(0, &Decision::Approve).await.unwrap();
    until(async || waiting(&run).await.0 == 1).await;
    run.decide(1, &Decision::Deny).await.unwrap();

    let outcome = soon(run.wait()).await.unwrap();
    assert_eq!(outcome.steps()[0].value(), 1);
    let error = outcome.error().unwrap();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Denied, "the call was not approved: the user declined it"));
    assert_eq!(starts(place, "approved"), [("order/0".to_owned(), 1)].into());
}

async fn the_time_of_a_decision_runs_on_while_nothing_else_does(place: &Place) {
    let mut worker = Process::start(place, "approve timeout_ms=6000");
    let client = client(place).await;
    let (chain, name) = approved("order");
    let run = client.start(&chain, name).await.unwrap();
    waiting(&run).await;
    let asked = std::time::Instant::now();
    // The time is recorded when the wait begins, after the question.
    until(async || place.query("SELECT cast(count(*) AS TEXT) FROM toolkit_entries WHERE entry = 'deadline'") != "0")
        .await;
    worker.kill();
    tokio::time::sleep(Duration::from_secs(2)).await;
    // Its own deadline would be much later.
    let _worker = Process::start(place, "approve timeout_ms=600000");

    let outcome = soon(run.wait()).await.unwrap();

    assert_eq!(outcome.error().unwrap().message(), "the call was not approved: there was no answer in time");
    assert!(asked.elapsed() >= Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(starts(place, "approved").len(), 0);
}

async fn an_answer_that_the_question_rejects_is_rejected_at_once(place: &Place) {
    let _worker = Process::start(place, "approve");
    let client = client(place).await;
    let (chain, name) = approved("order");
    let run = client.start(&chain, name).await.unwrap();
    let (_, pause) = waiting(&run).await;
    assert_eq!(pause.decisions(), ["approve", "deny", "answer=JSON"]);
    let refused = async |decision| run.decide(0, &decision).await.unwrap_err().to_string();
    let retried = refused(Decision::Retry).await;
    assert!(retried.ends_with("decision `retry`: expected one of approve, deny, answer=JSON"), "{retried}");
    let answered = refused(Decision::Answer(json!({ "approve": "yes" }))).await;
    assert!(answered.contains("/approve must be a boolean"), "{answered}");
    run.cancel().await.unwrap();
    let late = refused(Decision::Approve).await;
    assert_eq!(late, "step 0 of the run `order` waits for no decision: the run is cancelled");
}

async fn a_cancelled_run_drops_the_call_of_its_step(place: &Place) {
    let _worker = Process::start(place, "approve");
    let client = client(place).await;
    let run = client.start(&adding("diary:repeatable", 2, 600_000), id("slow")).await.unwrap();
    started(place, "slow/0").await;
    run.cancel().await.unwrap();

    let error = soon(run.wait()).await.unwrap_err();

    assert_eq!(error.to_string(), "the run `slow` was cancelled");
    until(async || lines(place).iter().any(|line| line.event == "cancelled" && line.key == "slow/0")).await;
    assert_eq!(run.status().await.unwrap().state, RunState::Cancelled);

    // Also one that waits.
    let (chain, name) = approved("waiting");
    let run = client.start(&chain, name).await.unwrap();
    waiting(&run).await;
    run.cancel().await.unwrap();
    assert!(matches!(soon(run.wait()).await, Err(DurableError::Cancelled(_))));
    assert_eq!(starts(place, "approved").len(), 0);
}

async fn an_id_names_one_run(place: &Place) {
    let _worker = Process::start(place, "");
    let client = client(place).await;
    let chain = adding("diary:once", 2, 10);
    let first = client.start(&chain, id("order")).await.unwrap();
    soon(first.wait()).await.unwrap();
    let again = client.start(&chain, id("order")).await.unwrap();
    assert_eq!(soon(again.wait()).await.unwrap().result().unwrap().value(), 2);
    assert!(starts(place, "once").values().all(|n| *n == 1));

    let error = client.start(&adding("diary:once", 3, 10), id("order")).await.unwrap_err();
    let DurableError::OtherInput { recorded, given, .. } = &error else { panic!("{error}") };
    assert_ne!(recorded, given);
    assert!(error.to_string().contains(recorded) && error.to_string().contains(given), "{error}");

    let error = client.run(id("other")).wait().await.unwrap_err();
    assert_eq!(error.to_string(), "there is no run `other`");
    let unknown = client.start(&adding("diary:onec", 1, 10), id("typo")).await.unwrap();
    let error = soon(unknown.wait()).await.unwrap_err();
    assert!(matches!(&error, DurableError::Rejected(_)) && error.to_string().contains("diary:onec"), "{error}");
    // The same chain is still rejected, and a corrected one may have its id.
    let again = client.start(&adding("diary:onec", 1, 10), id("typo")).await.unwrap();
    assert!(matches!(soon(again.wait()).await, Err(DurableError::Rejected(_))));
    let corrected = client.start(&adding("diary:once", 1, 10), id("typo")).await.unwrap();
    assert_eq!(soon(corrected.wait()).await.unwrap().result().unwrap().value(), 1);
}

async fn a_durable_call_is_made_once_for_each_id(place: &Place) {
    let _worker = Process::start(place, "");
    let tool = Tool::builder("once")
        .namespace("diary")
        .input(json!({
            "type": "object",
            "properties": { "n": { "type": "integer" }, "ms": { "type": "integer" } },
            "required": ["n", "ms"],
        }))
        .output(json!({ "type": "integer" }))
        .build()
        .unwrap();
    let backend = DurableBackend::new("durable", client(place).await, [tool]);
    let backends = Backends::new();
    backends.register(backend).unwrap();
    let collected = soon(backends.collect(Catalog::new([]).unwrap())).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    let context = Context::new().with(id("call-7"));
    for _ in 0..2 {
        let called = dispatcher.call_with(&context, "diary:once", json!({ "n": 4, "ms": 10 }));
        assert_eq!(soon(called).await.unwrap().value(), 5);
    }
    assert_eq!(starts(place, "once"), [("call-7/0".to_owned(), 1)].into());
}

/// Every decision, with its name where decisions are listed.
fn decisions() -> [(Decision, &'static str); 6] {
    [
        (Decision::Approve, "approve"),
        (Decision::Deny, "deny"),
        (Decision::Answer(json!(1)), "answer=JSON"),
        (Decision::Retry, "retry"),
        (Decision::Skip(json!(1)), "skip=JSON"),
        (Decision::Fail, "fail"),
    ]
}

#[test]
fn each_pause_lists_the_decisions_that_fit() {
    let form = |field: &str| json!({ "type": "object", "properties": { field: { "type": "boolean" } } });
    let time = "2027-01-31T08:00:00Z";
    for (record, listed) in [
        (json!({ "question": { "message": "?" } }), &["approve", "deny"][..]),
        (json!({ "question": { "message": "?", "url": "https://a.example" } }), &["approve", "deny"]),
        (json!({ "question": { "message": "?", "form": form("approve") } }), &["approve", "deny", "answer=JSON"]),
        (json!({ "question": { "message": "?", "form": form("n") } }), &["answer=JSON", "deny"]),
        (json!({ "pending": { "message": "?" } }), &["retry", "fail"]),
        (json!({ "outcome_unknown": {} }), &["retry", "skip=JSON", "fail"]),
        (
            json!({ "invalid_value": { "message": "?", "output": { "type": "integer" } } }),
            &["retry", "skip=JSON", "fail"],
        ),
        (json!({ "until": { "time": time } }), &[]),
        (json!({ "backoff": { "time": time, "error": "no" } }), &[]),
        (json!({ "child": { "run": "run-1" } }), &[]),
    ] {
        let pause: Pause = serde_json::from_value(record.clone()).unwrap();
        assert_eq!(json!(pause), record);
        assert_eq!(pause.decisions(), listed, "{record}");
        for (decision, name) in decisions() {
            assert_eq!(decision.fits(&pause), listed.contains(&name), "{record} {name}");
        }
    }
}

on_each_place! {
    approval_survives_a_restart_of_everything,
    the_time_of_a_decision_runs_on_while_nothing_else_does,
    an_answer_that_the_question_rejects_is_rejected_at_once,
    a_cancelled_run_drops_the_call_of_its_step,
    an_id_names_one_run,
    a_durable_call_is_made_once_for_each_id,
}
