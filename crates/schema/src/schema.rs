//! The schema type: a JSON Schema that was checked, with what it takes to check values against it.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::check::Checked;
use crate::error::{SchemaDiagnostic, SchemaError, SchemaErrorKind};
use crate::plan::{CheckPath, Plan};
use crate::tree::{held, held_copy};
use crate::violation::{Repairs, Violation, Violations, Wanted};
use crate::{check, equality, example, generate, graph, json, violation};

/// A JSON Schema that validates values.
///
/// The dialect is draft 2020-12 unless `$schema` names draft-07. In both, `format`, `contentEncoding` and
/// `contentMediaType` are annotations. References must stay within the document and nothing is fetched; the only other
/// document that a schema may refer to is the meta-schema of its dialect.
///
/// A schema is created from a Rust type ([`Schema::input`], [`Schema::output`]), from a JSON value
/// ([`Schema::from_value`]) or from text (`"{…}".parse()`). It is checked once and is immutable. Untrusted schemas and
/// values are safe to use: the time, memory and stack that either takes are bounded, and whatever would exceed a bound
/// is rejected.
///
/// # Examples
///
/// ```
/// # use serde_json::json;
/// use toolkit_schema::{Schema, SchemaErrorKind};
///
/// let schema: Schema = r#"{ "type": "object", "required": ["name"] }"#.parse()?;
/// assert!(schema.is_valid(&json!({ "name": "ann" })));
/// assert_eq!(schema.first_violation(&json!({})).unwrap().to_string(), "/name is required");
///
/// let error = Schema::from_value(json!({ "properties": { "a": { "type": "strin" } } })).unwrap_err();
/// assert_eq!((error.kind(), error.pointer()), (SchemaErrorKind::InvalidSchema, "/properties/a/type"));
/// # Ok::<(), toolkit_schema::SchemaError>(())
/// ```
pub struct Schema {
    value: Value,
    /// The schema that validates values if this one is invalid.
    fallback: Option<&'static Schema>,
    checked: OnceLock<Result<Checked, SchemaError>>,
    plan: OnceLock<Option<Plan>>,
    secret: OnceLock<bool>,
}

/// A clone compiles its validator again on first use. To share a compiled schema, put it in an `Arc`.
impl Clone for Schema {
    fn clone(&self) -> Self {
        Self { fallback: self.fallback, ..Self::generated(self.value.clone()) }
    }
}

impl Schema {
    /// The maximum depth of a schema, counted in nested arrays and objects. JSON text is read to the same depth.
    pub const MAX_DEPTH: usize = graph::MAX_DEPTH;
    /// The maximum number of subschemas, and the maximum number, including references, that may apply to one value.
    pub const MAX_SUBSCHEMAS: usize = graph::MAX_SUBSCHEMAS;

    /// Creates a schema from a JSON value, after checking it.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is not an object, names a dialect other than 2020-12 and draft-07, does not match
    /// its meta-schema, has a reference that leaves the document or does not resolve, has a pattern that does not
    /// compile, or is too expensive to validate values against. The limits are [`Schema::MAX_DEPTH`] levels,
    /// [`Schema::MAX_SUBSCHEMAS`] subschemas, 1,024 patterns, 128 MiB of compiled patterns, and chains of 96 schemas
    /// that refer to or combine one another.
    pub fn from_value(value: Value) -> Result<Self, SchemaError> {
        let schema = Self::generated(held(value));
        match schema.check() {
            Ok(()) => Ok(schema),
            Err(error) => {
                dismantle(schema.value);
                Err(error)
            }
        }
    }

    /// Creates the schema of a tool's arguments; see [`generate::input`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Schema::from_value`] if a hand-written part of the schema is invalid.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_schema::Schema;
    ///
    /// #[derive(schemars::JsonSchema)]
    /// struct Args {
    ///     #[schemars(range(min = 1))]
    ///     count: u32,
    /// }
    ///
    /// let schema = Schema::input::<Args>()?;
    /// assert!(schema.is_valid(&json!({ "count": 1 })));
    /// assert!(!schema.is_valid(&json!({ "count": 0 })));
    /// assert!(!schema.is_valid(&json!({ "count": 1, "color": "red" })), "the arguments are closed");
    /// # Ok::<(), toolkit_schema::SchemaError>(())
    /// ```
    pub fn input<T: JsonSchema>() -> Result<Self, SchemaError> {
        Self::from_value(generate::input::<T>())
    }

    /// Creates the schema of a tool's result; see [`generate::output`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Schema::from_value`] if a hand-written part of the schema is invalid.
    pub fn output<T: JsonSchema>() -> Result<Self, SchemaError> {
        Self::from_value(generate::output::<T>())
    }

