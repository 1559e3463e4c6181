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
mod lowering;
mod merge_objects;
mod normal;
mod nullable;
mod object;
mod optional;
mod reference;
mod restore;
mod root;
mod rules;
mod spread;
mod types;

use serde_json::Value;

pub(super) use self::disjoint::are_disjoint;
use self::lowering::Lowering;
use self::normal::Normal;
pub use self::restore::restore;
pub(super) use self::rules::is_plain;
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
    let mut lowered = lower_unsorted(schema, dialect, side);
    lowered.schema.sort_all_objects();
    lowered
}

/// Lowers a schema without sorting the keys of the result.
pub(super) fn lower_unsorted(schema: &Value, dialect: &Dialect, side: Side) -> Lowered {
    lower_normal(normalize(schema, dialect, side), dialect, side)
}

/// Normalizes `schema` for `dialect` and every other dialect with the same `root_choice`.
pub(super) fn normalize(schema: &Value, dialect: &Dialect, side: Side) -> Normal {
    let mut normal = normal::normalized(schema, |root| root::keeps_root(root, dialect, side));
    inline::inline(&mut normal.schema);
    normal
}

/// Normalizes `schema` without inlining its definitions. References to the root stay `#`.
pub(super) fn normalize_references(schema: &Value) -> Normal {
    normal::normalized(schema, |_| true)
}

/// Lowers a normalized schema. The keys of the result are not sorted.
pub(super) fn lower_normal(normal: Normal, dialect: &Dialect, side: Side) -> Lowered {
    let is_opaque = normal.is_opaque;
    let mut lowering = Lowering { dialect, side, is_opaque, n_lost_references: 0, losses: Vec::new() };
    for (at, keyword) in normal.anchors {
        lowering.report(&at, keyword, Effect::MetadataOnly, "is removed; references point to definitions");
    }
    let mut schema = lowering.root(normal.schema);
    // A reference may not be recursive any longer.
    inline::inline(&mut schema);
    lowering.check_limits(&schema);
    Lowered { schema, losses: lowering.losses }
}
