//! Rewriting of schemas into a dialect, with the losses.
//!
//! Each step preserves the meaning of a schema, narrows it, or reports a [`Loss`]. Therefore the original accepts
//! whatever the lowered schema accepts, after [`restore`] has removed the nulls that represent absent arguments, unless
//! a loss reports otherwise.

mod bounds;
mod choice;
mod closed;
mod disjoint;
mod join;
mod legacy;
mod limits;
mod list;
mod merge_objects;
mod normal;
mod nullable;
mod object;
mod optional;
mod reference;
mod restore;
mod root;
mod spread;
mod types;

use serde_json::{Map, Value, json};

pub use self::restore::restore;
use super::dialect::Dialect;
use super::loss::{Effect, Loss, Side};
use toolkit_schema::inline;

/// A schema in a dialect, with the losses of the conversion.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Lowered {
    /// The schema.
    pub schema: Value,
    /// The features of the original that the schema does not express.
    pub losses: Vec<Loss>,
}

impl Lowered {
    /// Returns true if the schema expresses every value that the original accepts, so that strict mode loses nothing.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_providers::{Dialect, Side, lower};
    ///
    /// let map = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    /// assert!(lower(&map, &Dialect::OPENAI, Side::Input).is_whole());
    /// assert!(!lower(&map, &Dialect::OPENAI_STRICT, Side::Input).is_whole());
    /// ```
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.losses.iter().all(|loss| loss.effect != Effect::Narrowed)
    }
}

/// Rewrites `schema` into `dialect`.
///
/// ```
/// # use serde_json::json;
/// # use toolkit_providers::{Dialect, Side, lower};
/// let schema = json!({
///     "type": "object",
///     "properties": { "n": { "type": "integer", "minimum": 1 } },
///     "additionalProperties": false,
/// });
/// let strict = lower(&schema, &Dialect::ANTHROPIC_STRICT, Side::Input);
/// assert_eq!(strict.schema["properties"]["n"], json!({ "type": "integer", "description": "At least 1." }));
/// assert_eq!(strict.losses[0].to_string(), "input /properties/n: `minimum` is moved to the description");
/// ```
#[must_use]
pub fn lower(schema: &Value, dialect: &Dialect, side: Side) -> Lowered {
    let normal = normal::normalized(schema, |root| root::keeps_root(root, dialect, side));
    let mut written_out = normal.schema;
    inline::inline(&mut written_out);
    let is_opaque = normal.is_opaque;
    let mut lowering = Lowering { dialect, side, is_opaque, n_lost_references: 0, losses: Vec::new() };
    for (at, keyword) in normal.anchors {
        lowering.report(&at, keyword, Effect::MetadataOnly, "is removed; references point to definitions");
    }
    let mut schema = lowering.root(written_out);
    // A reference may not be recursive any longer.
    inline::inline(&mut schema);
    lowering.check_limits(&schema);
    schema.sort_all_objects();
    Lowered { schema, losses: lowering.losses }
}

/// The state of a conversion.
///
/// Each step returns `None` for a schema that accepts no value, if the dialect cannot express that. The surrounding
/// schema then expresses it, by rejecting a property or removing a branch.
struct Lowering<'d> {
    dialect: &'d Dialect,
    side: Side,
    /// A nested `$id` changes the base of references, so that they cannot be resolved by their pointers.
    is_opaque: bool,
    n_lost_references: usize,
    losses: Vec<Loss>,
}

type Keywords = Map<String, Value>;

impl Lowering<'_> {
    fn report(&mut self, at: &str, keyword: &str, effect: Effect, reason: impl Into<String>) {
        let (side, pointer, keyword) = (self.side, at.to_owned(), keyword.to_owned());
        self.losses.push(Loss { side, pointer, keyword, effect, reason: reason.into() });
    }

    /// Lowers a subschema and its subschemas.
    fn schema(&mut self, schema: Value, at: &str) -> Option<Value> {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => Map::from_iter([("not".to_owned(), json!({}))]),
            _ => Map::new(),
        };
        self.keywords(keywords, at).map(Value::Object)
    }

    fn keywords(&mut self, mut keywords: Keywords, at: &str) -> Option<Keywords> {
        let excludes_all = |excluded: &Value| *excluded == true || *excluded == json!({});
        if !self.dialect.reads("not") && keywords.get("not").is_some_and(excludes_all) {
            return None;
        }
        if self.dialect.nullable && keywords.get("nullable") == Some(&Value::Bool(true)) {
            self.report(
                at,
                "nullable",
                Effect::Widened,
                "is not a keyword of JSON Schema, but the dialect reads it and accepts null",
            );
        }
        let n_lost_before = self.n_lost_references;
        self.lower_unevaluated(&mut keywords, at);
        self.lower_all_of(&mut keywords, at)?;
        // The parts of `allOf`, such as the target of a reference, may have been merged. A part with a lost reference could
        // declare any property.
        if self.n_lost_references == n_lost_before {
            self.lower_unevaluated(&mut keywords, at);
        }
        let is_dynamic = keywords.contains_key("$dynamicRef") && !self.follows_references();
        if keywords.contains_key("$ref") || is_dynamic {
            return self.lower_reference(keywords, at);
        }
        self.lower_choices(&mut keywords, at)?;
        self.lower_constant(&mut keywords)?;
        self.lower_types(&mut keywords, at)?;
        self.lower_object(&mut keywords, at)?;
        self.lower_list(&mut keywords, at)?;
        self.lower_remaining(&mut keywords, at);
        self.lower_dependent(&mut keywords, n_lost_before, at);
        self.lower_nullable(&mut keywords, at);
        Some(keywords)
    }
}
