//! Calls of programs.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolkit::call::{CancelToken, Credentials, ErrorKind};
use toolkit::tool::BackendKind;
use toolkit::{Content, Context, Dispatcher, ToolError};
use toolkit_code::sandbox::Inline;
use toolkit_code::{CodeMode, FailureKind, Gateway, Limits, Program};

use super::tools::catalog;
use super::{code, run, value};

#[tokio::test]
async fn a_program_calls_tools_by_functions_and_ids() {
    assert_eq!(value("return (await tools.math.add({ a: 1, b: 2 })) + 1").await, 4);
    assert_eq!(value("return await call('math:add', { a: 1, b: 2 })").await, 3);
    let ordered = "return await tools.shop.order({ drink: 'tea', size: 'small', count: 2 })";
    assert_eq!(value(ordered).await, r#"2 "small" tea"#);
}

#[tokio::test]
async fn a_call_with_invalid_arguments_throws_every_violation() {
    let caught = value(
        "try { await tools.shop.order({ drink: 1, size: 'huge', count: 20 }) } catch (error) {
            return { name: error.name, kind: error.kind, tool: error.tool, message: error.message,
                     paths: error.violations.map(violation => violation.pointer).sort() }
        }",
    )
    .await;
    assert_eq!(caught["paths"], json!(["/count", "/drink", "/size"]));
    assert_eq!((&caught["name"], &caught["kind"]), (&json!("ToolError"), &json!("invalid_arguments")));
    assert_eq!(caught["tool"], "shop:order");
    let dispatcher = Dispatcher::new(catalog()).unwrap();
    let direct = dispatcher.call_sync("shop:order", r#"{"drink": 1, "size": "huge", "count": 20}"#).unwrap_err();
    assert_eq!(caught["message"], direct.to_string());
}

#[tokio::test]
async fn the_error_of_a_tool_that_is_not_caught_names_the_tool_and_the_line() {
    let execution = run("const x = 1\nawait tools.shop.fail({ reason: 'sold out' })\nreturn x").await;
    let failure = execution.failure().unwrap();
    assert_eq!((failure.kind, failure.line), (FailureKind::Tool, Some(2)));
    assert_eq!(failure.tool.as_deref(), Some("shop:fail"));
    assert!(failure.message.contains("sold out"), "{failure}");
    assert_eq!(failure.source.as_deref(), Some("await tools.shop.fail({ reason: 'sold out' })"));
}

#[tokio::test]
async fn parallel_calls_run_in_parallel() {
    let waited = value(
        "const all = await Promise.all([1, 2, 3].map(() => tools.time.wait({ milliseconds: 100 })))
        return Math.max(...all)",
    )
    .await;
    assert!(waited.as_u64().unwrap() >= 3, "{waited}");
}

#[tokio::test]
async fn each_call_is_recorded_with_its_arguments_result_backend_and_line() {
    let execution = run("await tools.math.add({ a: 1, b: 2 })
        try { await tools.shop.fail({ reason: 'no' }) } catch {}
        try { await call('shop:nothing') } catch {}
        return 7")
    .await;
    let [added, failed, unknown] = &execution.calls[..] else { panic!("{execution:?}") };
    assert_eq!((&*added.tool, added.args.get(), added.line), ("math:add", r#"{"a":1,"b":2}"#, Some(1)));
    assert_eq!(added.result.as_ref().unwrap().get(), "3");
    assert_eq!(added.backend.as_ref().unwrap().kind(), BackendKind::Local);
    assert_eq!((&*failed.tool, failed.line), ("shop:fail", Some(2)));
    assert_eq!(failed.result.as_ref().unwrap_err().kind, "failed");
    assert_eq!(unknown.result.as_ref().unwrap_err().kind, "unknown_tool");
    let json = serde_json::to_value(&execution).unwrap();
    assert_eq!(json["toolCalls"][0]["toolId"], "math:add");
    assert_eq!(json["toolCalls"][0]["structured"], 3);
    assert_eq!(json["toolCalls"][1]["errorOp"], "run");
    assert_eq!((&json["value"], &json["backend"]["kind"]), (&json!(7), &json!("inline")));
}

#[tokio::test]
async fn a_chain_is_recorded_by_its_steps() {
    let execution = run("return await chain([{ toolId: 'math:add', args: { a: 1, b: 2 } },
                             { toolId: 'text:echo', args: { value: 5 } }])")
    .await;
    assert_eq!(execution.value()["value"], 5, "{execution:?}");
    assert_eq!(execution.value()["steps"][0], json!({ "tool": "math:add", "value": 3 }));
    assert_eq!(execution.calls.iter().map(|call| call.step).collect::<Vec<_>>(), [Some(0), Some(1)]);

    let execution = run("return await chain([{ toolId: 'shop:fail', args: { reason: 'no' } }])").await;
    assert_eq!(execution.failure().unwrap().kind, FailureKind::Tool, "{execution:?}");
    assert_eq!(serde_json::to_value(&execution).unwrap()["toolCalls"][0]["errorOp"], "chain");
}

#[tokio::test]
async fn content_stays_with_the_host_until_the_program_shows_it() {
    let execution = run("const dot = await tools.images.dot({ color: 'red' })
        await tools.images.dot({ color: 'blue' })
        show(dot)
        return content(dot).map(block => [block.type, block.data])")
    .await;
    assert_eq!(execution.value(), json!([["text", null], ["image", null]]), "{execution:?}");
    assert_eq!(execution.content, [Content::text("a red dot"), Content::image(b"red", "image/png")]);
}

#[tokio::test]
async fn a_program_finds_describes_and_tries_tools() {
    let found = value("return await search('add two integers', 1)").await;
    assert_eq!((&found[0]["id"], &found[0]["function"]), (&json!("math:add"), &json!("tools.math.add")));
    let described = value("return await describe('math:add')").await;
    assert!(described.as_str().unwrap().contains("add"), "{described}");
    let namespaces = value("return await namespaces()").await;
    assert!(namespaces.as_array().unwrap().contains(&json!({ "name": "math", "tools": 1 })), "{namespaces}");
}

#[tokio::test]
async fn a_tool_that_is_not_allowed_is_unknown() {
    let dispatcher = Dispatcher::new(catalog()).unwrap();
    let gateway = Gateway::new(dispatcher).only(|tool| tool.id().namespace() == Some("math"));
    let code = CodeMode::with_gateway(gateway, Inline::javascript());
    for program in [
        "return await call('shop:order', { drink: 'tea', size: 'small', count: 1 })",
        "return await tools.shop.order({ drink: 'tea', size: 'small', count: 1 })",
        "return await chain([{ toolId: 'shop:order', args: { drink: 'tea', size: 'small', count: 1 } }])",
        "return await describe('shop:order')",
        "return await examples('shop:order')",
    ] {
        let execution = code.run(Program::javascript(program)).await.unwrap();
        assert!(execution.failure().is_some(), "{program}: {execution:?}");
        assert!(execution.calls.iter().all(|call| call.backend.is_none()), "{program}: {execution:?}");
    }
    let typo = "try { await call('shop:ordr') } catch (error) { return error.message }";
    let message = code.run(Program::javascript(typo)).await.unwrap().value();
    assert!(!message.to_string().contains("shop:order"), "{message}");
    let found = code.run(Program::javascript("return await search('order a drink')")).await.unwrap();
    assert!(!found.value().to_string().contains("shop"), "{found:?}");
}

#[tokio::test]
async fn a_host_prepares_the_context_of_each_call() {
    let context = Context::new().nested_with(|tool, context| match tool.id().namespace() {
        Some("users") => Ok(context.with_credentials(Credentials::new().with_user_id("ada"))),
        Some("shop") => Err(ToolError::new(ErrorKind::Denied, "not for this caller")),
        _ => Ok(context),
    });
    let program = "const who = await tools.users.who()
        try { await tools.shop.fail({ reason: 'x' }) } catch (error) { return [who, error.kind] }";
    let execution = code().run_with(&context, Limits::default(), Program::javascript(program)).await.unwrap();
    assert_eq!(execution.value(), json!(["ada", "denied"]), "{execution:?}");

    let program = "return await chain([{ toolId: 'users:who' }])";
    let execution = code().run_with(&context, Limits::default(), Program::javascript(program)).await.unwrap();
    assert_eq!(execution.value()["value"], "ada", "{execution:?}");
}

#[tokio::test]
async fn progress_counts_the_finished_calls() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&reports);
    let context = Context::new().on_progress(move |report| {
        listener.lock().unwrap().push((report.done, report.message));
    });
    let program = Program::javascript("for (const b of [1, 2]) await tools.math.add({ a: 1, b })");
    code().run_with(&context, Limits::default(), program).await.unwrap();
    assert_eq!(*reports.lock().unwrap(), [(1.0, "math:add".to_owned()), (2.0, "math:add".to_owned())]);
}

#[tokio::test]
async fn a_canceled_run_keeps_its_trace() {
    let cancel = CancelToken::new();
    let context = Context::new().with_cancel(cancel.clone());
    let context = context.on_progress(move |_| cancel.cancel());
    let program =
        Program::javascript("console.log('begun'); await tools.math.add({ a: 1, b: 2 }); await tools.time.hang()");
    let execution = code().run_with(&context, Limits::default(), program).await.unwrap();
    assert_eq!(execution.failure().unwrap().kind, FailureKind::Cancelled);
    assert_eq!((execution.calls[0].result.is_ok(), &*execution.stdout()), (true, "begun\n"), "{execution:?}");
    // The second call may have started.
    assert!(
        execution.calls.iter().skip(1).all(|call| call.result.as_ref().is_err_and(|error| error.kind == "cancelled"))
    );
}
