//! The times of a step, the repetition of its call, what its result may have, and the record of an outcome.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use test_support::scripted::numeric;
use toolkit::call::BoxFuture;
use toolkit::{Catalog, Dispatcher, Tool, catalog, tool};
use toolkit_backends::chain::{ChainOutcome, StepCall, StepRun, StepRunner, Wait};

use super::*;

/// Keeps the waits of the steps, and runs each at once.
#[derive(Default)]
struct Waits(Mutex<Vec<Option<Wait>>>);

impl StepRunner for Waits {
    fn run<'a>(&'a self, call: StepCall<'a>) -> BoxFuture<'a, StepRun> {
        self.0.lock().unwrap().push(call.wait);
        Box::pin(call.run())
    }
}

#[tokio::test]
async fn a_time_has_a_unit() {
    let mix = |sleep: &str| json!({ "toolId": "run:mix", "args": { "a": 1, "b": 0 }, "sleep": sleep });
    let units = [
        ("0ms", Duration::ZERO),
        ("1500ms", Duration::from_millis(1500)),
        ("90s", Duration::from_secs(90)),
        ("15m", Duration::from_secs(900)),
        ("24h", Duration::from_secs(86_400)),
        ("7d", Duration::from_secs(604_800)),
        ("366d", Duration::from_secs(366 * 86_400)),
    ];
    let waits = Waits::default();
    let chain = Chain::from_json(json!(units.map(|(text, _)| mix(text)))).unwrap();
    chain.run_with(&dispatcher(), &Context::new(), &waits).await.unwrap();
    assert_eq!(*waits.0.lock().unwrap(), units.map(|(_, time)| Some(Wait::For(time))));
    for (time, text) in [(Duration::from_secs(90), "90s"), (Duration::from_millis(1500), "1500ms")] {
        let step = serde_json::to_value(Step::new("a").sleep(time)).unwrap();
        assert_eq!(step["sleep"], text);
    }
}

#[test]
fn the_parts_of_a_step_are_readable() {
    let step = Step::new("geo:find").named("geo").arg("a", 1).args([("b".to_owned(), json!(2))]);
    let step = step.take("c", "first", "/x").after("second").attempts(3).use_previous();
    assert_eq!((step.id(), step.tool(), step.max_attempts()), (Some("geo"), "geo:find", Some(3)));
    assert_eq!(json!(step.constants()), json!({ "a": 1, "b": 2 }));
    let reference = &step.references()["c"];
    assert_eq!((step.references().len(), &*reference.step, &*reference.pointer), (1, "first", "/x"));
    assert!(step.uses_previous() && step.predecessors() == ["second"]);
    let bare = Step::new("a");
    assert!(bare.id().is_none() && bare.max_attempts().is_none() && !bare.uses_previous());
    assert!(bare.constants().is_empty() && bare.references().is_empty() && bare.predecessors().is_empty());
    assert_eq!(serde_json::to_value(&bare).unwrap(), json!({ "toolId": "a" }));
}

#[test]
fn the_interval_before_a_call_is_repeated_grows_up_to_five_minutes() {
    let seconds = |stated: Option<u64>, n_before: u32| {
        let error = ToolError::failed("try again").retryable(stated.map(Duration::from_secs));
        StepCall::backoff(&error, n_before).as_secs()
    };
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|n| seconds(None, n)), [1, 4, 16, 64, 256, 300, 300]);
    assert_eq!([3, 4, 5, 86_400, 86_401].map(|stated| seconds(Some(stated), 1)), [4, 4, 5, 86_400, 86_400]);
}