    /// Wraps a schema that was derived from a Rust type. It is checked on first use.
    pub const fn generated(value: Value) -> Self {
        Self { value, fallback: None, checked: OnceLock::new(), plan: OnceLock::new(), secret: OnceLock::new() }
    }

    /// Wraps a schema of another program. If it is invalid, `fallback` validates values in its place, and the other program
    /// is left to validate them. Then only [`Schema::check`] returns an error.
    pub fn foreign(value: Value, fallback: &'static Schema) -> Self {
        Self { fallback: Some(fallback), ..Self::generated(value) }
    }

    /// Returns the schema as JSON.
    #[must_use]
    pub const fn as_value(&self) -> &Value {
        &self.value
    }

    /// Checks that the schema itself is valid.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Schema::from_value`].
    pub fn check(&self) -> Result<(), SchemaError> {
        self.checked().map(drop).map_err(SchemaError::clone)
    }

    /// Does the same as [`Schema::check`], but drops the compiled validator: most tools of a large catalog are never
    /// called.
    pub fn check_alone(&self) -> Result<(), SchemaError> {
        match self.checked.get() {
            Some(_) => self.check(),
            None => check::check_alone(&self.value, || self.has_plan()),
        }
    }

    /// Returns the first keyword that needs the feature `jsonschema`, if it is disabled. Checks nothing else.
    pub fn missing_feature(&self) -> Option<SchemaDiagnostic> {
        check::missing_feature(&self.value)
    }

    fn has_plan(&self) -> bool {
        match self.plan.get() {
            Some(plan) => plan.is_some(),
            None => Plan::compile(&self.value).is_some(),
        }
    }

    fn checked(&self) -> Result<&Checked, &SchemaError> {
        self.checked.get_or_init(|| check::check(&self.value, self.plan().is_some())).as_ref()
    }

    /// Returns the compiled form that validates while serde reads or writes, if the schema can be compiled to one.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.get_or_init(|| Plan::compile(&self.value)).as_ref()
    }

    /// Returns how values are validated against the schema. This is decided once per schema.
    #[must_use]
    pub fn path(&self) -> CheckPath {
        match self.plan() {
            Some(_) => CheckPath::Plan,
            None => Plan::obstacle(&self.value).map_or(CheckPath::Plan, CheckPath::Tree),
        }
    }

    /// Returns true if the schema is that of an array and restricts nothing but the items.
    pub fn is_list_of_any_length(&self) -> bool {
        let says_nothing_more = |key: &String| {
            matches!(key.as_str(), "type" | "items" | "$schema" | "$defs" | "definitions" | "title" | "description")
        };
        let object = self.value.as_object();
        object.is_some_and(|object| {
            object.get("type").is_some_and(|name| name == "array") && object.keys().all(says_nothing_more)
        })
    }

    /// Returns true if a value that matches may contain a secret (`writeOnly`), which must not appear in messages.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_schema::Schema;
    ///
    /// let schema = Schema::from_value(json!({ "properties": { "pin": { "writeOnly": true, "maxLength": 4 } } }))?;
    /// assert!(schema.holds_secret());
    /// let violations = schema.validate(&json!({ "pin": "12345" })).unwrap_err();
    /// assert!(!violations.to_string().contains("12345"));
    /// # Ok::<(), toolkit_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn holds_secret(&self) -> bool {
        *self.secret.get_or_init(|| violation::holds_secret(&self.value, &self.value))
    }

    /// Returns a copy of the value for logs, in which `"…"` replaces every part that the schema marks as secret
    /// (`writeOnly`) or may mark as secret.
    ///
    /// ```
    /// # use toolkit_schema::Schema;
    /// use serde_json::json;
    ///
    /// let login = json!({ "properties": { "user": {}, "password": { "writeOnly": true } } });
    /// let sent = json!({ "user": "ann", "password": "hunter2" });
    /// assert_eq!(Schema::from_value(login)?.masked(&sent), json!({ "user": "ann", "password": "…" }));
    /// # Ok::<(), toolkit_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn masked(&self, value: &Value) -> Value {
        if self.holds_secret() { violation::masked(&self.value, value) } else { value.clone() }
    }

    /// Returns a small value that matches the schema, to show to a caller that sent an invalid one. Returns `None` if
    /// no such value was found.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_schema::Schema;
    ///
    /// let schema = Schema::from_value(json!({
    ///     "type": "object",
    ///     "properties": { "unit": { "enum": ["celsius", "kelvin"] }, "city": { "type": "string" } },
    ///     "required": ["unit"]
    /// }))?;
    /// assert_eq!(schema.example(), Some(json!({ "unit": "celsius" })));
    /// # Ok::<(), toolkit_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn example(&self) -> Option<Value> {
        self.checked().ok()?;
        let example = example::minimal(&self.value)?;
        self.is_valid(&example).then_some(example)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value, f)
    }
}

