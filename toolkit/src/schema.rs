//! A checked JSON Schema: the contract for a tool's arguments or result.

pub(crate) mod alias;
mod check;
pub mod close;
mod cost;
mod dialect;
pub(crate) mod equality;
mod error;
mod example;
mod excerpt;
pub(crate) mod explore;
pub(crate) mod finite;
pub(crate) mod format;
pub mod generate;
mod graph;
pub mod inline;
pub(crate) mod json;
mod limits;
mod patterns;
pub(crate) mod plan;
mod pointer;
pub(crate) mod portable;
mod reference;
pub(crate) mod root;
pub(crate) mod suggest;
mod tagged;
pub(crate) mod tree;
mod violation;
pub(crate) mod walk;

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;

use self::check::Checked;
use self::cost::Telling;
pub(crate) use self::dialect::Dialect;
pub use self::error::{Invalid, SchemaError, SchemaErrorKind, SchemaFault};
pub(crate) use self::excerpt::{quoted, shown_id, shown_pointer};
pub(crate) use self::generate::{input, output};
pub(crate) use self::json::is_too_deep;
pub(crate) use self::patterns::Matcher;
use self::plan::Plan;
pub use self::plan::{CheckPath, PlanObstacle};
use self::tree::{held, held_copy};
pub use self::violation::{Violation, Violations};
pub(crate) use self::violation::{child, declared_place};

/// A JSON Schema, ready to check values.
///
/// Draft 2020-12 where `$schema` does not say otherwise, or draft-07. `format`, `contentEncoding` and
/// `contentMediaType` are annotations in both. References stay inside the document; nothing is ever fetched. Only the
/// meta-schema of its own dialect may be referred to as well.
///
/// It is made of a Rust type ([`Schema::input`], [`Schema::output`]), of a JSON value ([`Schema::from_value`]) or of
/// text (`"{…}".parse()`), is checked once, and never changes. Neither a schema nor a value of strangers takes more
/// than bounded time, memory and stack: what would is refused.
///
/// # Examples
///
/// ```
/// # use serde_json::json;
/// use toolkit::schema::{Schema, SchemaErrorKind};
///
/// let schema: Schema = r#"{ "type": "object", "required": ["name"] }"#.parse()?;
/// assert!(schema.is_valid(&json!({ "name": "ann" })));
/// assert_eq!(schema.first_violation(&json!({})).unwrap().to_string(), "/name is required");
///
/// let error = Schema::from_value(json!({ "properties": { "a": { "type": "strin" } } })).unwrap_err();
/// assert_eq!((error.kind(), error.pointer()), (SchemaErrorKind::InvalidSchema, "/properties/a/type"));
/// # Ok::<(), toolkit::schema::SchemaError>(())
/// ```
pub struct Schema {
    value: Value,
    checked: OnceLock<Result<Checked, SchemaError>>,
    plan: OnceLock<Option<Plan>>,
    secret: OnceLock<bool>,
}

/// A clone is checked anew when it is first used; who shares a schema puts it in an `Arc`.
impl Clone for Schema {
    fn clone(&self) -> Self {
        Self::generated(self.value.clone())
    }
}

impl Schema {
    /// How deep a schema may be nested, in lists and objects: as deep as JSON text is read.
    pub const MAX_DEPTH: usize = limits::MAX_DEPTH;
    /// How many subschemas a schema may have, and how many of them, references included, may apply to one value.
    pub const MAX_SUBSCHEMAS: usize = limits::MAX_SUBSCHEMAS;

    /// Checks `value` and keeps it.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] says what is wrong: it is no object, names a dialect other than 2020-12 and draft-07, breaks
    /// its meta-schema, refers outside the document or to nothing, has a pattern that does not compile, or would take
    /// too much to check values against: more than [`Schema::MAX_DEPTH`] levels, more than [`Schema::MAX_SUBSCHEMAS`]
    /// subschemas, more than 1,024 patterns, patterns of more than 128 MiB, or more than 96 schemas that refer to or
    /// join one another in a row.
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

    /// The schema of what a tool takes: see [`generate::input`].
    ///
    /// # Errors
    ///
    /// As for [`Schema::from_value`], where an author has written a part of it.
    pub fn input<T: JsonSchema>() -> Result<Self, SchemaError> {
        Self::from_value(generate::input::<T>())
    }

    /// The schema of what a tool returns: see [`generate::output`].
    ///
    /// # Errors
    ///
    /// As for [`Schema::from_value`], where an author has written a part of it.
    pub fn output<T: JsonSchema>() -> Result<Self, SchemaError> {
        Self::from_value(generate::output::<T>())
    }

    /// A schema that was derived from a Rust type, to be checked when it is first used.
    pub(crate) const fn generated(value: Value) -> Self {
        Self { value, checked: OnceLock::new(), plan: OnceLock::new(), secret: OnceLock::new() }
    }

    /// The schema as JSON.
    #[must_use]
    pub const fn as_value(&self) -> &Value {
        &self.value
    }

    /// Whether the schema itself is sound.
    ///
    /// # Errors
    ///
    /// As for [`Schema::from_value`].
    pub fn check(&self) -> Result<(), SchemaError> {
        self.checked().map(drop).map_err(SchemaError::clone)
    }

