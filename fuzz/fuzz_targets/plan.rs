//! Random schemas with random instances, and random arguments of typed tools: checking while reading has the same
//! result as checking a tree.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use serde_json::Value;
use toolkit::__private::plan::Plan;
use toolkit::Dispatcher;
use toolkit::call::{Arguments, Coercion};
use toolkit::schema::Schema;

static TOOLS: LazyLock<Dispatcher> = LazyLock::new(|| {
    Dispatcher::builder(toolkit_fuzz::tools()).coercion(Coercion::Off).build().expect("the tools borrow nothing")
});

// A schema and an instance, each on its own line; or the number of a tool, and its arguments.
fuzz_target!(|bytes: &[u8]| {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        return;
    };
    let (first, json) = (&bytes[..end], &bytes[end + 1..]);
    match std::str::from_utf8(first).ok().and_then(|number| number.parse().ok()) {
        Some(number) => call(number, json),
        None => check(first, json),
    }
});

fn check(schema: &[u8], json: &[u8]) {
    let Ok(schema) = serde_json::from_slice::<Value>(schema) else {
        return;
    };
    let plan = Plan::compile(&schema);
    assert_eq!(plan.is_none(), Plan::obstacle(&schema).is_some(), "{schema}");
    let (Some(plan), Ok(checked)) = (plan, Schema::from_value(schema.clone())) else {
        return;
    };
    // A tree without duplicate keys.
    let tree = Arguments::from(json).to_value().ok();
    let decoded = plan.decode::<Value>(json).ok();
    assert_eq!(plan.decode::<IgnoredAny>(json).is_ok(), decoded.is_some(), "what is ignored is checked: {schema}");
    if let Some(decoded) = &decoded {
        assert_eq!(tree.as_ref(), Some(decoded), "reads something else");
        assert!(checked.is_valid(decoded), "{schema} accepts {decoded}");
    }
    let Some(tree) = tree else {
        return;
    };
    let mut written = Vec::new();
    if plan.encode(&tree, &mut written).is_ok() {
        assert_eq!(written, serde_json::to_vec(&tree).expect("a tree is JSON"), "writes something else");
        assert!(checked.is_valid(&tree), "{schema} writes {tree}");
    }
    // The plan rejects no valid instance in canonical notation.
    if is_plain(&tree) && !is_particular(&schema) && checked.is_valid(&tree) {
        let text = tree.to_string();
        assert!(plan.decode::<Value>(text.as_bytes()).is_ok(), "{schema} refuses {tree}");
        assert!(plan.encode(&tree, &mut Vec::new()).is_ok(), "{schema} does not write {tree}");
    }
}

fn call(number: usize, json: &[u8]) {
    let tools = TOOLS.catalog();
    let tool = tools.iter().nth(number % tools.len()).expect("there are tools").id().to_string();
    let Ok(tree) = Arguments::from(json).to_value() else {
        assert!(TOOLS.call_sync(&tool, json).is_err(), "{tool} takes what is no JSON");
        return;
    };
    // The text of a number that is not a plain integer may be more precise than the float in a tree.
    if !is_plain(&tree) {
        return;
    }
    match (TOOLS.call_sync(&tool, json), TOOLS.call_sync(&tool, Arguments::from(&tree))) {
        (Ok(of_text), Ok(of_tree)) => assert_eq!(of_text.json(), of_tree.json(), "{tool} reads something else"),
        (Err(of_text), Err(of_tree)) => assert_eq!(of_text.to_string(), of_tree.to_string()),
        (of_text, of_tree) => panic!("{tool}: text {of_text:?}, tree {of_tree:?}"),
    }
}

/// Returns true if all numbers are 64-bit integers in integer notation, and no key is one of `serde_json`'s private
/// keys.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_f64(),
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(object) => object.iter().all(|(key, value)| !key.starts_with("$serde_json") && is_plain(value)),
        _ => true,
    }
}

/// Returns true if a schema contains a feature that a plan may leave to the tree: a tag that has to come first, or
/// items or keys that have to be unique.
fn is_particular(schema: &Value) -> bool {
    let text = schema.to_string();
    ["anyOf", "oneOf", "uniqueItems", "minProperties"].iter().any(|keyword| text.contains(keyword))
}
