//! Every number reaches its function exactly or is rejected, in every spelling and on both paths: from text in one
//! pass, and through a tree.

use std::sync::LazyLock;

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::call::{Coercion, ErrorKind};
use toolkit::schema::Schema;
use toolkit::{Catalog, Dispatcher, RunResult, ToolError, catalog, tool};

macro_rules! integers {
    ($($ty:ident $name:literal)*) => {
        $(mod $ty {
            /// Prints a number. The other argument is there to be `null`, for which there has to be a tree.
            #[toolkit::tool(namespace = "numbers", name = $name)]
            pub(super) fn print(n: $ty, #[serde(default)] other: u8) -> String {
                let _ = other;
                n.to_string()
            }
        })*

        fn integers() -> Catalog {
            catalog![$($ty::print),*].unwrap()
        }

        /// Each integer type, with the test of its range.
        const INTEGERS: &[(&str, fn(&str) -> bool)] = &[$(($name, |text| text.parse::<$ty>().is_ok())),*];
    };
}

integers! {
    i8 "i8" i16 "i16" i32 "i32" i64 "i64" i128 "i128" isize "isize"
    u8 "u8" u16 "u16" u32 "u32" u64 "u64" u128 "u128" usize "usize"
}

static ALL: LazyLock<Dispatcher> = LazyLock::new(|| Dispatcher::new(integers()).unwrap());
static FLOATS: LazyLock<Dispatcher> =
    LazyLock::new(|| Dispatcher::new(catalog![double, single, any].unwrap()).unwrap());

/// An integer in its usual spelling, and in another one.
fn spelled() -> impl Strategy<Value = (String, String)> {
    let digits = prop_oneof![
        "[0-9]",
        "[1-9][0-9]{0,5}",
        "[1-9][0-9]{15,20}",
        "[1-9][0-9]{30,40}",
        "[1-9]0{1,40}",
        Just(u64::MAX.to_string()),
        Just((u128::from(u64::MAX) + 1).to_string()),
        Just(i64::MAX.to_string()),
        Just((u64::MAX / 2 + 1).to_string()),
        Just((u64::MAX / 2 + 2).to_string()),
        Just(u128::MAX.to_string()),
        Just(i128::MAX.to_string()),
        Just((u128::MAX / 2 + 1).to_string()),
        Just("340282366920938463463374607431768211456".to_owned()),
        Just("9007199254740993".to_owned()),
        Just("9007199254740991".to_owned()),
        (0_u32..128).prop_flat_map(|bits| {
            (-1_i128..=1).prop_map(move |more| (1_u128 << bits).wrapping_add_signed(more).to_string())
        }),
    ];
    let sign = prop_oneof![Just(""), Just("-")];
    (digits, sign, 0_usize..6, 0_usize..30).prop_map(|(digits, sign, way, n)| {
        let other = match way {
            0 => digits.clone(),
            1 => format!("{digits}.{}", "0".repeat(n + 1)),
            2 => format!("{digits}e0"),
            3 => format!("{digits}.0E+00"),
            // The point is moved to the left, and the exponent compensates.
            4 if digits != "0" => {
                let (head, tail) = digits.split_at(1 + n.min(digits.len() - 1));
                format!("{head}.{}e{}", if tail.is_empty() { "0" } else { tail }, tail.len())
            }
            5 => format!(
                "{digits}{}e-{}",
                if digits == "0" { "" } else { &"000000"[..n % 7] },
                if digits == "0" { 0 } else { n % 7 }
            ),
            _ => digits.clone(),
        };
        let canonical = if digits == "0" { digits } else { format!("{sign}{digits}") };
        (canonical, format!("{sign}{other}"))
    })
}

/// The outcome of a call as one text.
fn outcome(result: Result<RunResult, ToolError>) -> Result<(Value, Vec<String>), ToolError> {
    let result = result?;
    let changes = result.changes().iter().map(ToString::to_string);
    Ok((result.value(), changes.filter(|change| !change.contains("null")).collect()))
}

