//! Tools without defects, tools that must not be called, and what a run depends on.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools, RoutedBackend, Routes};
use toolkit::call::BoxFuture;
use toolkit::tool::{BackendKind, ToolBackend};
use toolkit::{Catalog, Dispatcher, Tool, ToolError, catalog, tool};
use toolkit_contract::calls;
use toolkit_contract::calls::Defect;

use super::{found, on};

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "shape", rename_all = "snake_case")]
enum Figure {
    Circle { radius: f32 },
    Group { parts: Vec<Figure> },
    Text { text: String, size: Option<u8> },
}

/// Returns a figure unchanged.
#[tool(read_only, idempotent)]
fn echo_figure(figure: Figure, depth: Option<u16>) -> Result<Figure, ToolError> {
    match depth {
        Some(100..) => Err(ToolError::failed("too deep")),
        _ => Ok(figure),
    }
}

/// Returns the days between two dates.
#[tool(read_only, idempotent)]
fn days_between(
    from: NaiveDate,
    to: NaiveDate,
    #[schemars(regex(pattern = r"^[a-z]{2}(-[A-Z]{2})?$"))] language: String,
) -> i64 {
    drop(language);
    (to - from).num_days()
}

/// Says hello.
#[tool(read_only, idempotent)]
async fn hello() -> &'static str {
    "hello"
}

#[test]
fn tools_that_keep_their_promises_have_no_defects() {
    let report = on(catalog![echo_figure, days_between, hello].unwrap()).per_tool(400).run().unwrap();
    assert_eq!((report.diagnostics(), report.untested()), (&[][..], &[][..]));
    // A tool without arguments is called with `{}` and a few changes of it, and not 400 times.
    assert!((802..1_000).contains(&report.n_calls()), "{}", report.n_calls());
}

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

/// Writes a line.
#[tool(namespace = "log", version = "1.0.0", destructive = false)]
fn write(line: String, log: &Log) -> usize {
    let mut lines = log.0.lock().unwrap();
    lines.push(line);
    lines.len()
}

/// Removes all lines.
#[tool(namespace = "log", version = "1.0.0", destructive)]
fn clear(log: &Log) {
    log.0.lock().unwrap().clear();
}

/// Counts the lines.
#[tool(namespace = "log", version = "1.0.0", read_only)]
fn count(log: &Log) -> usize {
    log.0.lock().unwrap().len()
}