/// Schemas are equal if their JSON is, with numbers compared by value: `100` equals `100.0`.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        equality::equal(&self.value, &other.value)
    }
}

impl FromStr for Schema {
    type Err = SchemaError;

    /// Parses a schema from JSON text.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Schema::from_value`], and an error if the text is not JSON, contains a duplicate key in
    /// an object, or is nested deeper than [`Schema::MAX_DEPTH`] levels.
    fn from_str(text: &str) -> Result<Self, SchemaError> {
        let value = json::parse(text.as_bytes()).map_err(|message| {
            SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, "", format!("cannot parse the text: {message}"))
        })?;
        Self::from_value(value)
    }
}

impl TryFrom<Value> for Schema {
    type Error = SchemaError;

    fn try_from(value: Value) -> Result<Self, SchemaError> {
        Self::from_value(value)
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

/// Drops a value without recursion, since it may be nested too deep for the stack.
fn dismantle(value: Value) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(object) => pending.extend(object.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}

impl Schema {
    /// Validates a value.
    ///
    /// # Errors
    ///
    /// Returns all violations, sorted by pointer. The list is limited to the first 256, and for a very large value to
    /// those in its front part. A recursive schema rejects values nested deeper than [`Schema::MAX_DEPTH`] levels; the
    /// limit is lower if the schema combines many schemas at each level.
    pub fn validate(&self, instance: &Value) -> Result<(), Violations> {
        self.verdict(instance, Wanted::All)
    }

    /// Validates a value that the caller may repair.
    ///
    /// `may_be_repaired` receives the violations that the repairs may concern, without their rules. If it returns true,
    /// only these violations are returned.
    ///
    /// # Errors
    ///
    /// Returns all violations as [`validate`](Self::validate) does, unless `may_be_repaired` returns true.
    pub fn validate_unless(
        &self,
        instance: &Value,
        repairs: Repairs,
        may_be_repaired: &mut dyn FnMut(&[Violation]) -> bool,
    ) -> Result<(), Violations> {
        self.verdict(instance, Wanted::AllUnless(repairs, may_be_repaired))
    }

    /// Validates a value and returns at most one violation. The choice of that violation is deterministic.
    #[must_use]
    pub fn first_violation(&self, instance: &Value) -> Option<Violation> {
        self.verdict(instance, Wanted::First).err()?.into_vec().into_iter().next()
    }

    /// Returns true if the value matches the schema.
    #[must_use]
    pub fn is_valid(&self, instance: &Value) -> bool {
        let instance = &*held_copy(instance);
        match (self.checked(), self.fallback) {
            (Ok(checked), _) => match checked.cost.exceeded_limit(instance) {
                None => checked.compiled.is_valid(&self.value, self.plan(), instance),
                Some(_) => self.passes_fast_path(instance),
            },
            (Err(_), fallback) => fallback.is_some_and(|fallback| fallback.is_valid(instance)),
        }
    }

    /// Estimates the cost of validating a value, as a number of visits: pairs of a subschema and a part of the value.
    pub(crate) fn check_cost(&self, instance: &Value) -> u64 {
        /// The factor for patterns that need the backtracking engine.
        const BACKTRACKING_FACTOR: u64 = 50;

        self.checked().map_or(1, |checked| {
            let factor = if checked.compiled.has_backtracking_patterns() { BACKTRACKING_FACTOR } else { 1 };
            checked.cost.estimate(instance).saturating_mul(factor)
        })
    }

    /// Validates a value.
    fn verdict(&self, instance: &Value, wanted: Wanted<'_>) -> Result<(), Violations> {
        let instance = &*held_copy(instance);
        let checked = match self.checked() {
            Ok(checked) => checked,
            Err(error) => {
                return match self.fallback {
                    Some(fallback) => fallback.verdict(instance, wanted),
                    None => Err(Violations::invalid_schema(error)),
                };
            }
        };
        match checked.cost.exceeded_limit(instance) {
            Some(_) if self.passes_fast_path(instance) => Ok(()),
            Some(rule) => Err(Violations::from_size_limit(rule)),
            None => {
                let detail = checked.cost.error_detail(instance);
                checked.compiled.validate(&self.value, self.plan(), self.holds_secret(), instance, detail, wanted)
            }
        }
    }

    /// Returns true if the plan accepts the value. The plan visits each part of a value once, and so is fast enough for
    /// values that exceed the cost limits of the validator.
    fn passes_fast_path(&self, instance: &Value) -> bool {
        let plan = self.plan().filter(|_| !json::is_deeper(instance, Self::MAX_DEPTH));
        plan.is_some_and(|plan| plan.encode(instance, &mut Vec::new()).is_ok())
    }
}