#[test]
fn a_call_is_repeated_if_that_may_help_does_no_harm_and_was_asked_for() {
    let safe = Tool::builder("safe").read_only(true).build().unwrap();
    let dispatcher = Dispatcher::new(Catalog::new([safe, Tool::builder("unsafe").build().unwrap()]).unwrap()).unwrap();
    let (passing, lasting) = (ToolError::failed("no").retryable(None), ToolError::failed("no"));
    for (tool, error, max_attempts, n_before, default, expected) in [
        ("safe", &passing, Some(3), 0, 1, Some(1)),
        ("safe", &passing, Some(3), 1, 1, Some(4)),
        ("safe", &passing, Some(3), 2, 1, None),
        ("safe", &passing, Some(1), 0, 9, None),
        ("safe", &passing, None, 0, 1, None),
        ("safe", &passing, None, 0, 2, Some(1)),
        ("safe", &passing, None, u32::MAX, u32::MAX, None),
        ("safe", &lasting, Some(3), 0, 1, None),
        ("unsafe", &passing, Some(3), 0, 1, None),
        ("nothing", &passing, Some(3), 0, 1, None),
    ] {
        let args = json!({});
        let mut call = StepCall::new(0, tool, &args, Context::new(), &dispatcher);
        assert!(call.max_attempts.is_none() && call.wait.is_none());
        call.max_attempts = max_attempts;
        let pause = call.repeat_after(error, n_before, default).map(|pause| pause.as_secs());
        assert_eq!(pause, expected, "{tool} {max_attempts:?} {n_before} {default}");
    }
}

/// Reports a progress.
#[tool(namespace = "steps")]
fn advance(done: f64, total: Option<f64>, ctx: &Context) -> bool {
    ctx.progress(done, total, "advanced");
    true
}

#[test]
fn a_step_counts_as_the_part_of_its_total_that_is_done() {
    let dispatcher = Dispatcher::new(catalog![advance].unwrap()).unwrap();
    for (done, total, share) in [
        (1.0, Some(4.0), 0.25),
        (4.0, Some(4.0), 1.0),
        (9.0, Some(4.0), 1.0),
        (-1.0, Some(4.0), 0.0),
        (1.0, Some(0.0), 0.0),
        (1.0, Some(-1.0), 0.0),
        (1.0, None, 0.0),
    ] {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&reports);
        let context = Context::new()
            .on_progress(move |report| listener.lock().unwrap().push((report.done, report.total, report.message)));
        let chain = Chain::new().then(Step::new("steps:advance").arg("done", done).arg("total", total));
        assert!(chain.run_sync(&dispatcher, &context).unwrap().error().is_none());
        assert_eq!(reports.lock().unwrap()[1], (share, Some(1.0), "advanced".to_owned()), "{done} of {total:?}");
    }
}

