//! The schema of a Rust type, as a tool publishes it.

use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::{close, portable};

/// The schema of what a tool takes: the JSON that serde reads as a `T`.
///
/// Draft 2020-12, in portable words ([`portable::make`]) and with its objects closed ([`close::close`]).
///
/// # Examples
///
/// ```
/// # use serde_json::json;
/// assert_eq!(
///     toolkit::schema::generate::input::<u8>(),
///     json!({ "type": "integer", "minimum": 0, "maximum": 255 })
/// );
/// ```
#[must_use]
pub fn input<T: JsonSchema>() -> Value {
    let schema = generator(Contract::Deserialize).into_root_schema_for::<T>();
    let mut schema = tidy(schema, &T::schema_name());
    close::close(&mut schema);
    schema
}

/// The schema of what a tool returns: the JSON that serde writes for a `T`.
///
/// Its objects stay open: were they closed, every field added to a result would break the callers who check it.
#[must_use]
pub fn output<T: JsonSchema>() -> Value {
    let schema = generator(Contract::Serialize).into_root_schema_for::<T>();
    tidy(schema, &T::schema_name())
}

// Out of the generic functions, so that each tool adds little to compile.
fn generator(contract: Contract) -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.contract = contract;
    settings.into_generator()
}

fn tidy(schema: Schema, type_name: &str) -> Value {
    let mut schema = schema.to_value();
    // schemars titles the root with the name of the Rust type, which tells a model nothing. A title the author wrote
    // is another text, and stays.
    drop_title(&mut schema, type_name);
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        for (name, definition) in definitions {
            drop_title(definition, name);
        }
    }
    portable::make(&mut schema);
    schema
}

fn drop_title(schema: &mut Value, name: &str) {
    if let Value::Object(map) = schema
        && map.get("title").is_some_and(|title| title == name)
    {
        map.remove("title");
    }
}
