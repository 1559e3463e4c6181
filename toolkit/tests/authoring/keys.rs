//! Maps whose keys JSON cannot have.

use std::collections::{BTreeMap, HashMap};

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::call::ErrorKind;
use toolkit::catalog::DiagnosticKind;
use toolkit::{Catalog, Dispatcher, catalog, tool};
use uuid::Uuid;

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
struct Cell {
    row: i32,
    column: i32,
}

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
struct Wrapped<T>(T);

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
enum Content {
    Text(String),
    Pair(u8, u8),
}

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
enum Mode {
    Fast,
    Slow,
    Other(String),
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Board {
    rows: Vec<Row>,
    next: Option<Box<Board>>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Row {
    index: (u8, HashMap<Cell, String>),
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
enum Step {
    Stop,
    Move { to: BTreeMap<Vec<u8>, u8> },
}

macro_rules! takes {
    ($($name:ident($($argument:ident: $ty:ty),*);)*) => {$(
        /// Takes a map.
        #[tool(namespace = "keys")]
        #[allow(unused_variables)]
        fn $name($(#[arg] $argument: $ty),*) {}
    )*};
}

takes! {
    pairs(n: u8, grid: HashMap<(i32, i32), String>);
    structs(grid: BTreeMap<Cell, u8>);
    options(grid: Option<BTreeMap<Option<(u8, u8)>, u8>>);
    newtypes(grid: BTreeMap<Wrapped<[u8; 2]>, u8>);
    units(grid: BTreeMap<(), u8>);
    contents(grid: BTreeMap<Content, u8>);
    nested(board: Board);
    lists(lists: Vec<Vec<HashMap<(u8,), u8>>>);
    values(values: HashMap<String, HashMap<(u8,), u8>>);
    steps(step: Step);

    texts(map: HashMap<String, u8>);
    numbers(map: BTreeMap<i64, u8>, wide: BTreeMap<u128, u8>);
    flags(map: BTreeMap<bool, u8>);
    letters(map: BTreeMap<char, u8>);
    ids(map: BTreeMap<Uuid, NaiveDate>, days: BTreeMap<NaiveDate, Uuid>);
    modes(map: BTreeMap<Mode, u8>);
    wrapped(map: BTreeMap<Wrapped<Wrapped<i32>>, u8>);
    values_of_pairs(map: BTreeMap<String, (i32, i32)>);
    anything(map: serde_json::Value);
}

#[test]
fn a_map_whose_keys_json_cannot_have_is_found_with_its_place() {
    let catalog = catalog![pairs, structs, options, newtypes, units, contents, nested, lists, values, steps].unwrap();
    let problems = catalog.check(Default::default()).unwrap_err();
    let found: Vec<(String, String)> = problems
        .iter()
        .map(|problem| {
            assert_eq!(problem.kind(), DiagnosticKind::ImpossibleKey, "{problem}");
            let (tool, location) = problem.tools().next().unwrap();
            assert!(location.is_some());
            let place = problem.message().split('`').nth(1).unwrap();
            (tool.trim_start_matches("keys:").to_owned(), place.to_owned())
        })
        .collect();
    let expected = [
        ("contents", "/grid"),
        ("lists", "/lists/0/0"),
        ("nested", "/board/rows/0/index/1"),
        ("newtypes", "/grid"),
        ("options", "/grid"),
        ("pairs", "/grid"),
        ("steps", "/step/Move/to"),
        ("structs", "/grid"),
        ("units", "/grid"),
        ("values", "/values/a"),
    ];
    let expected: Vec<_> = expected.map(|(tool, place)| (tool.to_owned(), place.to_owned())).into();
    assert_eq!(found, expected);
    let text = problems.to_string();
    assert!(text.contains("use a list of pairs, such as `Vec<(K, V)>`"), "{text}");
}

#[test]
fn a_map_whose_keys_are_read_from_strings_is_sound() {
    let catalog: Catalog =
        catalog![texts, numbers, flags, letters, ids, modes, wrapped, values_of_pairs, anything].unwrap();
    catalog.check(Default::default()).unwrap();
}

#[derive(Serialize, JsonSchema)]
struct Report {
    boards: Vec<Drawn>,
    by_name: HashMap<String, Drawn>,
}

#[derive(Serialize, JsonSchema)]
struct Drawn {
    title: String,
    cells: BTreeMap<Cell, u8>,
}

/// Returns maps whose keys are not strings.
#[tool(namespace = "keys")]
fn report(boards: usize, name: String) -> Report {
    let drawn = |column: i32| Drawn {
        title: "a \"{[,:\\\"".to_owned(),
        cells: (0..column).map(|column| (Cell { row: 1, column }, 1)).collect(),
    };
    let boards = (0..boards).map(|n| drawn(i32::from(n == 2))).collect();
    Report { boards, by_name: HashMap::from([(name, drawn(1))]) }
}

/// Returns a map whose keys are not strings.
#[tool(namespace = "keys")]
fn grid() -> HashMap<(i32, i32), u8> {
    HashMap::from([((0, 1), 1)])
}

#[test]
fn the_error_of_a_result_with_such_a_map_names_its_place_and_the_remedy() {
    let dispatcher = Dispatcher::new(catalog![report, grid].unwrap()).unwrap();
    let message = |name: &str, arguments: &str| {
        let error = dispatcher.call_sync(name, arguments).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOutput, "{error}");
        error.to_string().trim_start_matches(&format!("keys:{name}: ")).to_owned()
    };
    let advice = "is a map whose keys are not strings in JSON; return a list of pairs, or use keys that serde writes as \
                  strings";
    assert_eq!(message("grid", "{}"), format!("the result {advice}"));
    assert_eq!(message("report", r#"{"boards": 3, "name": "a"}"#), format!("the result at /boards/2/cells {advice}"));
    let of_value = message("report", r#"{"boards": 0, "name": "secret"}"#);
    assert!(!of_value.contains("secret") && of_value.contains("/by_name/"), "{of_value}");
}
