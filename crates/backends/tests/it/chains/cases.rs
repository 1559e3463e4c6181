//! The cases of the systems that this crate replaces, for chains.

use std::sync::{Arc, Mutex};

use super::*;

fn document() -> Value {
    serde_json::from_str(include_str!("../../cases/chains.json")).unwrap()
}

/// Returns each step as described by the case.
fn told(outcome: &toolkit_backends::chain::ChainOutcome) -> Vec<Value> {
    let told = outcome.steps().iter().map(|step| match &step.result {
        Ok(result) => json!({ "toolId": step.tool, "structured": result.value() }),
        Err(error) => json!({ "toolId": step.tool, "error": error.message() }),
    });
    told.collect()
}

#[test]
fn chains_receive_return_and_report_as_in_the_cases() {
    let document = document();
    let cases = document["chains"].as_array().unwrap();
    let dispatcher = dispatcher();
    for case in cases {
        let chain = Chain::from_json(&case["steps"]).unwrap();
        let script = Script::new(&case["handlers"]);
        let progress = Arc::new(Mutex::new(Vec::new()));
        let reports = Arc::clone(&progress);
        let context = Context::new().with(script.clone()).on_progress(move |report| {
            let report = json!({ "progress": report.done as u64, "total": report.total.unwrap() as u64, "message": report.message });
            reports.lock().unwrap().push(report);
        });
        let outcome = chain.run_sync(&dispatcher, &context).unwrap();
        let (expect, id) = (&case["expect"], &case["id"]);
        assert_eq!(json!(script.received()), expect["args_received"], "{id}");
        let args: Vec<Value> = outcome.steps().iter().map(|step| json!(step.args)).collect();
        assert_eq!(json!(args), expect["args_received"], "{id}");
        assert_eq!(json!(told(&outcome)), expect["step_results"], "{id}");
        assert_eq!(json!(*progress.lock().unwrap()), expect["progress"], "{id}");
        let last = outcome.result().map_or(Value::Null, |result| result.value());
        assert_eq!(last, expect["final_structured"], "{id}");
        match expect["error"].as_str() {
            None => assert!(outcome.error().is_none(), "{id}"),
            Some(error) => {
                assert_eq!((error, outcome.error().unwrap().kind()), ("execution", ErrorKind::Failed), "{id}");
            }
        }
    }
    ran(cases.len());
}

/// The cases with a different outcome, and the decision.
const DECIDED: [(&str, &str); 3] = [
    ("backend_on_success", "a function of this program is called by its id, and has no other name as a backend"),
    ("backend_on_error", "a function of this program is called by its id, and has no other name as a backend"),
    ("unknown_tool_in_chain", "every tool is found before the first step runs, so there are no partial results"),
];

#[test]
fn the_other_cases_differ_only_as_decided() {
    let document = document();
    let cases = document["chain_extra"].as_array().unwrap();
    for case in cases {
        let id = case["id"].as_str().unwrap();
        assert!(DECIDED.iter().any(|(decided, _)| *decided == id), "{id}");
        let chain = Chain::from_json(&case["steps"]).unwrap();
        let handlers = json!({ "mytool": { "error": case["handler_error"], "returns": 1 } });
        let context = Context::new().with(Script::new(&handlers));
        match (id, chain.run_sync(&dispatcher(), &context)) {
            ("unknown_tool_in_chain", Err(problems)) => {
                assert_eq!(problems[0].kind(), ChainDiagnosticKind::UnknownTool);
            }
            (_, Ok(outcome)) => {
                let expect = &case["expect"];
                assert_eq!(outcome.steps().len(), expect["step_results"].as_array().unwrap().len());
                let has_error = expect["step_results"][0]["has_error"] == json!(true);
                assert_eq!(outcome.steps()[0].result.is_err(), has_error);
                assert_eq!(outcome.error().is_some(), expect["returns_error"] == json!(true));
                let (tool, backend) = match &outcome.steps()[0].result {
                    Ok(result) => (result.tool(), result.backend()),
                    Err(error) => (error.tool().unwrap(), error.backend().unwrap().clone()),
                };
                assert_eq!(tool, "mytool");
                assert_eq!(json!(backend), json!({ "kind": "local", "local": { "name": "mytool" } }));
            }
            (_, Err(problems)) => panic!("{id}: {problems}"),
        }
    }
    ran(cases.len());
}

#[test]
fn effective_arguments_are_kept_as_in_the_cases() {
    let document = document();
    let cases = document["records"].as_array().unwrap();
    for case in cases {
        let chain = Chain::from_json(&case["steps"]).unwrap();
        let handlers =
            json!({ "tool1": { "returns": case["results"][0] }, "tool2": { "returns": case["results"][1] } });
        let outcome = chain.run_sync(&dispatcher(), &Context::new().with(Script::new(&handlers))).unwrap();
        let args: Vec<Value> = outcome.steps().iter().map(|step| json!(step.args)).collect();
        assert_eq!(json!(args), case["expect_recorded_args"]);
    }
    ran(cases.len());
}

#[test]
fn a_step_is_written_as_in_the_cases() {
    let document = document();
    let cases = document["json_shapes"].as_array().unwrap();
    for case in cases {
        let step: Step = serde_json::from_value(case["value"].clone()).unwrap();
        assert_eq!(json!(step), case["value"]);
    }
    ran(cases.len());
}
