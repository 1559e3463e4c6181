//! The tool that runs programs.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit::tool::Tool;
use toolkit::{Catalog, Dispatcher};
use toolkit_backends::Backends;
use toolkit_code::sandbox::Inline;
use toolkit_code::{CodeMode, Gateway, Limits, RunCode};

use super::code;
use super::tools::catalog;

async fn dispatcher(backend: RunCode) -> Dispatcher {
    let backends = Backends::new();
    backends.register(backend).unwrap();
    let collected = backends.collect(catalog()).await;
    assert!(collected.diagnostics.is_empty() && collected.failures.is_empty(), "{collected:?}");
    Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap()
}

async fn tool(backend: RunCode) -> Tool {
    dispatcher(backend).await.catalog().get(RunCode::ID).unwrap().clone()
}

fn only(namespace: &'static str) -> CodeMode {
    let dispatcher = Dispatcher::new(catalog()).unwrap();
    let gateway = Gateway::new(dispatcher).only(move |tool| tool.id().namespace() == Some(namespace));
    CodeMode::with_gateway(gateway, Inline::javascript())
}

#[tokio::test]
async fn the_model_reads_the_value_and_the_printed_text_alone() {
    let traced = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&traced);
    let backend = RunCode::new(code()).on_execution(move |execution| {
        listener.lock().unwrap().extend(execution.calls.iter().map(|call| call.tool.clone()));
    });
    let dispatcher = dispatcher(backend).await;
    let program = "console.log('adding'); const sum = await tools.math.add({ a: 1, b: 2 }); return { sum }";
    let result = dispatcher.call(RunCode::ID, json!({ "code": program })).await.unwrap();
    assert_eq!(result.value(), json!({ "value": { "sum": 3 }, "printed": "adding" }));
    assert_eq!(*traced.lock().unwrap(), ["math:add"]);
}

#[tokio::test]
async fn the_value_keeps_its_digits() {
    let dispatcher = dispatcher(RunCode::new(code())).await;
    let program = "return 123456789012345678901234567890n";
    let result = dispatcher.call(RunCode::ID, json!({ "code": program })).await.unwrap();
    assert_eq!(result.content()[0].as_text(), Some(r#"{"value":123456789012345678901234567890}"#));
    assert_eq!(result.json(), Some(&br#"{"value":123456789012345678901234567890}"#[..]));
}

#[tokio::test]
async fn shown_content_follows_the_value() {
    let dispatcher = dispatcher(RunCode::new(code())).await;
    let program = "show(await tools.images.dot({ color: 'red' })); return 'drawn'";
    let result = dispatcher.call(RunCode::ID, json!({ "code": program })).await.unwrap();
    assert_eq!(result.content()[0].as_text(), Some(r#"{"value":"drawn"}"#));
    let image = serde_json::to_value(&result.content()[2]).unwrap();
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
}

#[tokio::test]
async fn a_failed_program_is_an_error_with_its_place_its_calls_and_its_output() {
    let dispatcher = dispatcher(RunCode::new(code())).await;
    let program = "console.log('begun')\nawait tools.math.add({ a: 1, b: 2 })\nreturn missing.name";
    let error = dispatcher.call(RunCode::ID, json!({ "code": program })).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    for part in ["missing", "line 3", "return missing.name", "calls that only read: 1", "printed:\nbegun"] {
        assert!(error.message().contains(part), "{part}: {}", error.message());
    }
}

#[tokio::test]
async fn a_failed_program_tells_what_was_done_with_the_arguments() {
    let dispatcher = dispatcher(RunCode::new(code())).await;
    let program = "for (const count of [1, 11, 2])
            try { await tools.shop.order({ drink: 'tea', size: 'small', count }) } catch {}
        await tools.shop.order({ drink: 't'.repeat(300), size: 'large', count: 3 })
        await tools.shop.fail({ reason: 'closed' })";
    let error = dispatcher.call(RunCode::ID, json!({ "code": program })).await.unwrap_err();
    let calls = format!(
        "\ncalls that were made, in order; do not repeat those that are ok:\
         \n- shop:order {{\"drink\":\"tea\",\"size\":\"small\",\"count\":1}} (ok)\
         \n- shop:order {{\"drink\":\"tea\",\"size\":\"small\",\"count\":11}} (failed: invalid_arguments)\
         \n- shop:order {{\"drink\":\"tea\",\"size\":\"small\",\"count\":2}} (ok)\
         \n- shop:order {{\"drink\":\"{}… (ok)\
         \ncalls that only read: 1",
        "t".repeat(190)
    );
    assert!(error.message().ends_with(&calls), "{}", error.message());
}

#[tokio::test]
async fn the_calls_of_a_failed_program_have_a_maximum_size() {
    let dispatcher = dispatcher(RunCode::new(code())).await;
    let program = "for (let n = 0; n < 100; n++)
            await tools.shop.order({ drink: 't'.repeat(300), size: 'large', count: 3 })
        throw new Error('no')";
    let error = dispatcher.call(RunCode::ID, json!({ "code": program })).await.unwrap_err();
    assert!(error.message().len() < 17_000 && error.message().ends_with(" more"), "{}", error.message());
}

#[tokio::test]
async fn the_description_declares_few_tools_and_counts_many() {
    let few = tool(RunCode::new(only("math"))).await;
    assert!(few.description().contains("add"), "{}", few.description());
    assert!(!few.description().contains("namespaces"), "{}", few.description());
    let many = tool(RunCode::new(code()).max_declarations(10)).await;
    for part in ["math (1)", "shop (2)", "search(", "describe("] {
        assert!(many.description().contains(part), "{part}: {}", many.description());
    }
}

#[tokio::test]
async fn the_description_names_the_limits() {
    let tool = tool(RunCode::new(code().limits(Limits::default().calls(7)))).await;
    let limits = "- Limits of a program: 7 calls (calls made at once that exceed them are refused together), 300s with its \
                  calls, 10s without, 1048576 bytes of value, 65536 bytes of printed text.";
    assert!(tool.description().contains(limits), "{}", tool.description());
}

#[tokio::test]
async fn the_hints_are_those_of_the_tools() {
    assert_eq!(tool(RunCode::new(only("math"))).await.annotations().read_only, Some(true));
    let shop = tool(RunCode::new(only("shop"))).await;
    assert_eq!((shop.annotations().read_only, shop.annotations().destructive), (Some(false), Some(true)));
}

#[tokio::test]
async fn a_program_cannot_run_a_program() {
    let code = code();
    let dispatcher = dispatcher(RunCode::new(code.clone())).await;
    code.replace(Gateway::new(dispatcher.clone()));
    let program = "return await tools.run.code({ code: 'return 1' })";
    let error = dispatcher.call(RunCode::ID, json!({ "code": program })).await.unwrap_err();
    assert!(error.message().contains("a program cannot run another program"), "{}", error.message());
}

#[tokio::test]
async fn replaced_tools_are_announced_and_described() {
    let code = only("math");
    let backend = RunCode::new(code.clone());
    backend.tools().await.unwrap();
    let waiting = tokio::time::timeout(std::time::Duration::from_millis(50), backend.changed());
    assert!(waiting.await.is_err(), "nothing has changed");
    code.replace(Gateway::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()));
    tokio::time::timeout(std::time::Duration::from_secs(20), backend.changed()).await.unwrap();
    let offered = backend.tools().await.unwrap();
    let description: Value = offered.tools[0].0.description().into();
    assert!(!description.to_string().contains("math"), "{description}");
}