    /// As [`Schema::check`], and forgets what it takes to check values: most tools of a large catalogue are never called.
    pub(crate) fn check_alone(&self) -> Result<(), SchemaError> {
        match self.checked.get() {
            Some(_) => self.check(),
            None => check::check(&self.value).map(drop),
        }
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// Every violation, in the order of where they are; of very many the first 256, and of a very large value those of
    /// its front. A recursive schema refuses a value that is nested deeper than [`Schema::MAX_DEPTH`] levels, or fewer
    /// where it joins many schemas for each of them.
    pub fn validate(&self, instance: &Value) -> Result<(), Violations> {
        self.verdict(instance, Violations::collect)
    }

    /// Checks a value, and looks for no more than one violation; which one that is, stays the same.
    #[must_use]
    pub fn first_violation(&self, instance: &Value) -> Option<Violation> {
        self.verdict(instance, Violations::first).err()?.into_vec().into_iter().next()
    }

    /// Whether a value fits.
    #[must_use]
    pub fn is_valid(&self, instance: &Value) -> bool {
        let instance = &*held_copy(instance);
        self.checked().is_ok_and(|checked| match checked.cost.refusal(instance) {
            None => checked.validator(instance).is_valid(instance),
            Some(_) => self.surely_fits(instance),
        })
    }

    /// Estimates what it takes to check a value, in schemas that look at a part of it.
    pub(crate) fn check_cost(&self, instance: &Value) -> u64 {
        /// What a pattern takes that looks at a text many times.
        const HARD_PATTERNS: u64 = 50;

        self.checked().map_or(1, |checked| {
            let factor = if checked.has_hard_patterns() { HARD_PATTERNS } else { 1 };
            checked.cost.estimate(instance).saturating_mul(factor)
        })
    }

    /// The verdict on a value, with the violations that `tell` finds.
    fn verdict(&self, instance: &Value, tell: Tell) -> Result<(), Violations> {
        let instance = &*held_copy(instance);
        let checked = match self.checked() {
            Ok(checked) => checked,
            Err(error) => return Err(Violations::broken_schema(error)),
        };
        match checked.cost.refusal(instance) {
            Some(_) if self.surely_fits(instance) => Ok(()),
            Some(rule) => Err(Violations::of_size(rule)),
            None if checked.validator(instance).is_valid(instance) => Ok(()),
            None => Err(match checked.cost.telling(instance) {
                Telling::Whole => tell(&self.value, self.holds_secret(), checked.validator(instance), instance),
                Telling::ByTag => {
                    let secret = self.holds_secret();
                    let told = checked.told_apart(&self.value);
                    let told = told.map(|(schema, validator)| tell(schema, secret, validator, instance));
                    told.filter(|violations| !violations.is_empty()).unwrap_or_else(Violations::too_deep)
                }
                Telling::Nothing => Violations::too_deep(),
            }),
        }
    }

    /// Whether the plan, which looks at each value once, approves of one that takes too long to check otherwise.
    fn surely_fits(&self, instance: &Value) -> bool {
        let plan = self.plan().filter(|_| !cost::is_deeper(instance, Self::MAX_DEPTH));
        plan.is_some_and(|plan| plan.encode(instance, &mut Vec::new()).is_ok())
    }

    fn checked(&self) -> Result<&Checked, &SchemaError> {
        self.checked.get_or_init(|| check::check(&self.value)).as_ref()
    }

    /// The form in which serde checks the schema as it goes, where the schema has one.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.plan.get_or_init(|| Plan::compile(&self.value)).as_ref()
    }

    /// How values are checked against it, which is decided once.
    #[must_use]
    pub fn path(&self) -> CheckPath {
        match self.plan() {
            Some(_) => CheckPath::Plan,
            None => Plan::why_not(&self.value).map_or(CheckPath::Plan, CheckPath::Tree),
        }
    }

    /// Whether it is that of a list, and asks nothing but what each item is.
    pub(crate) fn is_list_of_any_length(&self) -> bool {
        let says_nothing_more = |key: &String| {
            matches!(key.as_str(), "type" | "items" | "$schema" | "$defs" | "definitions" | "title" | "description")
        };
        let object = self.value.as_object();
        object.is_some_and(|object| {
            object.get("type").is_some_and(|name| name == "array") && object.keys().all(says_nothing_more)
        })
    }

    /// Whether a value that fits may hold something that must not be repeated (`writeOnly`).
    #[must_use]
    pub fn holds_secret(&self) -> bool {
        *self.secret.get_or_init(|| violation::holds_secret(&self.value, &self.value))
    }

    /// A value for logs: `"…"` stands for all that the schema calls secret (`writeOnly`), or may call so.
    ///
    /// ```
    /// # use toolkit::schema::Schema;
    /// use serde_json::json;
    ///
    /// let login = json!({ "properties": { "user": {}, "password": { "writeOnly": true } } });
    /// let sent = json!({ "user": "ann", "password": "hunter2" });
    /// assert_eq!(Schema::from_value(login)?.masked(&sent), json!({ "user": "ann", "password": "…" }));
    /// # Ok::<(), toolkit::schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn masked(&self, value: &Value) -> Value {
        if self.holds_secret() { violation::masked(&self.value, value) } else { value.clone() }
    }

    /// A small value that fits, for a caller that sent one that does not; `None` where none was found.
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

    /// Reads the text of a schema.
    ///
    /// # Errors
    ///
    /// As for [`Schema::from_value`], and for text that is not JSON, has the same key twice in an object, or is nested
    /// deeper than [`Schema::MAX_DEPTH`] levels.
    fn from_str(text: &str) -> Result<Self, SchemaError> {
        let value = json::parse(text.as_bytes()).map_err(|message| {
            SchemaFault::new(SchemaErrorKind::InvalidSchema, "", format!("cannot parse the text: {message}"))
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

type Tell = fn(&Value, bool, &jsonschema::Validator, &Value) -> Violations;

/// Drops a value that may be nested deeper than the stack is.
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