#[test]
fn a_tool_that_is_not_read_only_is_called_only_if_it_is_included() {
    let log = Arc::new(Log::default());
    let catalog = catalog![write, clear, count].unwrap();
    let dispatcher = Dispatcher::builder(catalog).shared_state(Arc::clone(&log)).build().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    // Not even a kept case is tried.
    std::fs::write(file.path(), r#"{"tool":"log:write","arguments":{"line":"kept"}}"#).unwrap();

    let report = calls(&dispatcher).cases(file.path()).run().unwrap();
    assert_eq!(log.0.lock().unwrap().len(), 0);
    let untested: Vec<&str> = report.untested().iter().map(|untested| &*untested.tool).collect();
    assert_eq!(untested, ["log:clear", "log:write"]);
    assert!(report.untested()[0].reason.contains("read_only"), "{report:?}");

    let report = calls(&dispatcher).include("write").cases(file.path()).run().unwrap();
    assert!(report.untested().iter().all(|untested| untested.tool == "log:clear"), "{report:?}");
    let lines = log.0.lock().unwrap().clone();
    assert_eq!(lines[0], "kept");
    assert!(lines.len() > 50, "{}", lines.len());
    let error = calls(&dispatcher).include("log:wipe").run().unwrap_err();
    assert!(error.source().is_some_and(|cause| cause.is::<toolkit::ToolError>()), "{error:?}");
}

/// Reads the mail.
#[tool(read_only, requires(secret = "MAIL_KEY"))]
fn mail(folder: String) -> usize {
    folder.len()
}

#[test]
fn a_tool_that_cannot_be_called_is_reported_with_the_reason() {
    let remote = Tool::builder("remote").read_only(true).build().unwrap();
    let catalog = catalog![mail].unwrap().with([remote]).unwrap();
    let report = on(catalog).run().unwrap();
    assert_eq!(report.diagnostics(), []);
    let [mail, remote] = report.untested() else { panic!("{report:?}") };
    assert!(mail.reason.contains("MAIL_KEY"), "{mail}");
    assert_eq!(&*remote.tool, "remote");
}

#[test]
fn runs_with_one_seed_make_the_same_calls_and_those_with_another_differ() {
    fn arguments(seed: u64) -> Vec<String> {
        let log = Arc::new(Log::default());
        let dispatcher = Dispatcher::builder(catalog![write].unwrap()).shared_state(Arc::clone(&log)).build().unwrap();
        calls(&dispatcher).include("write").seed(seed).run().unwrap();
        let mut lines = log.0.lock().unwrap();
        std::mem::take(&mut *lines)
    }
    assert_eq!(arguments(7), arguments(7));
    assert_ne!(arguments(7), arguments(8));
}

/// Fails for large numbers, as long as it is broken.
#[tool(read_only)]
fn repaired(number: u32, is_broken: &AtomicUsize) -> u32 {
    assert!(number < 77 || is_broken.load(Ordering::Relaxed) == 0, "too large");
    number
}

#[test]
fn arguments_that_failed_are_kept_and_tried_first() {
    let is_broken = Arc::new(AtomicUsize::new(1));
    let catalog = catalog![repaired].unwrap();
    let dispatcher = Dispatcher::builder(catalog).shared_state(Arc::clone(&is_broken)).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");

    let report = calls(&dispatcher).cases(&path).run().unwrap();
    assert_eq!(found(&report), [(Defect::Panic, json!({ "number": 77 }))]);
    let kept = std::fs::read_to_string(&path).unwrap();
    assert_eq!(kept, "{\"tool\":\"repaired\",\"arguments\":{\"number\":77}}\n");

    // Without generated calls, only the example and the kept case are tried.
    let report = calls(&dispatcher).cases(&path).per_tool(0).run().unwrap();
    assert_eq!(found(&report), [(Defect::Panic, json!({ "number": 77 }))]);
    is_broken.store(0, Ordering::Relaxed);
    let report = calls(&dispatcher).cases(&path).per_tool(0).run().unwrap();
    assert_eq!(found(&report), [] as [(Defect, Value); 0]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), kept);

    std::fs::write(&path, "{\"tool\":\"repaired\",\"arguments\":{}}\n{\"tool\":1}\n").unwrap();
    let error = calls(&dispatcher).cases(&path).run().unwrap_err();
    assert!(error.source().is_some_and(|cause| cause.is::<serde_json::Error>()), "{error:?}");
    let error = error.to_string();
    assert!(error.contains("calls.jsonl: line 2: ") && error.contains("expected `{"), "{error}");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let error = calls(&dispatcher).cases(&path).run().unwrap_err();
    assert!(error.source().is_some_and(|cause| cause.is::<std::io::Error>()), "{error:?}");
}

#[tokio::test]
async fn a_run_works_inside_a_runtime_of_one_thread() {
    /// Sleeps.
    #[tool(read_only)]
    async fn sleeps(long: bool) {
        tokio::time::sleep(std::time::Duration::from_millis(long.into())).await;
    }
    on(catalog![sleeps].unwrap()).expect_no_defects().unwrap();
}

/// A pattern whose texts would not fit into memory if each repetition had 32 parts.
const LONG: &str = "^((((((a*)+)*b*)+)*)+)*$";