pub(super) fn without_plan(
    dispatcher: &Dispatcher,
    tool: &str,
    spelled: &str,
) -> Result<(Value, Vec<String>), ToolError> {
    outcome(dispatcher.call_sync(tool, format!(r#"{{"n":{spelled},"other":null}}"#)))
}

pub(super) fn with_plan(dispatcher: &Dispatcher, tool: &str, spelled: &str) -> Result<(Value, Vec<String>), ToolError> {
    outcome(dispatcher.call_sync(tool, format!(r#"{{"n":{spelled}}}"#)))
}

fn check(dispatcher: &Dispatcher, tool: &str, holds: bool, canonical: &str, spelled: &str) {
    let read = with_plan(dispatcher, tool, spelled);
    let tree = without_plan(dispatcher, tool, spelled);
    match (read, tree) {
        (Ok(read), Ok(tree)) => {
            assert!(holds, "{tool} takes {spelled}");
            assert_eq!(read.0, json!(canonical), "{tool} {spelled}");
            let is_respelled = spelled.contains(['.', 'e', 'E']) || spelled == "-0";
            if !is_respelled {
                assert!(read.1.is_empty(), "{tool} {spelled}: {:?}", read.1);
            }
            assert_eq!(read, tree, "{tool} {spelled}");
        }
        (Err(read), Err(tree)) => {
            assert!(!holds, "{tool} refuses {spelled}: {read}");
            assert_eq!(read.kind(), ErrorKind::InvalidArguments);
            assert_eq!(read.violations()[0].pointer, "/n");
            assert_eq!(read.message(), tree.message());
        }
        (read, tree) => panic!("{tool} {spelled}: {read:?} in one pass, {tree:?} by a tree"),
    }
}

proptest! {
    #![proptest_config(test_support::random(200))]

    #[test]
    fn an_integer_is_exact_or_rejected_in_every_spelling((canonical, spelled) in spelled()) {
        for (tool, holds) in INTEGERS {
            check(&ALL, tool, holds(&canonical), &canonical, &spelled);
        }
    }

    #[test]
    fn a_fraction_is_never_an_integer(
        (_, integer) in spelled().prop_filter("plain", |(canonical, spelled)| canonical == spelled),
        zeros in 0_usize..40,
    ) {
        for fraction in [format!("{integer}.{}1", "0".repeat(zeros)), format!("{integer}.5"), format!("1e-{}", zeros + 1)] {
            for (tool, _) in INTEGERS {
                check(&ALL, tool, false, "", &fraction);
            }
        }
    }

    #[test]
    fn a_float_is_what_serde_makes_of_it((_, spelled) in spelled(), fraction in "[0-9]{1,25}", exponent in -320_i32..300) {
        let dispatcher = &*FLOATS;
        let mantissa = spelled.split(['.', 'e', 'E']).next().unwrap();
        for text in [spelled.clone(), format!("{mantissa}.{fraction}"), format!("{mantissa}.{fraction}e{exponent}")] {
            let Ok(expected) = serde_json::from_str::<f64>(&text) else {
                continue;
            };
            let bits = json!(expected.to_bits().to_string());
            prop_assert_eq!(with_plan(dispatcher, "double", &text).unwrap(), (bits, vec![]), "{}", text);
            for tool in ["double", "single", "any"] {
                if tool == "single" && expected.abs() > f64::from(f32::MAX) {
                    prop_assert!(with_plan(dispatcher, tool, &text).is_err(), "{}", text);
                    prop_assert!(without_plan(dispatcher, tool, &text).is_err(), "{}", text);
                    continue;
                }
                let read = with_plan(dispatcher, tool, &text).unwrap();
                prop_assert_eq!(without_plan(dispatcher, tool, &text).unwrap(), read, "{} {}", tool, text);
            }
        }
    }
}

/// The bits of a number.
#[tool(namespace = "numbers")]
fn double(n: f64, #[serde(default)] other: u8) -> String {
    let _ = other;
    n.to_bits().to_string()
}

/// The bits of a short number.
#[tool(namespace = "numbers")]
fn single(n: f32, #[serde(default)] other: u8) -> String {
    let _ = other;
    n.to_bits().to_string()
}

/// Anything, as it prints.
#[tool(namespace = "numbers")]
fn any(n: Value, #[serde(default)] other: u8) -> String {
    let _ = other;
    n.to_string()
}

#[derive(Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(untagged)]
enum Either {
    Integer(i64),
    Float(f64),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Pair {
    x: Either,
    #[serde(default)]
    many: Vec<Either>,
}

/// Prints what came.
#[tool(namespace = "numbers")]
fn either(n: i64, v: Pair) -> String {
    format!("{n} {:?} {:?}", v.x, v.many)
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Inner {
    depth: u32,
    either: Option<Either>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Shape {
    Square { side: i32, ratio: f64 },
    Many { sides: Vec<i32>, ratio: Either },
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Buffered {
    #[serde(flatten)]
    inner: Inner,
    shape: Shape,
}

/// Prints what came.
#[tool(namespace = "numbers")]
fn buffered(arguments: Buffered) -> String {
    format!("{arguments:?}")
}

fn called(tool: &str, text: &str) -> (String, Vec<String>) {
    let catalog = catalog![either, buffered].unwrap();
    let dispatcher = Dispatcher::new(catalog).unwrap();
    let from_text = outcome(dispatcher.call_sync(tool, text)).unwrap();
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(outcome(dispatcher.call_sync(tool, &value)).unwrap(), from_text, "{text}");
    (from_text.0.as_str().unwrap().to_owned(), from_text.1)
}

fn changed(pointers: &[&str]) -> Vec<String> {
    pointers.iter().map(|pointer| format!("{pointer}: a whole number read as an integer")).collect()
}

#[test]
fn only_the_argument_that_must_be_an_integer_becomes_one_and_that_is_reported() {
    let (printed, changes) = called("either", r#"{"n":1.0,"v":{"x":2.0,"many":[1,1.0,1.50,1e2]}}"#);
    assert_eq!(printed, "1 Float(2.0) [Integer(1), Float(1.0), Float(1.5), Float(100.0)]");
    assert_eq!(changes, changed(&["/n"]));
    let (printed, changes) = called("either", r#"{"n":1,"v":{"x":2.0}}"#);
    assert_eq!((&*printed, changes), ("1 Float(2.0) []", vec![]));
    let (printed, changes) = called("either", r#"{"n":100e-2,"v":{"x":9007199254740993}}"#);
    assert_eq!((&*printed, changes), ("1 Integer(9007199254740993) []", changed(&["/n"])));
}

#[test]
fn so_it_is_where_a_type_looks_at_a_value_before_it_asks_for_an_integer() {
    let (printed, changes) =
        called("buffered", r#"{"depth":3.0,"either":4.0,"shape":{"kind":"Square","side":5.0,"ratio":6.0}}"#);
    assert_eq!(
        printed,
        "Buffered { inner: Inner { depth: 3, either: Some(Float(4.0)) }, shape: Square { side: 5, ratio: 6.0 } }"
    );
    let mut changes = changes;
    changes.sort_unstable();
    assert_eq!(changes, changed(&["/depth", "/shape/side"]));
    let (printed, mut changes) =
        called("buffered", r#"{"depth":3,"shape":{"kind":"Many","sides":[1,2.0,3,4.0],"ratio":2.0}}"#);
    assert!(printed.ends_with("shape: Many { sides: [1, 2, 3, 4], ratio: Float(2.0) } }"), "{printed}");
    changes.sort_unstable();
    assert_eq!(changes, changed(&["/shape/sides/1", "/shape/sides/3"]));
    let dispatcher = Dispatcher::new(catalog![buffered].unwrap()).unwrap();
    let refused =
        dispatcher.call_sync("buffered", r#"{"depth":3.0,"shape":{"kind":"Square","side":5e20,"ratio":6.0}}"#);
    let error = refused.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert!(error.violations()[0].pointer.starts_with("/shape"), "{error}");
}

/// Takes a long name for a number.
#[tool(namespace = "numbers")]
fn named(id: String, #[serde(default)] wide: u128) -> String {
    format!("{id} {wide}")
}

#[test]
fn coerced_numbers_keep_every_digit() {
    let dispatcher = Dispatcher::builder(catalog![named].unwrap()).coercion(Coercion::Lenient).build().unwrap();
    let call = |text: &str| outcome(dispatcher.call_sync("named", text)).map(|(value, _)| value);
    let id = "123456789012345678901234567890";
    assert_eq!(call(&format!(r#"{{"id":{id}}}"#)).unwrap(), json!(format!("{id} 0")));
    assert_eq!(call(&format!(r#"{{"id":1,"wide":"{id}"}}"#)).unwrap(), json!(format!("1 {id}")));
    assert_eq!(call(&format!(r#"{{"id":1,"wide":{id}.0}}"#)).unwrap(), json!(format!("1 {id}")));
    assert!(call(&format!(r#"{{"id":1,"wide":"{id}.5"}}"#)).is_err());
}

#[test]
fn a_schema_and_a_value_mean_the_same_numbers_however_they_are_spelled() {
    let schema = r#"{"multipleOf":5e-1,"maximum":1.000e2,"not":{"enum":[1.50,2e0,-0.0]},"default":1.50}"#;
    let schema = Schema::from_value(serde_json::from_str(schema).unwrap()).unwrap();
    assert_eq!(schema.as_value()["default"], json!(1.5));
    let holds = ["1", "1.0", "1.000", "1e0", "25e-1", "100", "100.00", "1e2", "0.5e1"];
    let fails = ["1.5", "15e-1", "1.50", "2", "2.0", "2.00", "0", "0.00", "0e5", "100.5", "1.01e2", "0.25", "25e-2"];
    for (numbers, expected) in [(&holds[..], true), (&fails[..], false)] {
        for number in numbers {
            let value: Value = serde_json::from_str(number).unwrap();
            assert_eq!(schema.is_valid(&value), expected, "{number}");
            assert_eq!(schema.validate(&value).is_ok(), expected, "{number}");
        }
    }
}

/// Takes what floats hold exactly.
#[tool(namespace = "numbers")]
fn bounded(#[schemars(range(max = 9007199254740992_i64))] n: i64, #[serde(default)] other: u8) -> i64 {
    n + i64::from(other)
}

#[test]
fn an_integer_is_checked_as_it_reaches_the_function_and_not_as_a_float_rounds_it() {
    let dispatcher = Dispatcher::new(catalog![bounded].unwrap()).unwrap();
    for (n, holds) in [
        ("9007199254740992", true),
        ("9007199254740992.0", true),
        ("9007199254740993", false),
        ("9007199254740993.0", false),
        ("9.007199254740993e15", false),
        ("90071992547409930e-1", false),
    ] {
        for result in [with_plan(&dispatcher, "bounded", n), without_plan(&dispatcher, "bounded", n)] {
            match result {
                Ok((value, _)) => assert!(holds && value == json!(9_007_199_254_740_992_i64), "{n}: {value}"),
                Err(error) => assert!(!holds && error.violations()[0].keyword == "maximum", "{n}: {error}"),
            }
        }
    }
}

/// Returns what it reads.
#[tool(namespace = "numbers")]
fn reread(text: String) -> Value {
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_returned_number_is_the_same_value_however_serde_json_keeps_numbers() {
    let dispatcher = Dispatcher::new(catalog![reread].unwrap()).unwrap();
    for (text, expected) in [("1.50", json!(1.5)), ("[1e2, -0.0]", json!([100.0, -0.0])), ("7", json!(7))] {
        let result = dispatcher.call_sync("reread", json!({ "text": text })).unwrap();
        assert_eq!(result.value(), expected);
        let written: Value = serde_json::from_slice(result.json().unwrap()).unwrap();
        assert_eq!(written.as_f64(), expected.as_f64());
    }
}

#[test]
fn a_refusal_names_the_number_as_it_was_sent() {
    let dispatcher = Dispatcher::new(integers()).unwrap();
    let message = |tool: &str, n: &str| with_plan(&dispatcher, tool, n).unwrap_err().message().to_owned();
    for (tool, n) in
        [("i64", "9007199254740992.5"), ("i64", "18446744073709551617"), ("i128", "1.00000000000000000000001")]
    {
        assert!(message(tool, n).contains(&format!("{n} does not fit the integer type")), "{}", message(tool, n));
    }
}

/// Counts numbers.
#[tool(namespace = "numbers")]
fn count(lists: std::collections::BTreeMap<String, Vec<f64>>) -> usize {
    lists.values().map(Vec::len).sum()
}

#[test]
fn large_numbers_below_long_keys_take_bounded_memory() {
    let dispatcher = Dispatcher::new(catalog![count].unwrap()).unwrap();
    let called = |key: usize, number: &str| {
        let text = format!(r#"{{"lists":{{"{}":[{}null]}}}}"#, "k".repeat(key), format!("{number},").repeat(50_000));
        dispatcher.call_sync("numbers:count", text.into_bytes()).unwrap_err()
    };
    // The paths of the numbers would take 5 GB.
    let error = called(100_000, "18446744073709551617");
    assert_eq!(error.message(), "there are too many numbers of more than 64 bits below long keys");
    for (key, number) in [(100, "18446744073709551617"), (100_000, "1.5")] {
        assert_eq!(called(key, number).kind(), ErrorKind::InvalidArguments, "{number} below {key}");
    }
}
