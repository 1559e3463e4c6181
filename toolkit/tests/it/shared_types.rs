//! Types that several tools have in common.

use std::borrow::Cow;
use std::cell::Cell;
use std::ptr;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use toolkit::internals::{ListEntry, tool_lister};
use toolkit::mcp::{Revision, list_tool};
use toolkit::{Dispatcher, Tool, catalog, tool};

thread_local! {
    static N_BUILT: Cell<usize> = const { Cell::new(0) };
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Terms {
    a: i64,
    b: i64,
}

/// Arguments whose schema counts how often it is built.
#[derive(Deserialize, Serialize)]
#[serde(transparent)]
struct Counted(Terms);

impl JsonSchema for Counted {
    fn schema_name() -> Cow<'static, str> {
        "Counted".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        N_BUILT.set(N_BUILT.get() + 1);
        Terms::json_schema(generator)
    }
}

/// One argument, which only its schema tells from an argument struct.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct FileName(String);

/// Adds.
#[tool(namespace = "shared")]
fn plus(counted: Counted) -> i64 {
    counted.0.a + counted.0.b
}

/// Subtracts.
#[tool(namespace = "shared")]
fn minus(counted: Counted) -> i64 {
    counted.0.a - counted.0.b
}

/// Exchanges the terms.
#[tool(namespace = "shared")]
fn swapped(counted: Counted) -> Counted {
    Counted(Terms { a: counted.0.b, b: counted.0.a })
}

/// Reads a file.
#[tool(namespace = "shared")]
fn read(path: FileName) -> String {
    path.0
}

/// Removes a file.
#[tool(namespace = "shared")]
fn remove(file: FileName) -> String {
    file.0
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog![plus, minus, swapped, read, remove].unwrap()).unwrap()
}

#[test]
fn a_dispatcher_builds_the_schemas_of_a_type_once() {
    let dispatcher = dispatcher();
    if cfg!(feature = "jsonschema") {
        return;
    }
    assert_eq!(N_BUILT.get(), 2, "that of the arguments, and that of the result, which is open");
    let of = |name: &str| dispatcher.catalog().resolve(name).unwrap();
    assert!(ptr::eq(of("shared:plus").input(), of("shared:minus").input()));
    assert!(ptr::eq(of("shared:read").output().unwrap(), of("shared:remove").output().unwrap()));
    for (name, expected) in [("shared:plus", 5), ("shared:minus", 1)] {
        assert_eq!(dispatcher.call_sync(name, r#"{"a": 3, "b": 2}"#).unwrap().value(), expected);
    }
    assert_eq!(N_BUILT.get(), 2, "a call builds none");
    let closed = dispatcher.call_sync("shared:swapped", r#"{"a": 3, "b": 2, "c": 1}"#).unwrap_err();
    assert!(closed.message().contains("/c"), "{closed}");
}

#[test]
fn arguments_of_one_type_keep_their_names() {
    for (name, arguments) in [("shared:read", r#"{"path": "x"}"#), ("shared:remove", r#"{"file": "x"}"#)] {
        assert_eq!(dispatcher().call_sync(name, arguments).unwrap().value(), "x");
    }
}

#[test]
fn entries_of_one_type_share_its_schemas_and_are_those_of_each_tool_alone() {
    let dispatcher = dispatcher();
    let tools: Vec<&Tool> = dispatcher.catalog().iter().collect();
    let mut list = tool_lister(&tools);
    let entries: Vec<ListEntry> = tools.iter().map(|tool| list(tool.id().name(), tool)).collect();
    let of = |name: &str| &entries[tools.iter().position(|tool| tool.id().name() == name).unwrap()];
    assert!(Arc::ptr_eq(&of("plus").input, &of("swapped").input));
    assert!(Arc::ptr_eq(of("plus").output.as_ref().unwrap(), of("minus").output.as_ref().unwrap()));
    for (tool, entry) in tools.iter().zip(&entries) {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            assert_eq!(entry.to_json(revision), list_tool(tool.id().name(), tool, revision).to_string());
        }
    }
}
