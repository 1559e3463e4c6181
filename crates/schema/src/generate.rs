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

mod document;

use schemars::JsonSchema;
use schemars::generate::Contract;
use serde_json::{Value, json};

use self::document::{Described, finish_input, object, root, tidy, without_titles};
use super::{values, walk};

/// Generates the schema of a tool's arguments: the JSON from which serde deserializes a `T`.
///
/// The schema uses draft 2020-12 and portable keywords, and its objects are closed (see [`close`](crate::close)).
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
    finish_input(root(Contract::Deserialize, Described::of::<T>()), &T::schema_name())
}

/// Returns true if the type is an enum without a tag, which may get variants that are not objects.
#[must_use]
pub fn is_untagged_choice<T: JsonSchema>() -> bool {
    values::is_untagged_choice(root(Contract::Deserialize, Described::of::<T>()).as_value())
}

/// Generates the schema of arguments that are one value, such as a map. A type of any value becomes an object with any
/// properties. An empty description is omitted.
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
#[must_use]
pub fn property<T: JsonSchema>(name: &str, description: &str, is_required: bool) -> Value {
    finish_input(object(Described::of::<T>(), name, description, is_required), "")
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
    tidy(root(Contract::Serialize, Described::of::<T>()), &T::schema_name())
}

/// Generates the schema of a form, in which each choice keeps its own description.
#[must_use]
pub fn form<T: JsonSchema>() -> Value {
    without_titles(root(Contract::Deserialize, Described::of::<T>()), &T::schema_name())
}
