//! Sequential execution of steps.

use std::sync::{Arc, Mutex};

use super::*;

#[tokio::test]
async fn a_part_of_any_earlier_result_becomes_an_argument() {
    let chain = Chain::new()
        .then(Step::new("geo:find").named("geo").arg("name", "Lima"))
        .then(Step::new("run:nothing"))
        .then(Step::new("weather:forecast").arg("days", 3).take("city", "geo", "/name").take("hint", "geo", "/tags/0"));
    let outcome = chain.run(&dispatcher(), &Context::new()).await.unwrap();
    assert_eq!(json!(outcome.steps()[2].args), json!({ "city": "Lima", "days": 3, "hint": "coast" }));
    assert_eq!(outcome.result().unwrap().value(), json!("Lima, 3, coast"));
    assert_eq!((outcome.steps()[0].id.as_deref(), outcome.steps()[2].index), (Some("geo"), 2));
    assert_eq!(outcome.into_result().unwrap().unwrap().value(), json!("Lima, 3, coast"));
}

#[test]
fn a_step_without_structured_result_leaves_null() {
    let chain = Chain::new().then(Step::new("run:nothing")).then(Step::new("a").use_previous());
    let outcome = chain.run_sync(&dispatcher(), &Context::new()).unwrap();
    assert_eq!(json!(outcome.steps()[1].args), json!({ "previous": null }));
    let chain = Chain::new().then(Step::new("a").use_previous());
    let outcome = chain.run_sync(&dispatcher(), &Context::new()).unwrap();
    assert_eq!(json!(outcome.steps()[0].args), json!({ "previous": null }));
}

#[tokio::test]
async fn an_empty_chain_has_no_steps_no_error_and_no_progress() {
    let context = Context::new().on_progress(|report| panic!("{report:?}"));
    for chain in [Chain::new(), Chain::parallel()] {
        let outcome = chain.run(&dispatcher(), &context).await.unwrap();
        assert!(outcome.steps().is_empty() && outcome.error().is_none() && outcome.result().is_none());
        assert!(outcome.into_result().unwrap().is_none());
    }
}

#[test]
fn a_missing_optional_result_fails_the_step_before_its_call() {
    let chain = Chain::new()
        .then(Step::new("geo:find").named("geo").arg("name", "Lima"))
        .then(Step::new("weather:forecast").arg("days", 3).take("city", "geo", "/note"));
    let outcome = chain.run_sync(&dispatcher(), &Context::new()).unwrap();
    let error = outcome.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert_eq!(
        error.to_string(),
        "cannot set the argument `city`: there is no value at `/note` in the result of step `geo`"
    );
    assert_eq!(json!(outcome.steps()[1].args), json!({ "days": 3 }));
}

#[test]
fn a_result_taken_twice_by_each_step_is_bounded() {
    let twice = |idx: usize| {
        let before = format!("s{}", idx - 1);
        Step::new("run:echo").named(format!("s{idx}")).take("a", &before, "").take("b", &before, "/a")
    };
    let start = Step::new("run:echo").named("s0").arg("a", "x".repeat(1 << 20)).arg("b", 1);
    let chain: Chain = std::iter::once(start).chain((1..200).map(twice)).collect();
    let limits = toolkit_backends::chain::ChainLimits::new().max_kept_bytes(usize::MAX);
    let dispatcher = dispatcher();
    let outcome = chain.prepare(&dispatcher).unwrap().with_limits(limits).run_sync(&Context::new());
    let error = outcome.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert_eq!(error.message(), "the arguments from earlier steps exceed 16777216 bytes");
    assert!(outcome.steps().len() < 10);
}

#[test]
fn a_result_that_is_too_deep_to_read_is_not_taken_for_null() {
    let unchecked = toolkit::Dispatcher::builder(super::tools::catalog()).validate_output(false);
    let dispatcher = unchecked.build().unwrap();
    for step in [Step::new("a").use_previous(), Step::new("a").take("n", "deep", "/0")] {
        let chain = Chain::new().then(Step::new("run:nest").named("deep").arg("levels", 200)).then(step);
        let outcome = chain.run_sync(&dispatcher, &Context::new()).unwrap();
        assert!(outcome.steps()[0].result.is_ok());
        let error = outcome.error().unwrap();
        assert_eq!(error.message(), "the result of step `deep` is nested too deeply to be read");
    }
}

#[tokio::test]
async fn the_error_of_a_tool_stays_what_it_is() {
    let chain = Chain::new()
        .then(Step::new("geo:find").arg("name", "Lima"))
        .then(Step::new("geo:find").arg("name", "Atlantis"))
        .then(Step::new("a"));
    let outcome = chain.run(&dispatcher(), &Context::new()).await.unwrap();
    assert_eq!(outcome.steps().len(), 2);
    assert!(outcome.steps()[0].result.is_ok() && outcome.result().is_none());
    let error = outcome.into_result().unwrap_err();
    assert_eq!((error.kind(), error.tool(), error.message()), (ErrorKind::Failed, Some("geo:find"), "it has sunk"));
}

#[test]
fn without_a_runtime_an_asynchronous_step_fails() {
    let chain = Chain::new().then(Step::new("a")).then(Step::new("run:slow").arg("n", 1));
    let outcome = chain.run_sync(&dispatcher(), &Context::new()).unwrap();
    assert_eq!((outcome.steps().len(), outcome.error().unwrap().kind()), (2, ErrorKind::NeedsRuntime));
}

