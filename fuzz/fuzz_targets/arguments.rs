//! Random bytes as the arguments of tools.
//!
//! No call panics. Accepted arguments are valid under the schema, valid arguments are accepted, and a rejection
//! contains reasons.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolkit::call::{Arguments, Coercion, ErrorKind};
use toolkit::{Dispatcher, ToolError};

static STRICT: LazyLock<Dispatcher> = LazyLock::new(|| dispatcher(Coercion::Off));
static LENIENT: LazyLock<Dispatcher> = LazyLock::new(|| dispatcher(Coercion::Lenient));

fn dispatcher(coercion: Coercion) -> Dispatcher {
    Dispatcher::builder(toolkit_fuzz::tools()).coercion(coercion).build().expect("the tools borrow nothing")
}

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, json)) = bytes.split_first() else {
        return;
    };
    let tools = STRICT.catalog();
    let tool = tools.iter().nth(usize::from(*choice) % tools.len()).expect("there are tools");
    let name = tool.id().to_string();
    let value = serde_json::from_slice::<Value>(json).ok();
    let fits = value.as_ref().is_some_and(|value| tool.input().validate(value).is_ok());

    match STRICT.call_sync(&name, json) {
        Ok(_) => assert!(fits, "{name} accepts what its schema refuses"),
        Err(error) => {
            explained(&error);
            // An invalid name of an argument, which a message quotes, may contain the same words.
            let twice = error.kind() == ErrorKind::MalformedJson && error.message().contains("duplicate key");
            assert!(
                !fits || twice || value.as_ref().is_some_and(is_wide),
                "{name} refuses what its schema accepts: {error}"
            );
            assert_eq!(error.kind() == ErrorKind::MalformedJson, value.is_none() || twice, "{name}: {error}");
        }
    }
    if let Some(value) = &value {
        match STRICT.call_sync(&name, Arguments::from(value)) {
            Ok(_) => assert!(fits, "{name} accepts a tree that its schema refuses"),
            Err(error) => assert!(!fits || is_wide(value), "{name} refuses a tree that its schema accepts: {error}"),
        }
    }
    match LENIENT.call_sync(&name, json) {
        Ok(result) => assert!(
            !fits || result.changes().is_empty() || value.as_ref().is_some_and(is_wide),
            "{name} changes what its schema accepts"
        ),
        Err(error) => explained(&error),
    }
});

/// Checks that a rejection is an error of the caller, is short, and contains its reasons.
fn explained(error: &ToolError) {
    match error.kind() {
        ErrorKind::MalformedJson => {}
        ErrorKind::InvalidArguments => assert!(!error.violations().is_empty(), "no reasons: {error}"),
        other => panic!("{other:?}: {error:?}"),
    }
    assert!(error.to_string().len() < 64 << 10, "{} bytes of error", error.to_string().len());
}

/// Returns true if a number is a float, whose text may be more precise than a tree and may be read as an integer, or
/// has more digits than 64 bits hold: in that range a type has bounds and a schema has none.
fn is_wide(value: &Value) -> bool {
    match value {
        Value::Number(number) if number.is_f64() => true,
        Value::Number(number) => number.as_i64().is_none() && number.as_f64().is_none_or(|float| float.abs() > 9e15),
        Value::Array(items) => items.iter().any(is_wide),
        Value::Object(object) => object.values().any(is_wide),
        _ => false,
    }
}
