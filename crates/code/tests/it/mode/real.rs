//! Real calls, made directly and by programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use test_support::{ran, shared_text};
use toolkit::dispatch::Call;
use toolkit::{Catalog, Coercion, Dispatcher, Tool, ToolError};
use toolkit_backends::Backends;
use toolkit_backends::LocalBackend;
use toolkit_code::sandbox::{CommandLine, Inline, Process, Sandbox};
use toolkit_code::{CodeMode, Limits, Program};
use tower::util::MapRequestLayer;

fn lines(path: &str) -> Vec<Value> {
    let lines = shared_text(path).unwrap_or_default();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns a value as JavaScript writes it: it has no integers, and writes `2.0` as `2`.
fn as_javascript(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 9e15 => json!(float as i64),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(as_javascript).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| (name.clone(), as_javascript(field)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        _ => value.clone(),
    }
}

/// Returns the input schema and the arguments of each real call and of each of its mutations.
fn calls() -> Vec<(Value, Vec<Value>)> {
    let mut calls = Vec::new();
    for call in lines("data/calls-bfcl.jsonl") {
        let mutations = call["invalid"].as_array().into_iter().flatten().map(|mutation| mutation["args"].clone());
        let args = std::iter::once(call["args"].clone()).chain(mutations).collect();
        calls.push((call["tool"]["inputSchema"].clone(), args));
    }
    for path in ["data/calls-live.jsonl", "data/calls-arcade.jsonl"] {
        for call in lines(path) {
            calls.push((call["inputSchema"].clone(), vec![call["args"].clone()]));
        }
    }
    calls
}

/// Returns a dispatcher whose tools return their arguments and whose layer counts the calls, and the calls of each tool.
async fn tools(coercion: Coercion, seen: &Arc<AtomicUsize>) -> (Dispatcher, Vec<(String, Vec<Value>)>) {
    let echo = LocalBackend::new("real");
    let mut calls_of = Vec::new();
    for (idx, (schema, args)) in calls().into_iter().enumerate() {
        // Some schemas of real tools are invalid.
        let Ok(tool) = Tool::builder(format!("tool_{idx}")).input(schema).build() else { continue };
        echo.add(tool, async |args: Value, _| Ok::<_, ToolError>(args));
        calls_of.push((format!("real:tool_{idx}"), args));
    }
    let backends = Backends::new();
    backends.register(echo).unwrap();
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    let seen = Arc::clone(seen);
    let counting = MapRequestLayer::new(move |call: Call| {
        seen.fetch_add(1, Ordering::SeqCst);
        call
    });
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).coercion(coercion);
    (dispatcher.layer(counting).build().unwrap(), calls_of)
}

/// A tenth of the tools, or all of them where random tests run all of their cases. What is special about a schema or about
/// arguments is the subject of the test that always has all tools.
fn some() -> usize {
    if std::env::var_os("TOOLKIT_RANDOM").is_some_and(|value| value == "all") { 1 } else { 10 }
}

/// Makes all calls of one tool by one program, each of which returns what a direct call returns; of one tool in `every`.
async fn same(coercion: Coercion, sandbox: impl Sandbox, every: usize) {
    let seen = Arc::default();
    let (dispatcher, calls) = tools(coercion, &seen).await;
    let code = CodeMode::new(dispatcher.clone(), sandbox).limits(Limits::default().calls(1000));
    let mut n_cases = 0;
    for (tool, args) in calls.into_iter().step_by(every) {
        let args: Vec<Value> = args.iter().map(as_javascript).collect();
        let program = format!(
            "const outcomes = []
             for (const args of {}) {{
                 try {{ outcomes.push({{ value: await call({tool:?}, args) }}) }}
                 catch (error) {{
                     outcomes.push({{ kind: error.kind, message: error.message, violations: error.violations }})
                 }}
             }}
             return outcomes",
            Value::from(args.clone()),
        );
        let execution = code.run(Program::javascript(program)).await.unwrap();
        let coded = execution.value();
        for (nth, args) in args.iter().enumerate() {
            let direct = dispatcher.call(&tool, args.clone()).await;
            let changes = direct.as_ref().map(|result| result.changes().to_vec()).unwrap_or_default();
            let direct = match direct {
                Ok(result) => json!({ "value": as_javascript(&result.value()) }),
                Err(error) => json!({
                    "kind": error.kind().name(),
                    "message": error.to_string(),
                    "violations": error.violations(),
                }),
            };
            assert_eq!(coded[nth], direct, "{tool} {args}");
            let record = &execution.calls[nth];
            assert_eq!(serde_json::from_str::<Value>(record.args.get()).unwrap(), *args);
            assert_eq!((&*record.tool, record.changes.len()), (&*tool, changes.len()));
            n_cases += 1;
        }
    }
    assert_eq!(seen.load(Ordering::SeqCst), 2 * n_cases, "each call passes the layers once");
    ran(n_cases);
}

#[tokio::test]
async fn real_calls_and_their_mutations_have_the_same_outcome_as_direct_calls() {
    same(Coercion::default(), Inline::javascript(), 1).await;
}

#[tokio::test]
async fn lenient_calls_have_the_same_outcome_as_direct_calls() {
    same(Coercion::Lenient, Inline::javascript(), some()).await;
}

#[tokio::test]
async fn calls_from_a_worker_have_the_same_outcome_as_direct_calls() {
    let command = CommandLine::new(test_support::program("fixture_worker")).args(["javascript"]);
    same(Coercion::default(), Process::command("javascript", command).ready(2), some()).await;
}
