//! Limits that the host enforces.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use toolkit::call::RequestParts;
use toolkit::{CancelToken, Context};
use toolkit_code::sandbox::Guarantee;
use toolkit_code::{CallRecord, CodeError, FailureKind, Limits, Program};

use super::{code, run, within};

#[tokio::test]
async fn calls_beyond_the_limit_are_refused_before_they_run() {
    let program = "let n = 0
        for (let i = 0; i < 5; i++) {
            try { await tools.math.add({ a: i, b: 1 }); n++ } catch (error) { return [n, error.kind] }
        }";
    let execution = within(&code(), Limits::default().calls(2), program).await;
    assert_eq!(execution.value(), json!([2, "too_many_calls"]), "{execution:?}");
    assert_eq!(execution.calls.len(), 2);

    let program = "for (;;) await tools.math.add({ a: 1, b: 1 })";
    let execution = within(&code(), Limits::default().calls(3), program).await;
    assert_eq!(execution.failure().unwrap().kind, FailureKind::Calls, "{execution:?}");
    assert_eq!(execution.calls.len(), 3);
}

#[tokio::test]
async fn calls_at_once_that_exceed_the_limit_together_are_refused_before_the_first() {
    let chain = "chain([{ toolId: 'math:add', args: { a: 1, b: 1 } }, { toolId: 'math:add', args: { a: 1, b: 1 } }])";
    let add = "tools.math.add({ a: 1, b: 1 })";
    for batch in [format!("{add}, {add}, {add}, {add}"), format!("{chain}, {add}, {add}"), format!("{chain}, {chain}")]
    {
        let execution =
            within(&code(), Limits::default().calls(4), &format!("await {add}; await Promise.all([{batch}])")).await;
        let failure = execution.failure().unwrap();
        assert_eq!((failure.kind, execution.calls.len()), (FailureKind::Calls, 1), "{batch}: {execution:?}");
        let says = "the program may make 4 calls; it has made 1, and none of the next 4 was made, which would exceed them \
                    together: process fewer items per program";
        assert_eq!(failure.message, says);
        let execution =
            within(&code(), Limits::default().calls(5), &format!("await {add}; await Promise.all([{batch}])")).await;
        assert_eq!((execution.failure(), execution.calls.len()), (None, 5), "{batch}");
    }
    // The program may go on with fewer, and searches do not count.
    let program = format!(
        "await Promise.allSettled([{add}, {add}, {add}, search('add')])
         await Promise.all([{add}, {add}, search('add')])"
    );
    let execution = within(&code(), Limits::default().calls(2), &program).await;
    assert_eq!((execution.failure(), execution.calls.len()), (None, 2), "{execution:?}");
}

#[tokio::test]
async fn the_steps_of_chains_count_and_steps_that_did_not_run_are_given_back() {
    let step = "{ toolId: 'math:add', args: { a: 1, b: 1 } }";
    let failing = "{ toolId: 'shop:fail', args: { reason: 'no' } }";
    let program = format!(
        "const kinds = []
         for (const steps of [[{step}, {step}], [{failing}, {step}], [{step}, {step}]])
             try {{ await chain(steps); kinds.push('ok') }} catch (error) {{ kinds.push(error.kind) }}
         await tools.math.add({{ a: 1, b: 1 }})
         return kinds"
    );
    let execution = within(&code(), Limits::default().calls(4), &program).await;
    assert_eq!(execution.value(), json!(["ok", "failed", "too_many_calls"]), "{execution:?}");
    let program = format!("return await chain([{step}, {step}])");
    let execution = within(&code(), Limits::default().chain_steps(1), &program).await;
    assert!(execution.failure().unwrap().message.contains("at most 1"), "{execution:?}");
    assert!(execution.calls.is_empty());
}