fn cancellable() -> (Context, CancelToken) {
    let token = CancelToken::new();
    (Context::new().with_cancel(token.clone()).with(token.clone()), token)
}

#[tokio::test]
async fn a_chain_that_is_cancelled_between_steps_starts_no_other() {
    let steps = || [Step::new("run:give_up"), Step::new("a")];
    for chain in [Chain::from_iter(steps()), steps().into_iter().fold(Chain::parallel(), Chain::then)] {
        let outcome = match chain.is_parallel() {
            false => chain.run(&dispatcher(), &cancellable().0).await.unwrap(),
            true => chain.run_sync(&dispatcher(), &cancellable().0).unwrap(),
        };
        assert_eq!(outcome.steps().len(), 1);
        assert_eq!(outcome.steps()[0].value(), json!(true));
        assert_eq!(outcome.error().unwrap().kind(), ErrorKind::Cancelled);
        assert!(outcome.result().is_none());
        assert_eq!(outcome.into_result().unwrap_err().kind(), ErrorKind::Cancelled);
    }
    let (context, token) = cancellable();
    token.cancel();
    let outcome = Chain::new().then(Step::new("a")).run(&dispatcher(), &context).await.unwrap();
    assert_eq!((outcome.steps().len(), outcome.error().unwrap().kind()), (0, ErrorKind::Cancelled));
}

#[tokio::test]
async fn a_chain_that_is_cancelled_after_its_last_step_is_complete() {
    let outcome = Chain::new().then(Step::new("run:give_up")).run(&dispatcher(), &cancellable().0).await.unwrap();
    assert!(outcome.error().is_none());
}

#[tokio::test]
async fn a_step_that_runs_is_cancelled() {
    let (context, token) = cancellable();
    let (chain, dispatcher) = (Chain::new().then(Step::new("run:wait")).then(Step::new("a")), dispatcher());
    let (outcome, ()) = tokio::join!(chain.run(&dispatcher, &context), async {
        tokio::task::yield_now().await;
        token.cancel();
    });
    let outcome = outcome.unwrap();
    assert_eq!(outcome.steps().len(), 1);
    assert_eq!(outcome.steps()[0].result.as_ref().unwrap_err().kind(), ErrorKind::Cancelled);
}

#[test]
fn progress_of_a_tool_counts_within_its_step() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&reports);
    let context = Context::new()
        .on_progress(move |report| listener.lock().unwrap().push((report.done, report.total, report.message)));
    let forecast = || Step::new("weather:forecast").arg("city", "Lima");
    Chain::new().then(forecast()).then(forecast()).run_sync(&dispatcher(), &context).unwrap();
    let at = |done: f64, message: &str| (done, Some(2.0), message.to_owned());
    assert_eq!(
        *reports.lock().unwrap(),
        [at(0.0, "started"), at(0.5, "half"), at(1.0, "step_completed"), at(1.5, "half"), at(2.0, "step_completed")]
    );
}

#[test]
fn a_chain_is_run_by_any_executor() {
    use std::task::{Context as Task, Poll, Waker};

    let step = |n: u8| Step::new("run:slow").arg("n", n);
    for chain in [Chain::new(), Chain::parallel()] {
        let (chain, dispatcher, context) = (chain.then(step(1)).then(step(2)), dispatcher(), Context::new());
        let mut run = std::pin::pin!(chain.run(&dispatcher, &context));
        let outcome = loop {
            if let Poll::Ready(outcome) = run.as_mut().poll(&mut Task::from_waker(Waker::noop())) {
                break outcome.unwrap();
            }
        };
        assert_eq!(outcome.result().unwrap().value(), json!(2));
    }
}

#[test]
fn the_future_of_a_chain_can_move_between_threads() {
    fn is_send<T: Send>(_: T) {}
    let (chain, dispatcher, context) = (Chain::parallel(), dispatcher(), Context::new());
    is_send(chain.run(&dispatcher, &context));
}

#[test]
fn a_tool_can_take_a_chain() {
    /// Runs a chain.
    #[toolkit::tool(namespace = "run")]
    fn chain(#[arg] chain: Chain, ctx: &Context) -> Result<Value, ToolError> {
        let dispatcher = ctx.get::<toolkit::Dispatcher>().ok_or("there is no dispatcher")?;
        let outcome = chain.run_sync(dispatcher, &Context::new()).map_err(|problems| problems.to_string())?;
        Ok(outcome.into_result()?.map_or(Value::Null, |result| result.value()))
    }

    let chain_tool = toolkit::catalog![chain].unwrap();
    let catalog = super::tools::catalog().with(chain_tool.iter().cloned()).unwrap();
    let dispatcher = toolkit::Dispatcher::new(catalog).unwrap();
    let context = Context::new().with(dispatcher.clone());
    let call = |chain: Value| dispatcher.call_sync_with(&context, "run:chain", json!({ "chain": chain }));
    assert_eq!(call(json!([{ "toolId": "length", "args": { "text": "four" } }])).unwrap().value(), json!(4));
    let error = call(json!([{ "toolId": "length" }])).unwrap_err();
    assert_eq!(error.message(), "the chain cannot run:\n/0/args/text (`length`): is required");
    assert_eq!(call(json!([{ "tool": "length" }])).unwrap_err().kind(), ErrorKind::InvalidArguments);
}
