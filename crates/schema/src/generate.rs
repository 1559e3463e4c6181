//! Generation of schemas from Rust types.
//!
//! Input and output differ, because serde may read more than it writes, and because callers may rely on more:
//!
//! ```
//! use serde_json::json;
//! use toolkit_schema::generate::{input, output};
//!
//! #[derive(schemars::JsonSchema)]
//! struct Page {
//!     #[schemars(default)]
//!     number: u32,
//! }
//!
//! assert_eq!(input::<Page>().get("required"), None);
//! assert_eq!(output::<Page>()["required"], json!(["number"]));
//! assert_eq!(input::<Page>()["additionalProperties"], false);
//! assert_eq!(output::<Page>().get("additionalProperties"), None);
//! ```

use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::{close, portable, walk};

/// Generates the schema of a tool's arguments: the JSON from which serde deserializes a `T`.
///
/// The schema uses draft 2020-12 and portable keywords, and its objects are closed ([`close::close`]).
///
/// # Examples
///
/// ```
/// # use serde_json::json;
/// assert_eq!(
///     toolkit_schema::generate::input::<u8>(),
///     json!({ "type": "integer", "minimum": 0, "maximum": 255 })
/// );
/// ```
#[must_use]
pub fn input<T: JsonSchema>() -> Value {
    let schema = generator(Contract::Deserialize).into_root_schema_for::<T>();
    finish_input(schema, &T::schema_name())
}

/// Generates the schema of arguments that are one value, such as a map. A type of any value becomes an object with any
/// properties. An empty description is omitted.
#[doc(hidden)]
#[must_use]
pub fn whole_input<T: JsonSchema>(description: &str) -> Value {
    let mut schema = input::<T>();
    if schema == true {
        schema = json!({});
    }
    if let Value::Object(keywords) = &mut schema {
        if keywords.keys().all(|keyword| walk::is_annotation(keyword)) {
            keywords.insert("type".to_owned(), "object".into());
            keywords.insert("additionalProperties".to_owned(), true.into());
        }
        if !description.is_empty() {
            keywords.insert("description".to_owned(), description.into());
        }
    }
    schema
}

/// Generates the schema of an object with one property, which is a `T`.
///
/// An empty description is omitted.
///
/// # Examples
///
/// ```
/// # use serde_json::json;
/// let schema = toolkit_schema::generate::property::<bool>("force", "Overwrites files.", true);
/// assert_eq!(schema["properties"], json!({ "force": { "type": "boolean", "description": "Overwrites files." } }));
/// assert_eq!(schema["required"], json!(["force"]));
/// ```
#[doc(hidden)]
#[must_use]
pub fn property<T: JsonSchema>(name: &str, description: &str, is_required: bool) -> Value {
    let mut generator = generator(Contract::Deserialize);
    let property = generator.subschema_for::<T>();
    finish_input(object(generator, property, name, description, is_required), "")
}

/// Generates the schema of a tool's result: the JSON to which serde serializes a `T`.
///
/// Its objects stay open. In a closed schema, a new field of the result would break callers that validate it.
///
/// # Examples
///
/// ```
/// use serde_json::json;
///
/// #[derive(schemars::JsonSchema)]
/// struct Weather {
///     /// The temperature in °C.
///     celsius: i8,
/// }
///
/// let schema = toolkit_schema::generate::output::<Weather>();
/// assert_eq!(schema["properties"]["celsius"]["description"], "The temperature in °C.");
/// assert_eq!(schema["required"], json!(["celsius"]));
/// assert!(schema.get("additionalProperties").is_none());
/// ```
#[must_use]
pub fn output<T: JsonSchema>() -> Value {
    let schema = generator(Contract::Serialize).into_root_schema_for::<T>();
    tidy(schema, &T::schema_name())
}

/// Generates the schema of a form, in which each choice keeps its own description.
#[doc(hidden)]
#[must_use]
pub fn form<T: JsonSchema>() -> Value {
    let schema = generator(Contract::Deserialize).into_root_schema_for::<T>();
    without_titles(schema, &T::schema_name())
}

// These functions are not generic, so that each tool adds little code to compile.
fn generator(contract: Contract) -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.contract = contract;
    settings.into_generator()
}

fn object(
    mut generator: SchemaGenerator,
    mut property: Schema,
    name: &str,
    description: &str,
    is_required: bool,
) -> Schema {
    if !description.is_empty() {
        property.insert("description".to_owned(), description.into());
    }
    let mut schema = json_schema!({ "type": "object", "properties": { name: property } });
    if is_required {
        schema.insert("required".to_owned(), [name].as_slice().into());
    }
    let definitions = generator.take_definitions(true);
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), definitions.into());
    }
    schema
}

fn finish_input(mut schema: Schema, type_name: &str) -> Value {
    if let Some(object) = schema.as_object_mut() {
        bound_floats(object, 0);
    }
    let mut schema = tidy(schema, type_name);
    close::close(&mut schema);
    schema
}

/// Bounds 32-bit numbers, since serde deserializes larger ones as infinity.
fn bound_floats(schema: &mut Map<String, Value>, depth: usize) {
    let is_number = schema
        .get("type")
        .is_some_and(|ty| ty == "number" || ty.as_array().is_some_and(|types| types.iter().any(|ty| ty == "number")));
    if is_number && schema.get("format").is_some_and(|format| format == "float") {
        let bound = f64::from(f32::MAX);
        schema.entry("minimum").or_insert_with(|| (-bound).into());
        schema.entry("maximum").or_insert_with(|| bound.into());
    }
    if depth < walk::MAX_DEPTH {
        walk::each_mut(schema, |_, sub| {
            if let Value::Object(sub) = sub {
                bound_floats(sub, depth + 1);
            }
        });
    }
}

fn tidy(schema: Schema, type_name: &str) -> Value {
    let mut schema = without_titles(schema, type_name);
    portable::make(&mut schema);
    schema
}

fn without_titles(schema: Schema, type_name: &str) -> Value {
    let mut schema = schema.to_value();
    // schemars uses the name of the Rust type as the title of the root, which is useless to a model. A title that
    // differs from that name was written by the author and stays.
    drop_title(&mut schema, type_name);
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        for (name, definition) in definitions {
            drop_title(definition, name);
        }
    }
    schema
}

fn drop_title(schema: &mut Value, name: &str) {
    if let Value::Object(map) = schema
        && map.get("title").is_some_and(|title| title == name)
    {
        map.remove("title");
    }
}
