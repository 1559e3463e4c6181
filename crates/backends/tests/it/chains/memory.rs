//! The memory budget of a chain: a few kilobytes of steps must not take gigabytes.

use toolkit_backends::chain::{ChainLimits, ChainOutcome, StepResult};

use super::*;

const LIMIT: usize = 1 << 20;

fn limits() -> ChainLimits {
    ChainLimits::new().max_kept_bytes(LIMIT)
}

fn run_within(chain: &Chain, context: &Context, limits: ChainLimits) -> ChainOutcome {
    chain.prepare(&dispatcher()).unwrap().with_limits(limits).run_sync(context)
}

/// Creates a chain of a step that returns `value`, and `n` steps that each take all of it.
fn fan_out(value: &Value, n: usize, chain: Chain) -> Chain {
    let start = chain.then(Step::new("run:echo").named("s0").arg("a", value.clone()).arg("b", 1));
    (0..n).fold(start, |chain, _| chain.then(Step::new("run:echo").take("a", "s0", "/a").arg("b", 1)))
}

#[track_caller]
fn is_out_of_budget(outcome: &ChainOutcome) {
    let error = outcome.error().unwrap();
    let is_first = |step: &&StepResult| step.result.as_ref().is_err_and(|failed| std::ptr::eq(failed, error));
    let failed = outcome.steps().iter().find(is_first).unwrap();
    assert!(matches!(error.kind(), ErrorKind::TooLarge | ErrorKind::ResultTooLarge), "{error}");
    let part = if error.kind() == ErrorKind::TooLarge { "arguments" } else { "result" };
    let expected = format!(
        "with the {part} of step {} (`{}`), the chain exceeds its budget of {LIMIT} bytes for arguments and results",
        failed.index,
        failed.id.as_deref().unwrap_or(&failed.tool),
    );
    assert_eq!(error.message(), expected);
    let args: usize = outcome.steps().iter().map(|step| json!(step.args).to_string().len()).sum();
    let results = outcome.steps().iter().filter_map(|step| step.result.as_ref().ok()?.json());
    assert!(args + results.map(<[u8]>::len).sum::<usize>() <= LIMIT);
}

#[test]
fn copies_of_one_result_stay_within_the_budget() {
    let objects: Value = (0..20).map(|n| json!({ "n": n })).collect();
    for value in [json!("x".repeat(100_000)), json!(vec![1; 2000]), objects] {
        let chain = fan_out(&value, 99, Chain::new());
        let outcome = run_within(&chain, &Context::new(), limits());
        is_out_of_budget(&outcome);
        assert!(outcome.steps().len() > 2, "one copy fits");
        assert!(chain.run_sync(&dispatcher(), &Context::new()).unwrap().error().is_none(), "the default is larger");
    }
}

#[tokio::test]
async fn steps_that_run_side_by_side_share_the_budget() {
    let chain = fan_out(&json!("x".repeat(100_000)), 99, Chain::parallel());
    let dispatcher = dispatcher();
    let outcome = chain.prepare(&dispatcher).unwrap().with_limits(limits()).run(&Context::new()).await;
    is_out_of_budget(&outcome);
}

#[test]
fn constants_and_results_that_no_step_reads_count_too() {
    let step = |n: usize| Step::new("run:echo").arg("a", format!("{n}{}", "x".repeat(50_000))).arg("b", 1);
    let chain: Chain = (0..100).map(step).collect();
    let outcome = run_within(&chain, &Context::new(), limits());
    is_out_of_budget(&outcome);
}

#[test]
fn a_tool_is_not_called_with_arguments_beyond_the_budget() {
    let big = Step::new("run:echo").named("s0").arg("a", json!(vec![1; 2000])).arg("b", 1);
    let many = Step::new("a").take("x", "s0", "").take("y", "s0", "").take("z", "s0", "");
    let script = Script::new(&json!({}));
    let context = Context::new().with(script.clone());
    let limits = ChainLimits::new().max_kept_bytes(500_000);
    let chain = Chain::new().then(big).then(many);
    let outcome = run_within(&chain, &context, limits);
    assert_eq!(outcome.error().unwrap().kind(), ErrorKind::TooLarge);
    assert_eq!(script.received(), [] as [Value; 0]);
}

/// The value that the last reader takes need not be kept twice.
#[test]
fn a_long_chain_of_moderate_results_fits() {
    let next = |n: usize| {
        let before = format!("s{}", n - 1);
        Step::new("run:echo").named(format!("s{n}")).take("a", before, "/a").arg("b", 1)
    };
    let start = Step::new("run:echo").named("s0").arg("a", "x".repeat(4000)).arg("b", 1);
    let chain: Chain = std::iter::once(start).chain((1..100).map(next)).collect();
    let outcome = run_within(&chain, &Context::new(), limits());
    assert!(outcome.error().is_none(), "{:?}", outcome.error());
}