#[tokio::test]
async fn at_most_so_many_calls_run_at_once() {
    let program = "const all = await Promise.all(Array.from({ length: 6 }, (_, i) => tools.text.echo({ value: i })))
        return all";
    let execution = within(&code(), Limits::default().concurrent_calls(1), program).await;
    assert_eq!(execution.value(), json!([0, 1, 2, 3, 4, 5]), "{execution:?}");
    let mut ended = Duration::ZERO;
    for call in &execution.calls {
        assert!(call.start >= ended, "{execution:?}");
        ended = call.start + call.duration;
    }
}

#[tokio::test]
async fn the_time_of_a_run_includes_its_calls_and_names_those_that_run() {
    let limits = Limits::default().time(Duration::from_secs(3));
    let execution = within(&code(), limits, "await tools.math.add({ a: 1, b: 1 })\nawait tools.time.hang()").await;
    let failure = execution.failure().unwrap();
    assert_eq!(failure.kind, FailureKind::Time);
    assert!(failure.message.contains("`time:hang`"), "{failure}");
    assert_eq!(execution.calls.iter().map(|call| call.result.is_ok()).collect::<Vec<_>>(), [true, false]);
}

#[tokio::test]
async fn the_time_of_the_program_excludes_its_calls() {
    let limits = Limits::default().run_time(Duration::from_secs(1));
    let execution = within(&code(), limits, "return await tools.time.wait({ milliseconds: 1500 })").await;
    assert!(execution.failure().is_none(), "{execution:?}");
    let execution = within(&code(), limits.steps(u64::MAX), "for (;;) {}").await;
    assert_eq!(execution.failure().unwrap().kind, FailureKind::Time, "{execution:?}");
}

#[tokio::test]
async fn a_result_that_is_too_large_is_an_error_of_its_call() {
    let program = "try { return await tools.text.long({ length: 5000 }) } catch (error) { return error.kind }";
    let execution = within(&code(), Limits::default().message_bytes(4096), program).await;
    assert_eq!(execution.value(), "result_too_large", "{execution:?}");
}

#[tokio::test]
async fn what_the_calls_of_a_run_keep_has_one_limit() {
    let limits = Limits::default().kept_bytes(10_000);
    let exceeds = "exceed 10000 bytes together (`kept_bytes`)";
    // Results, the value of a chain, declarations and errors: an error that the program can catch.
    for call in [
        "tools.text.long({ length: 3000 })",
        "chain([{ toolId: 'text:long', args: { length: 1000 } }, { toolId: 'text:echo', args: { value: 'y' } }])",
        "describe('text:long', 'text:echo', 'math:add', 'shop:order', 'shop:fail', 'images:dot')",
        "tools.images.dot({ color: 'r'.repeat(600) })",
        "tools.shop.fail({ reason: 'r'.repeat(500) })",
    ] {
        let program = format!(
            "for (let n = 0; n < 90; n++)
                 try {{ await {call} }}
                 catch (error) {{ if (error.message.includes('kept_bytes')) return [n, error.kind, error.message] }}"
        );
        let execution = within(&code(), limits, &program).await;
        let value = execution.value();
        assert!((1..90).contains(&value[0].as_u64().unwrap_or_default()), "{call}: {execution:?}");
        assert_eq!(value[1], "result_too_large", "{call}");
        assert!(value[2].as_str().unwrap().contains(exceeds), "{value}");
        assert!(execution.calls.iter().all(|call| call.args.get().len() + sizes(call) < 10_000), "{execution:?}");
    }
    // Arguments: the end of the program, also if the calls are rejected.
    for call in ["tools.text.echo({ value: 'x'.repeat(500) })", "call('no_such_tool', { value: 'x'.repeat(500) })"] {
        let program = format!("for (let n = 0; n < 40; n++) try {{ await {call} }} catch {{}}");
        let execution = within(&code(), limits, &program).await;
        let failure = execution.failure().unwrap_or_else(|| panic!("{call}: {execution:?}"));
        assert_eq!(failure.kind, FailureKind::Size, "{failure}");
        assert!(failure.message.contains(exceeds), "{failure}");
    }
}

