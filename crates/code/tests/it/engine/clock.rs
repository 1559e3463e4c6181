//! Time and chance as programs see them.

use serde_json::{Value, json};
use test_support::programs::{program, run_to_end};
use toolkit_code::engine::Engine;

use crate::engine::{engine, run};

#[test]
fn time_passes_only_with_answers() {
    let ended = run("\
const start = Date.now();
for (let i = 0; i < 100_000; i++);
const same = Date.now() === start && new Date().getTime() === start;
await sleep(1000);
return [start, same, Date.now() - start];");
    assert_eq!(ended.value(), json!([1_700_000_000_000_u64, true, 5]));
}

#[test]
fn dates_are_in_utc() {
    let ended = run("\
const date = new Date(2020, 1, 29, 12, 30);
return [date.toISOString(), date.getDate(), date.getHours(), date.getTimezoneOffset(), Date.UTC(2020, 0),
  Date.parse('2020-01-01T00:00:00'), Date.parse('2020-01-01'), Date.parse('2020-01-01T00:00:00+01:00'),
  new Date('2020-01-01T00:00').getTime(), new Date(2020, 0).setHours(5), typeof Date(), new Date(5).getTime(),
  new Date(new Date(7)).getTime(), `${new Date(0)}`];");
    let first = 1_577_836_800_000_u64;
    let value = json!([
        "2020-02-29T12:30:00.000Z",
        29,
        12,
        0,
        first,
        first,
        first,
        first - 3_600_000,
        first,
        first + 5 * 3_600_000,
        "string",
        5,
        7,
        "Thu Jan 01 1970 00:00:00 GMT+0000"
    ]);
    assert_eq!(ended.value(), value);
}

#[test]
fn the_texts_of_dates_are_in_utc() {
    let ended = run("\
const date = new Date(Date.UTC(2020, 1, 29, 23, 5, 9));
return [`${date}`, date.toDateString(), date.toTimeString(), date.toLocaleString(), date.toLocaleDateString(),
  date.toLocaleTimeString(), date.toUTCString(), `${new Date(NaN)}`, `${new Date(-1)}`,
  new Date(Date.UTC(2020, 0, 1, 0, 30)).toLocaleTimeString('en-US')];");
    let texts = json!([
        "Sat Feb 29 2020 23:05:09 GMT+0000",
        "Sat Feb 29 2020",
        "23:05:09 GMT+0000",
        "02/29/2020, 11:05:09 PM",
        "02/29/2020",
        "11:05:09 PM",
        "Sat, 29 Feb 2020 23:05:09 GMT",
        "Invalid Date",
        "Wed Dec 31 1969 23:59:59 GMT+0000",
        "12:30:00 AM",
    ]);
    assert_eq!(ended.value(), texts);
}

#[test]
fn the_seed_selects_the_random_numbers() {
    let numbers = |seed: u64| -> Vec<f64> {
        let mut program = program("return Array.from({ length: 1000 }, Math.random)");
        program.seed = seed;
        serde_json::from_value(run_to_end(&mut engine() as &mut dyn Engine, &program).value()).unwrap()
    };
    assert_eq!(numbers(1), numbers(1));
    assert_ne!(numbers(1), numbers(2));
    assert!(numbers(3).iter().all(|number| (0.0..1.0).contains(number)));
    let mean = numbers(4).iter().sum::<f64>() / 1000.0;
    assert!((0.45..0.55).contains(&mean), "{mean}");
}

#[test]
fn nothing_observes_the_collector_other_threads_or_the_time() {
    let names = ["WeakRef", "FinalizationRegistry", "Atomics", "SharedArrayBuffer", "performance", "eval"];
    let ended = run(&format!("return {}.map((name) => typeof globalThis[name])", json!(names)));
    assert_eq!(ended.value(), Value::from(vec!["undefined"; names.len()]));
}
