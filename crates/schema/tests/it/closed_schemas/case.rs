//! A type of the zoo with its type erased, so that a law is one loop.

use jsonschema::{Draft, Validator};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::sample::{Sample, Source};

pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The schema of schemars before any rewriting.
    pub(crate) raw: Value,
    pub(crate) closed: Value,
    /// Serializes the value that the bytes select.
    pub(crate) write: fn(&[u8]) -> Value,
    pub(crate) serde_reads: fn(&Value) -> bool,
    open: &'static [&'static str],
}

impl Case {
    pub(crate) fn of<T: Sample + Serialize + DeserializeOwned + JsonSchema>(
        name: &'static str,
        open: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            raw: SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value(),
            closed: toolkit_schema::generate::input::<T>(),
            write: |bytes| {
                let value = T::sample(&mut Source(bytes.iter()));
                serde_json::to_value(value).expect("the zoo can be written")
            },
            serde_reads: |value| serde_json::from_value::<T>(value.clone()).is_ok(),
            open,
        }
    }

    /// Returns true if the object at `pointer` accepts any key.
    pub(crate) fn is_open(&self, pointer: &str) -> bool {
        self.open.iter().any(|place| match place.strip_suffix("/**") {
            Some(above) => pointer == above || pointer.starts_with(&format!("{above}/")),
            None => pointer == *place,
        })
    }

    /// Runs `law` for serialized values, with additional bytes that select mutations.
    pub(crate) fn for_all(&self, law: impl Fn(Value, &[u8]) -> Result<(), TestCaseError>) -> Result<(), String> {
        let mut runner = TestRunner::new(test_support::random(128));
        let bytes = proptest::collection::vec(any::<u8>(), 0..96);
        let changes = proptest::collection::vec(any::<u8>(), 8);
        let ran = runner.run(&(bytes, changes), |(bytes, changes)| law((self.write)(&bytes), &changes));
        ran.map_err(|failure| format!("{}: {failure}closed: {}", self.name, self.closed))
    }
}

/// Runs a law over all types and reports the types for which it fails.
#[track_caller]
pub(crate) fn hold(cases: &[Case], law: impl Fn(&Case) -> Result<(), String>) {
    let failures: Vec<_> = cases.iter().filter_map(|case| law(case).err()).collect();
    assert!(failures.is_empty(), "{} types: {}", failures.len(), failures.join("\n\n"));
}

macro_rules! cases {
    ($($plain:ty),* ; $($ty:ty: $($open:literal),+;)*) => {
        vec![
            $(Case::of::<$plain>(stringify!($plain), &[]),)*
            $(Case::of::<$ty>(stringify!($ty), &[$($open),+]),)*
        ]
    };
}
pub(crate) use cases;

#[track_caller]
pub(crate) fn validator(schema: &Value) -> Validator {
    jsonschema::options().with_draft(Draft::Draft202012).build(schema).unwrap_or_else(|e| panic!("{e}: {schema:#}"))
}
