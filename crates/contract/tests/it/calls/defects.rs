//! Tools with one defect each.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use toolkit::call::Credentials;
use toolkit::{Catalog, Context, Dispatcher, ToolError, catalog, tool};
use toolkit_contract::calls;
use toolkit_contract::calls::Defect;

use super::{found, on};

/// Counts the characters of a text.
#[tool(read_only)]
fn panics_on_emoji(text: String, times: Option<u8>, tags: Vec<String>) -> usize {
    assert!(!text.contains(|c: char| c > '\u{ffff}'), "no such glyph");
    text.len() * usize::from(times.unwrap_or(1)) + tags.len()
}

#[test]
fn a_panic_on_an_emoji_shrinks_to_that_emoji() {
    let report = on(catalog![panics_on_emoji].unwrap()).run().unwrap();
    let [only] = report.diagnostics() else { panic!("{report:#?}") };
    assert_eq!((only.defect, only.arguments["text"].as_str().unwrap().chars().count()), (Defect::Panic, 1));
    assert!(only.arguments["text"].as_str() > Some("\u{ffff}"), "{only:?}");
    assert_eq!((&only.arguments["tags"], only.arguments.get("times")), (&json!([]), None));
    assert!(only.message.contains("no such glyph"), "{only}");
    assert!(report.n_calls() < 700, "{}", report.n_calls());
}

/// Returns the mean of numbers.
#[tool(read_only)]
fn hangs_on_no_items(items: Vec<i32>, scale: i32, label: Option<String>) -> i64 {
    while items.is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    items.iter().map(|item| i64::from(*item)).sum::<i64>() * i64::from(scale)
        + label.map_or(0, |label| label.len() as i64)
}

/// Waits for items.
#[tool(read_only)]
async fn waits_for_items(items: Vec<i32>) -> usize {
    if items.is_empty() {
        std::future::pending::<()>().await;
    }
    items.len()
}

/// Waits for items on a thread.
#[tool(read_only, blocking)]
fn blocks_without_items(items: Vec<i32>) -> usize {
    hangs_on_no_items(items, 1, None) as usize
}

#[test]
fn a_hang_on_an_empty_list_does_not_stop_the_run() {
    let catalog = catalog![hangs_on_no_items, waits_for_items, blocks_without_items, panics_on_emoji].unwrap();
    let start = Instant::now();
    let report = on(catalog).time_limit(Duration::from_millis(200)).run().unwrap();
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let hangs: Vec<_> = report.diagnostics().iter().filter(|found| found.defect == Defect::Hang).collect();
    let of = |tool: &str| hangs.iter().find(|found| found.tool == tool).map(|found| &found.arguments);
    assert_eq!(of("hangs_on_no_items"), Some(&json!({ "items": [], "scale": 0 })));
    assert_eq!(of("waits_for_items"), Some(&json!({ "items": [] })));
    assert_eq!(of("blocks_without_items"), Some(&json!({ "items": [] })));
    assert_eq!((hangs.len(), report.diagnostics().len()), (3, 4), "{report:#?}");
}

/// Waits for a while.
#[tool(read_only, timeout = "20ms")]
async fn exceeds_its_own_limit(long: bool) {
    if long {
        std::future::pending::<()>().await;
    }
}

#[test]
fn a_call_that_exceeds_the_time_limit_of_its_tool_hangs() {
    let report = on(catalog![exceeds_its_own_limit].unwrap()).run().unwrap();
    assert_eq!(found(&report), [(Defect::Hang, json!({ "long": true }))]);
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Scale {
    Celsius,
    Kelvin,
    Rankine,
}

/// Returns the degrees at which water freezes.
#[tool(read_only)]
fn wrong_in_rankine(scale: Scale, digits: Option<u8>) -> f64 {
    let degrees: f64 = match scale {
        Scale::Celsius => 0.0,
        Scale::Kelvin => 273.15,
        Scale::Rankine => f64::NAN,
    };
    degrees + f64::from(digits.unwrap_or_default())
}

#[test]
fn a_wrong_result_for_one_variant_shrinks_to_it() {
    let report = on(catalog![wrong_in_rankine].unwrap()).run().unwrap();
    assert_eq!(found(&report), [(Defect::InvalidResult, json!({ "scale": "rankine" }))]);
}

#[test]
fn a_wrong_result_is_found_although_the_dispatcher_does_not_validate_results() {
    let dispatcher = Dispatcher::builder(catalog![wrong_in_rankine].unwrap()).validate_output(false).build().unwrap();
    let report = calls(&dispatcher).run().unwrap();
    assert_eq!(found(&report), [(Defect::InvalidResult, json!({ "scale": "rankine" }))]);
}

/// Opens a door.
#[tool(read_only)]
fn leaks(
    #[schemars(extend("writeOnly" = true))] password: String,
    user: String,
    #[schemars(range(min = 0))] attempts: i32,
) -> Result<bool, ToolError> {
    match attempts {
        0..3 => Ok(user.is_empty()),
        _ => Err(ToolError::failed(format!("{user} has no password {password}"))),
    }
}

/// Asks a service.
#[tool(read_only, requires(secret = "API_KEY"))]
fn leaks_credentials(query: String, ctx: &Context) -> Result<usize, ToolError> {
    match ctx.secret("API_KEY") {
        Some(key) if query.len() > 1 => Err(ToolError::failed(format!("no answer with {}", key.expose()))),
        Some(key) if query.is_empty() => Err(ToolError::internal(format!("no query with {}", key.expose()))),
        _ => Ok(query.len()),
    }
}

#[test]
fn a_secret_in_the_text_of_an_error_is_found() {
    let report = on(catalog![leaks].unwrap()).run().unwrap();
    let leaked = json!({ "password": "aaaaaaaa", "user": "", "attempts": 3 });
    assert_eq!(found(&report), [(Defect::LeakedSecret, leaked)]);

    let credentials = |_: &_| Context::new().with_credentials(Credentials::new().with_secret("API_KEY", "k-123456789"));
    let report = on(catalog![leaks_credentials].unwrap()).context(credentials).run().unwrap();
    let mut defects: Vec<Defect> = report.diagnostics().iter().map(|found| found.defect).collect();
    defects.sort();
    assert_eq!(defects, [Defect::InternalError, Defect::LeakedSecret]);
    // The report itself is published.
    assert!(!format!("{report:?}").contains("k-123456789"), "{report:?}");
}

/// Returns the number of calls so far.
#[tool(read_only, idempotent)]
fn counts(name: String, step: Option<u32>) -> usize {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed) + name.len() + step.unwrap_or(0) as usize
}