/// A tool whose output schema was written by hand may return more than that lists.
#[test]
fn a_step_takes_what_the_schema_of_the_result_may_have() {
    const NOTHING: &str = "has no value at";
    const OTHER: &str = "but `n` must be integer";
    let text = json!({ "type": "string" });
    let object = |more: Value| {
        let mut schema = json!({ "type": "object", "properties": { "a": text, "no": false } });
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    for (output, pointer, expected) in [
        (object(json!({})), "/a", OTHER),
        (object(json!({})), "/b", ""),
        (object(json!({})), "/no", NOTHING),
        (object(json!({})), "/a/b", NOTHING),
        (object(json!({ "additionalProperties": false })), "/b", NOTHING),
        (object(json!({ "additionalProperties": text })), "/b", OTHER),
        (object(json!({ "additionalProperties": text, "patternProperties": { "^b": {} } })), "/b", ""),
        (object(json!({ "type": ["object", "array"], "items": true })), "/a", OTHER),
        (object(json!({ "type": ["object", "null"] })), "/a", OTHER),
        (object(json!({ "type": "array" })), "/a", NOTHING),
        (json!({ "properties": { "a": text } }), "/a", ""),
        (json!({ "type": "array", "items": text }), "/0", OTHER),
        (json!({ "type": "array", "items": text }), "/10", OTHER),
        (json!({ "type": "array", "items": text }), "/01", NOTHING),
        (json!({ "type": "array", "items": text }), "/-", NOTHING),
        (json!({ "type": "array", "items": true, "maxItems": 2 }), "/1", ""),
        (json!({ "type": "array", "items": true, "maxItems": 2 }), "/2", NOTHING),
        (json!({ "type": "array", "prefixItems": [true, text], "items": false }), "/0", ""),
        (json!({ "type": "array", "prefixItems": [true, text], "items": false }), "/1", OTHER),
        (json!({ "type": "array", "prefixItems": [true, text], "items": false }), "/2", NOTHING),
        (json!({ "type": "array", "prefixItems": [true] }), "/1", ""),
        (json!({ "anyOf": [text, { "type": "boolean" }] }), "", OTHER),
        (json!({ "anyOf": [text, { "type": "integer" }] }), "", ""),
        (json!({ "oneOf": [text, false] }), "", OTHER),
        (json!({ "oneOf": [text, true] }), "", ""),
        (json!({ "anyOf": [text], "title": "A text." }), "", OTHER),
        (json!({ "anyOf": [text], "minLength": 1 }), "", ""),
        (json!({ "$ref": "#/$defs/t", "$defs": { "t": text }, "description": "A text." }), "", OTHER),
        (json!({ "$ref": "#/$defs/t", "$defs": { "t": text }, "minLength": 1 }), "", ""),
        (json!({ "type": "string", "allOf": [{}] }), "", ""),
        (json!({ "const": "x" }), "", OTHER),
        (json!({ "const": 1.5 }), "", ""),
        (json!({ "enum": ["x", true] }), "", OTHER),
        (json!({ "enum": ["x", 1] }), "", ""),
        (json!({ "type": ["string", "number"] }), "", ""),
        (json!({ "type": "null" }), "", OTHER),
    ] {
        let source = Tool::builder("source").output(output.clone()).build().unwrap();
        let dispatcher = Dispatcher::new(Catalog::new([source, numeric("count")]).unwrap()).unwrap();
        let chain = Chain::new().then(Step::new("source").named("s")).then(Step::new("count").take("n", "s", pointer));
        let found: Vec<String> = match chain.check(&dispatcher) {
            Ok(()) => Vec::new(),
            Err(diagnostics) => diagnostics.iter().map(|diagnostic| diagnostic.message().to_owned()).collect(),
        };
        match expected {
            "" => assert!(found.is_empty(), "{output} {pointer}: {found:?}"),
            _ => assert!(found.len() == 1 && found[0].contains(expected), "{output} {pointer}: {found:?}"),
        }
    }
}

#[tokio::test]
async fn an_outcome_is_read_from_its_record_and_gives_its_parts() {
    let mix = |a: i64| Step::new("run:mix").arg("a", a).arg("b", 0);
    let failing = Step::new("geo:find").arg("name", "Atlantis");
    let run = async |chain: Chain| chain.run(&dispatcher(), &Context::new()).await.unwrap();
    let well = run(Chain::new().then(mix(1)).then(mix(2))).await;
    let failed = run(Chain::new().then(mix(1)).then(failing).then(mix(2))).await;
    let read = |outcome: &ChainOutcome| -> ChainOutcome {
        serde_json::from_value(serde_json::to_value(outcome).unwrap()).unwrap()
    };
    assert_eq!((well.steps().len(), failed.steps().len()), (2, 2));
    assert_eq!(read(&failed).error().unwrap().message(), "it has sunk");
    assert_eq!(read(&failed).into_result().unwrap_err().message(), "it has sunk");
    assert!(failed.result().is_none() && failed.steps()[1].value().is_null());
    let last = well.steps()[1].value();
    assert_eq!(read(&well).result().unwrap().value(), last);
    assert_eq!(read(&well).into_steps().len(), 2);
    assert_eq!(well.into_result().unwrap().unwrap().value(), last);

    let record = serde_json::to_value(&failed).unwrap();
    for step in [json!(0), json!(2)] {
        let mut record = record.clone();
        record["failed"] = step;
        let error = serde_json::from_value::<ChainOutcome>(record).unwrap_err();
        assert_eq!(error.to_string(), "the step that failed is not one of the steps with an error");
    }
}
