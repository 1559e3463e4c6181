//! Results of unlimited size.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Serialize, SerializeSeq, Serializer};
use toolkit::call::ErrorKind;
use toolkit::{Dispatcher, catalog, tool};

/// An infinite list of booleans.
struct Endless;

impl Serialize for Endless {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        loop {
            list.serialize_element(&true)?;
        }
    }
}

impl JsonSchema for Endless {
    fn schema_name() -> Cow<'static, str> {
        "Endless".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": { "type": "boolean" } })
    }
}

/// An infinite string or key.
struct Words<const IS_KEY: bool>;

impl<const IS_KEY: bool> fmt::Display for Words<IS_KEY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        loop {
            f.write_str("word ")?;
        }
    }
}

impl Serialize for Words<false> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Words<true> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Key;
        impl Serialize for Key {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&Words::<true>)
            }
        }
        serializer.collect_map([(Key, true)])
    }
}

impl<const IS_KEY: bool> JsonSchema for Words<IS_KEY> {
    fn schema_name() -> Cow<'static, str> {
        if IS_KEY { "Keys" } else { "Words" }.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        if IS_KEY { json_schema!({ "type": "object" }) } else { json_schema!({ "type": "string" }) }
    }
}

/// Returns a list without an end.
#[tool(namespace = "large")]
fn list() -> Endless {
    Endless
}

/// Returns a text without an end.
#[tool(namespace = "large")]
fn text() -> Words<false> {
    Words
}

/// Returns an object whose key has no end.
#[tool(namespace = "large")]
fn key() -> Words<true> {
    Words
}

/// Returns a text of a length.
#[tool(namespace = "large")]
fn long(n_bytes: usize) -> String {
    "x".repeat(n_bytes)
}

#[test]
fn writing_a_result_stops_at_the_limit() {
    for validates in [true, false] {
        let dispatcher = Dispatcher::builder(catalog![list, text, key].unwrap());
        let dispatcher = dispatcher.validate_output(validates).max_result_bytes(1 << 20).build().unwrap();
        for name in ["list", "text", "key"] {
            let error = dispatcher.call_sync(name, "{}").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ResultTooLarge, "{name}: {error}");
        }
    }
}

#[test]
fn a_result_may_reach_the_size_limit() {
    for validates in [true, false] {
        let dispatcher = Dispatcher::builder(catalog![long].unwrap());
        let dispatcher = dispatcher.validate_output(validates).max_result_bytes(100).build().unwrap();
        let call = |n_bytes: usize| dispatcher.call_sync("long", format!(r#"{{"n_bytes": {n_bytes}}}"#));
        // Including the quotes.
        assert_eq!(call(98).unwrap().json().unwrap().len(), 100);
        for n_bytes in [99, 100, 101, 1 << 20] {
            assert_eq!(call(n_bytes).unwrap_err().kind(), ErrorKind::ResultTooLarge, "{n_bytes}");
        }
    }
}