/// Returns the number of calls so far, as the world changes.
#[tool(read_only, idempotent, open_world)]
fn counts_the_world(name: String) -> usize {
    counts(name, None)
}

#[test]
fn an_idempotent_tool_that_counts_is_found() {
    let report = on(catalog![counts, counts_the_world].unwrap()).run().unwrap();
    assert_eq!(found(&report), [(Defect::NotIdempotent, json!({ "name": "" }))]);
}

/// Fails with an unexpected error.
#[tool(read_only)]
fn masked(text: String) -> Result<i64, std::num::ParseIntError> {
    if text.len() < 4 { Ok(0) } else { text.parse() }
}

#[test]
fn a_masked_error_is_found_with_its_cause() {
    let report = on(catalog![masked].unwrap()).run().unwrap();
    assert_eq!(report.diagnostics()[0].defect, Defect::InternalError);
    assert!(report.diagnostics()[0].message.contains("invalid digit"), "{report:?}");
}

/// A number that is even, which the schema does not tell.
#[derive(Serialize, JsonSchema)]
#[schemars(transparent)]
struct Even(u8);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u8::deserialize(deserializer)? {
            even if even % 2 == 0 => Ok(Self(even)),
            odd => Err(serde::de::Error::custom(format!("{odd} is odd"))),
        }
    }
}

/// Halves a number.
#[tool(read_only)]
fn halve(number: Even, note: Option<String>) -> u8 {
    drop(note);
    number.0 / 2
}

#[test]
fn arguments_that_only_the_type_rejects_are_found() {
    let report = on(catalog![halve].unwrap()).run().unwrap();
    assert_eq!(found(&report), [(Defect::RejectsValid, json!({ "number": 1 }))]);
}

/// Doubles a number below a thousand.
#[tool(read_only)]
fn double(#[schemars(range(max = 1000))] number: i32) -> i64 {
    i64::from(number) * 2
}

#[test]
fn arguments_that_a_dispatcher_accepts_against_the_schema_are_found() {
    let lax = Dispatcher::builder(catalog![double].unwrap()).validate_input(false).build().unwrap();
    let report = calls(&lax).run().unwrap();
    let [only] = report.diagnostics() else { panic!("{report:#?}") };
    assert_eq!(only.defect, Defect::AcceptsInvalid);
    assert!(!Catalog::get(lax.catalog(), "double").unwrap().input().is_valid(&only.arguments), "{only}");
    let strict = Dispatcher::new(catalog![double].unwrap()).unwrap();
    assert_eq!(found(&calls(&strict).run().unwrap()), [] as [(Defect, Value); 0]);
}

/// Counts words, and keeps the last text in a file.
#[cfg(target_os = "linux")]
#[tool(namespace = "planted", version = "1.0.0", read_only)]
fn keeps_a_file(text: String, label: Option<String>) -> usize {
    if text.contains(' ') {
        std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/kept"), format!("{label:?} {text}")).unwrap();
    }
    text.split(' ').count()
}

/// Counts bytes, and keeps the last text in a file.
#[cfg(target_os = "linux")]
#[tool(namespace = "planted", version = "1.0.0", read_only)]
async fn keeps_a_file_later(text: String) -> usize {
    tokio::task::yield_now().await;
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/kept-text"), &text).unwrap();
    text.len()
}

/// Counts bytes, and wakes a thread that reads a file.
#[cfg(target_os = "linux")]
#[tool(namespace = "planted", version = "1.0.0", read_only)]
async fn only_reads(text: String) -> usize {
    let read = tokio::task::spawn_blocking(|| std::fs::read("/proc/self/status").unwrap().len());
    read.await.unwrap().min(1) * text.len()
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_tool_that_writes_a_file_is_found() {
    let report = on(catalog![keeps_a_file].unwrap()).run().unwrap();
    assert_eq!(found(&report), [(Defect::Writes, json!({ "text": " " }))], "{report:#?}");
    assert!(report.diagnostics()[0].message.contains("declared `read_only`"), "{report:#?}");

    let report = on(catalog![keeps_a_file_later].unwrap()).run().unwrap();
    assert_eq!(found(&report), [(Defect::Writes, json!({ "text": "a" }))], "{report:#?}");

    let report = on(catalog![only_reads].unwrap()).run().unwrap();
    assert_eq!(found(&report), []);
}
