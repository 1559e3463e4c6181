//! Chains in memory and durable ones.

use serde_json::Value;
use toolkit::{Content, Structured, tool};
use toolkit_backends::chain::ChainOutcome;
use toolkit_durable::Worker;

use super::*;

/// Adds two numbers.
#[tool(namespace = "pure", read_only)]
fn add(a: f64, b: f64) -> f64 {
    a + b
}

/// Divides two integers.
#[tool(namespace = "pure", read_only)]
fn divide(a: i64, b: i64) -> Result<i64, ToolError> {
    a.checked_div(b).ok_or_else(|| ToolError::failed("division by zero").with_content([Content::text("\u{0}")]))
}

/// Repeats a text.
#[tool(namespace = "pure", idempotent)]
async fn repeat(text: String, times: u8) -> Structured<Vec<String>> {
    let texts: Vec<String> = (0..times % 4).map(|_| text.clone()).collect();
    Structured::new(texts, [Content::text(text), Content::image(b"png", "image/png")])
}

/// Returns the length of a list, in a record.
#[tool(namespace = "pure")]
fn measure(list: Vec<String>, note: Option<String>) -> std::collections::BTreeMap<String, f64> {
    [(note.unwrap_or_else(|| "n/~1".to_owned()), list.len() as f64 / 3.0)].into()
}

/// Returns nothing.
#[tool(namespace = "pure", read_only)]
fn nothing() {}

fn n_chains() -> usize {
    std::env::var("TOOLKIT_DURABLE_CHAINS").map_or(60, |n| n.parse().unwrap())
}

/// Returns a chain whose steps often fit to each other, and sometimes fail.
fn generated(random: &mut Random) -> Chain {
    let mut chain = if random.below(2) == 0 { Chain::new() } else { Chain::parallel() };
    let mut tools: Vec<&str> = Vec::new();
    for idx in 0..1 + random.below(7) {
        let names = ["pure:add", "pure:divide", "pure:repeat", "pure:measure", "pure:nothing"];
        let name = names[random.below(names.len())];
        let mut step = Step::new(name).named(format!("s{idx}"));
        let earlier = |wanted: &str, tools: &[&str], random: &mut Random| {
            let fitting: Vec<usize> = (0..tools.len()).filter(|at| tools[*at] == wanted).collect();
            (!fitting.is_empty() && random.below(4) > 0).then(|| format!("s{}", fitting[random.below(fitting.len())]))
        };
        let taken = match name {
            "pure:add" => ("a", earlier("pure:add", &tools, random), ""),
            "pure:divide" => ("a", earlier("pure:divide", &tools, random), ""),
            "pure:repeat" => ("text", earlier("pure:repeat", &tools, random), "/1"),
            "pure:measure" => ("list", earlier("pure:repeat", &tools, random), ""),
            _ => ("", None, ""),
        };
        let constants = match name {
            "pure:add" => json!({ "a": 0.1 * random.below(1000) as f64, "b": 1e300 / (1 + random.below(9)) as f64 }),
            "pure:divide" => json!({ "a": i64::MAX - random.below(9) as i64, "b": random.below(4) }),
            "pure:repeat" => json!({ "text": "é\u{1F600}\"\\", "times": random.below(256) }),
            "pure:measure" => {
                json!({ "list": ["x", "y", "z"], "note": if random.below(2) == 0 { Value::Null } else { json!("k") } })
            }
            _ => json!({}),
        };
        let Value::Object(mut constants) = constants else { unreachable!("an object") };
        if let (argument, Some(source), pointer) = taken {
            constants.shift_remove(argument);
            step = step.take(argument, source, pointer);
        }
        chain = chain.then(step.args(constants));
        tools.push(name);
    }
    chain
}

/// Returns all of an outcome but the durations.
fn without_time(outcome: &ChainOutcome) -> Value {
    let mut json = serde_json::to_value(outcome).unwrap();
    for step in json["steps"].as_array_mut().unwrap() {
        step.as_object_mut().unwrap().shift_remove("duration").unwrap();
    }
    json
}

async fn outcomes_are_equal(place: &Place) {
    let catalog = || toolkit::catalog![add, divide, repeat, measure, nothing].unwrap();
    let connect = Connect::new(&place.url()).unwrap().application("fixture");
    let worker = tokio::spawn(Worker::new(connect, Dispatcher::new(catalog()).unwrap()).run(std::future::pending()));
    let (client, in_memory) = (client(place).await, Dispatcher::new(catalog()).unwrap());
    let mut random = Random(15);
    let (mut n_started, mut n_failed) = (0, 0);
    let mut runs = Vec::new();
    for nth in 0..n_chains() {
        let chain = generated(&mut random);
        let expected = chain.run(&in_memory, &Context::new()).await;
        let run = client.start(&chain, id(&format!("chain-{nth}"))).await.unwrap();
        runs.push((chain, expected, run));
    }
    for (chain, expected, run) in runs {
        match (expected, soon(run.wait()).await) {
            (Ok(expected), Ok(outcome)) => {
                n_started += 1;
                n_failed += usize::from(expected.error().is_some());
                // In parallel, the number of steps after a failure depends on time.
                if expected.error().is_some() && chain.is_parallel() {
                    assert!(outcome.error().is_some());
                    continue;
                }
                assert_eq!(without_time(&outcome), without_time(&expected), "{chain:?}");
                let debug = |outcome: &ChainOutcome| format!("{:?}", outcome.result());
                assert_eq!(debug(&outcome), debug(&expected));
            }
            (Err(diagnostics), Err(DurableError::Rejected(error))) => {
                assert_eq!(error.message(), diagnostics.to_string());
            }
            (expected, outcome) => panic!("{chain:?}: {expected:?} and {outcome:?}"),
        }
    }
    assert!(n_started > n_chains() / 2 && n_failed > 0, "{n_started} {n_failed}");
    worker.abort();
}

on_each_place! {
    outcomes_are_equal,
}