fn sizes(call: &CallRecord) -> usize {
    call.result.as_ref().map_or_else(|error| error.message.len(), |result| result.get().len())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_runs_of_one_caller_leave_memory_to_those_of_others() {
    // Room for the times of the calls, which have more digits on a busy machine.
    let code = code().limits(Limits::default().kept_bytes(4000));
    let program =
        "await tools.text.long({ length: 3000 }); await tools.math.add({ a: 1, b: 1 }); await tools.time.hang()";
    let of_caller = |name: &str| Context::new().with(RequestParts::new().with_caller(name));
    let (cancel, n_ended) = (CancelToken::new(), Arc::new(AtomicUsize::new(0)));
    let runs: Vec<_> = (0..2)
        .map(|_| {
            let (code, counted) = (code.clone(), Arc::clone(&n_ended));
            let context = of_caller("alice").with_cancel(cancel.clone()).on_progress(move |_| {
                counted.fetch_add(1, Ordering::SeqCst);
            });
            let program = Program::javascript(program);
            tokio::spawn(async move { code.run_with(&context, Limits::default(), program).await })
        })
        .collect();
    // The first result is kept before the second call ends.
    while n_ended.load(Ordering::SeqCst) < 4 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let program = "try { return (await tools.text.long({ length: 3000 })).length } catch (error) { return [error.kind, error.retryable, error.message] }";
    let value = async |caller: &str| {
        let context = of_caller(caller);
        code.run_with(&context, Limits::default(), Program::javascript(program)).await.unwrap().value()
    };
    let refused = value("alice").await;
    assert_eq!((&refused[0], &refused[1]), (&json!("overloaded"), &json!(true)), "{refused}");
    assert!(refused[2].as_str().unwrap().contains("the share of one caller of the 16000 bytes of all"), "{refused}");
    assert_eq!(value("bob").await, 3000);
    cancel.cancel();
    for run in runs {
        assert_eq!(run.await.unwrap().unwrap().failure().unwrap().kind, FailureKind::Cancelled);
    }
    assert_eq!(value("alice").await, 3000);
}

#[tokio::test]
async fn a_flood_of_searches_is_ended() {
    let program = "for (;;) await search('add')";
    let execution = within(&code(), Limits::default().calls(1), program).await;
    assert_eq!(execution.failure().unwrap().kind, FailureKind::Calls, "{execution:?}");
}

#[tokio::test]
async fn programs_that_cannot_be_started_are_errors() {
    let started = code().run(Program::javascript(" \n ")).await;
    assert!(matches!(started.unwrap_err(), CodeError::MissingCode));
    let code = code().limits(Limits::default().code_bytes(10));
    let started = code.run(Program::javascript("return 1 + 1 + 1")).await;
    assert!(matches!(started.unwrap_err(), CodeError::TooLong(10)));
}

#[tokio::test]
async fn the_limits_of_a_run_are_at_most_those_of_the_host() {
    let code = code().limits(Limits::default().calls(1));
    let program = Program::javascript("for (;;) await tools.math.add({ a: 1, b: 1 })");
    let execution = code.run_with(&Context::new(), Limits::default().calls(1000), program).await.unwrap();
    assert_eq!(execution.calls.len(), 1);
}

#[tokio::test]
async fn only_what_is_enforced_is_reported() {
    let execution = run("return 1").await;
    for guarantee in [Guarantee::Time, Guarantee::Calls, Guarantee::ChainSteps, Guarantee::Steps, Guarantee::Memory] {
        assert!(execution.enforced.contains(guarantee), "{guarantee:?}");
    }
    for guarantee in [Guarantee::Files, Guarantee::Network, Guarantee::Processes, Guarantee::Environment] {
        assert!(!execution.enforced.contains(guarantee), "{guarantee:?}");
    }
}

#[test]
fn limits_are_read_without_negative_and_unknown_numbers() {
    assert!(serde_json::from_str::<Limits>(r#"{ "calls": 10, "memory_bytes": 104857600 }"#).is_ok());
    assert!(serde_json::from_str::<Limits>(r#"{ "calls": -1 }"#).is_err());
    assert!(serde_json::from_str::<Limits>(r#"{ "call": 1 }"#).is_err());
}
