//! Forms, derived from the type of their answer.

use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::field::{field, is_secret};
use toolkit_schema::plan::{Plan, into_slot};
use toolkit_schema::{Schema, Violations, generate, inline};

/// The property that holds an answer that is not an object.
const VALUE: &str = "value";

/// The maximum number of fields of a form of another program.
const MAX_FIELDS: usize = 100;

/// A form for the user: the fields of the type of the answer.
///
/// Clients show flat forms only. A field is a text, a number, a boolean, or one or several of given choices (an enum
/// without data); it may be optional and have a title, a description and a default. An answer that is a single field,
/// such as `bool`, is asked for under the name `value`.
///
/// # Examples
///
/// A test that the type of an answer can be asked for:
///
/// ```
/// use serde_json::json;
/// use toolkit::call::ask::Form;
///
/// #[derive(schemars::JsonSchema)]
/// struct Shirt {
///     /// The name on the back.
///     name: Option<String>,
///     size: Size,
/// }
///
/// #[derive(schemars::JsonSchema)]
/// enum Size {
///     Small,
///     Large,
/// }
///
/// let form = Form::of::<Shirt>()?;
/// assert_eq!(
///     form.schema(),
///     &json!({
///         "type": "object",
///         "properties": {
///             "name": { "type": "string", "description": "The name on the back." },
///             "size": { "type": "string", "enum": ["Small", "Large"] },
///         },
///         "required": ["size"],
///     })
/// );
///
/// let error = Form::of::<Vec<Shirt>>().unwrap_err();
/// assert_eq!(error.to_string(), "a form cannot ask for `value`: it is a list, which must be one of choices");
/// # Ok::<(), toolkit::call::ask::FormError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    schema: Value,
}

/// The error of a type that a form cannot ask for.
///
/// # Examples
///
/// ```
/// use toolkit::call::ask::Form;
///
/// #[derive(schemars::JsonSchema)]
/// struct Login {
///     user: String,
///     password: String,
/// }
///
/// let error = Form::of::<Login>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "a form cannot ask for `password`: it is a secret, which the client and its model could read; ask with a URL"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError {
    field: String,
    reason: String,
}

impl Form {
    /// Creates the form for a type.
    ///
    /// # Errors
    ///
    /// Returns an error for a field other than a text, number, boolean or choice, for a type without fields, and for a
    /// field that is a secret by its name or schema.
    pub fn of<T: JsonSchema>() -> Result<Self, FormError> {
        Self::from_input(generate::form::<T>())
    }

    /// Creates a form from its schema, which is that of `requestedSchema` in MCP. The names of the fields are not
    /// checked for secrets.
    ///
    /// # Errors
    ///
    /// Returns an error if the schema is not that of an object with fields as in [`Form::of`], or has more than 100
    /// fields.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::call::ask::Form;
    ///
    /// let nested = json!({ "type": "object", "properties": { "place": { "type": "object" } } });
    /// let error = Form::from_schema(&nested).unwrap_err();
    /// assert_eq!(error.to_string(), "a form cannot ask for `place`: it is of type object");
    /// ```
    pub fn from_schema(schema: &Value) -> Result<Self, FormError> {
        let none = Map::new();
        if schema["type"] != "object" {
            return Err(FormError::new(VALUE, "is not in an object"));
        }
        let properties = schema.get("properties").map_or(Some(&none), Value::as_object);
        let properties = properties.ok_or_else(|| FormError::new("properties", "is not an object of schemas"))?;
        if properties.len() > MAX_FIELDS {
            let reason = format!("is one of {} fields, more than the limit of {MAX_FIELDS}", properties.len());
            return Err(FormError::new(properties.keys().next_back().map_or(VALUE, |name| name), reason));
        }
        let mut fields = Map::new();
        for (name, property) in properties {
            let field = field(property).map_err(|found| FormError::new(name, format!("is {found}")))?;
            fields.insert(name.clone(), field);
        }
        let is_field = |name: &&Value| name.as_str().is_some_and(|name| fields.contains_key(name));
        let required: Vec<Value> =
            schema["required"].as_array().into_iter().flatten().filter(is_field).cloned().collect();
        let mut schema = json!({ "type": "object", "properties": fields });
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        Ok(Self { schema })
    }

    /// Creates a form from a schema of another program, like [`Form::from_schema`]. A field that is a secret by its name, its
    /// title or its schema is an error, as in [`Form::of`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Form::from_schema`], and one for a secret.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::call::ask::Form;
    ///
    /// let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "title": "Your password" } } });
    /// assert!(Form::from_foreign_schema(&schema).unwrap_err().to_string().contains("`a`: it is a secret"));
    /// ```
    pub fn from_foreign_schema(schema: &Value) -> Result<Self, FormError> {
        check_secrets(schema)?;
        Self::from_schema(schema)
    }

    fn from_input(mut input: Value) -> Result<Self, FormError> {
        inline::inline(&mut input);
        let has_fields = input["properties"].as_object().is_some_and(|properties| !properties.is_empty());
        if input["type"] == "object" && !has_fields {
            return Err(FormError::new("", "has no fields; ask for a `bool`"));
        }
        check_secrets(&input)?;
        match has_fields {
            true => Self::from_schema(&input),
            false => {
                Self::from_schema(&json!({ "type": "object", "properties": { VALUE: input }, "required": [VALUE] }))
            }
        }
    }

    /// Returns the schema of the form: an object whose properties are the fields.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Validates the content of an answer and deserializes it.
    ///
    /// # Errors
    ///
    /// Returns the violations of the schema of the type, with pointers to the fields.
    pub(crate) fn read<T: DeserializeOwned + JsonSchema>(&self, mut content: Value) -> Result<T, Violations> {
        let invalid = |text: String| Violations::from_type_errors([(String::new(), text)]);
        // Some clients send a null for a field that was left empty.
        if let Value::Object(fields) = &mut content {
            fields.retain(|_, value| !value.is_null());
        }
        Schema::generated(self.schema.clone()).validate(&content)?;
        let schema = Schema::input::<T>().map_err(|error| invalid(error.to_string()))?;
        let is_wrapped = schema.as_value()["type"] != "object";
        let answer = if is_wrapped { content[VALUE].take() } else { content };
        schema.validate(&answer)?;
        let mut value = None;
        let text = answer.to_string();
        Plan::read_approved(text.as_bytes(), None, &mut Vec::new(), &mut into_slot(&mut value))
            .map_err(|error| invalid(format!("is not a valid answer: {error}")))?;
        value.ok_or_else(|| invalid("is not a valid answer".to_owned()))
    }
}

impl FormError {
    fn new(field: &str, reason: impl Into<String>) -> Self {
        Self { field: field.to_owned(), reason: reason.into() }
    }

    /// Returns the name of the field.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, reason } = self;
        match field.is_empty() {
            true => write!(f, "a form {reason}"),
            false => write!(f, "a form cannot ask for `{}`: it {reason}", field.escape_debug()),
        }
    }
}

impl std::error::Error for FormError {}

/// Returns an error for a field that is a secret.
fn check_secrets(schema: &Value) -> Result<(), FormError> {
    let is_secret = |name: &str, property: &Value| {
        let is_named = is_secret(name) || property["title"].as_str().is_some_and(is_secret);
        is_named || property["writeOnly"] == true || property["format"] == "password"
    };
    let mut fields = schema["properties"].as_object().into_iter().flatten();
    match fields.find(|(name, property)| is_secret(name, property)) {
        Some((name, _)) => {
            Err(FormError::new(name, "is a secret, which the client and its model could read; ask with a URL"))
        }
        None => Ok(()),
    }
}