#[test]
fn valid_arguments_are_generated_for_each_keyword() {
    for schema in [
        json!({ "type": "object", "properties": { "n": { "type": "integer", "minimum": 3, "maximum": 9, "multipleOf": 3 } }, "required": ["n"] }),
        json!({ "type": "object", "properties": { "t": { "type": "string", "pattern": "^[A-Z]{3}-\\d+$" } }, "required": ["t"] }),
        json!({ "type": "object", "properties": { "l": { "type": "array", "items": { "enum": [1, 2, 3] }, "uniqueItems": true, "minItems": 2 } }, "required": ["l"] }),
        json!({ "type": "object", "properties": { "l": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "null" }], "items": false, "minItems": 2 } }, "required": ["l"] }),
        json!({ "type": "object", "propertyNames": { "pattern": "^[a-z]+$" }, "additionalProperties": { "type": "boolean" } }),
        json!({ "type": "object", "properties": { "c": { "$ref": "#/$defs/Tree" } }, "required": ["c"], "$defs": { "Tree": { "type": "object", "properties": { "children": { "type": "array", "items": { "$ref": "#/$defs/Tree" } } }, "required": ["children"] } } }),
        json!({ "type": "object", "allOf": [{ "properties": { "a": { "const": 1 } }, "required": ["a"] }, { "properties": { "b": { "minLength": 30 } }, "required": ["b"] }] }),
        json!({ "type": "object", "properties": { "t": { "type": "string", "pattern": LONG } } }),
        json!({ "type": "object", "properties": { "at": { "type": "string", "format": "uuid" } }, "required": ["at"] }),
    ] {
        let tool = Tool::builder("any").read_only(true).input(schema.clone()).build().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let dispatcher = answering(tool.clone(), Arc::clone(&log));
        let report = calls(&dispatcher).per_tool(60).run().unwrap();
        assert_eq!((report.diagnostics(), report.untested()), (&[][..], &[][..]), "{schema}");
        let called = log.lock().unwrap();
        assert!(called.iter().all(|arguments| tool.input().is_valid(arguments)));
        // Not only the example of the schema, where there is more than one value.
        let has_few = [&json!("uuid"), &json!(LONG)].iter().any(|few| schema.to_string().contains(&few.to_string()));
        assert!(called.len() > if has_few { 0 } else { 2 }, "{schema}: {called:?}");
    }
}

/// A backend that logs the arguments of its calls.
struct Logging(Arc<Mutex<Vec<Value>>>);

impl Backend for Logging {
    fn name(&self) -> &str {
        "logging"
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Local
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        Box::pin(async { Ok(OfferedTools::new([])) })
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async move {
            self.0.lock().unwrap().push(call.arguments().to_value()?);
            Ok(json!(null).into())
        })
    }
}

/// Returns a dispatcher of one tool that logs its arguments.
fn answering(tool: Tool, log: Arc<Mutex<Vec<Value>>>) -> Dispatcher {
    let (backend, mut routes) = (Arc::new(RoutedBackend::new(Logging(log)).unwrap()), Routes::default());
    routes.add(tool.id().clone(), backend, ToolBackend::local("any").unwrap());
    Dispatcher::builder(Catalog::new([tool]).unwrap()).routes(routes).build().unwrap()
}

#[test]
fn each_tool_has_a_result_of_its_own_and_each_call_is_announced() {
    let (announced, ended) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let (calls_of, results_of) = (Arc::clone(&announced), Arc::clone(&ended));
    let report = on(catalog![hello, days_between].unwrap())
        .per_tool(3)
        .exclude("days_between")
        .before_call(move |tool, arguments| calls_of.lock().unwrap().push((tool.name().to_owned(), arguments.clone())))
        .after_tool(move |tool, report| results_of.lock().unwrap().push((tool.name().to_owned(), report.clone())))
        .run()
        .unwrap();
    let announced = announced.lock().unwrap();
    assert_eq!(announced.len(), report.n_calls());
    assert!(announced.iter().all(|(tool, arguments)| tool == "hello" && *arguments == json!({})), "{announced:?}");
    let ended = ended.lock().unwrap();
    let names: Vec<&str> = ended.iter().map(|(tool, _)| &**tool).collect();
    assert_eq!(names, ["days_between", "hello"]);
    assert_eq!(ended[0].1.untested()[0].to_string(), "days_between was not tested: it is excluded");
    assert_eq!(ended[1].1.n_calls(), report.n_calls());
    assert_eq!(report.untested(), ended[0].1.untested());
}
