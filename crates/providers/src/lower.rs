//! Rewriting of schemas into a dialect, with the losses.
//!
//! Each step preserves the meaning of a schema, narrows it, or reports a [`Loss`]. Therefore the original accepts
//! whatever the lowered schema accepts, after [`restore`] has removed the nulls that represent absent arguments, unless
//! a loss reports otherwise. The bounds of a type's [width] are an exception: no loss reports that they are not exported.
//!
//! | module | part |
//! |---|---|
//! | `lowering` | the state of a rewriting, and its report |
//! | `schema` | the passes over one schema, in order: `choice`, `objects` and `arrays` recurse, `remaining` and `reference` do not |
//! | `names` | names of arguments that a provider rejects, replaced and restored |
//! | `merge`, `keywords` | joins an object and a choice; what a keyword is about |
//!
//! `toolkit_schema::normal` has the normal form of a schema, and `toolkit_schema::root` its root without a choice.

mod arrays;
mod choice;
mod keywords;
mod lowering;
mod merge;
mod names;
mod objects;
mod reference;
mod remaining;
mod schema;

use serde_json::Value;

use self::lowering::Lowering;
pub(super) use self::merge::are_disjoint;
pub(super) use self::names::replace_names;
use self::names::{renamed, restore_names};
use self::schema::{keeps_root, lower_root};
use super::dialect::{Dialect, check_schema};
use super::loss::{Effect, Loss, Side};
use toolkit::call::Coercion;
use toolkit::internals::coerced;
use toolkit::tool::Tool;
use toolkit_schema::alias::{self, RemovedAlias};
use toolkit_schema::merge::Keywords;
use toolkit_schema::normal::{Normal, normalized};
use toolkit_schema::{Schema, inline, order, quoted, width};

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
    /// Returns true if the schema expresses every value that the original accepts, and the provider accepts it, so that
    /// strict mode loses nothing.
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
        self.losses.iter().all(|loss| !matches!(loss.effect, Effect::Narrowed | Effect::Rejected))
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
    order::sort(&mut lowered.schema);
    lowered
}

/// Lowers a schema without sorting the keys of the result.
pub(super) fn lower_unsorted(schema: &Value, dialect: &Dialect, side: Side) -> Lowered {
    lower_normal(normalize(schema, side), dialect, side)
}

/// A normalized schema, and the aliases of arguments that it does not contain.
#[derive(Clone)]
pub(super) struct Normalized {
    pub(super) normal: Normal,
    pub(super) aliases: Vec<RemovedAlias>,
}

fn normalize(schema: &Value, side: Side) -> Normalized {
    let mut normalized = normalize_with(schema, side, |root| keeps_root(root, side));
    inline::inline(&mut normalized.normal.schema);
    normalized
}

/// Normalizes `schema` without inlining its definitions. References to the root stay `#`.
pub(super) fn normalize_references(schema: &Value, side: Side) -> Normalized {
    normalize_with(schema, side, |_| true)
}

fn normalize_with(schema: &Value, side: Side, keeps_root: impl FnOnce(&Keywords) -> bool) -> Normalized {
    let mut schema = schema.clone();
    // A model would read each of them, and send null for the others in strict mode.
    let aliases = if side == Side::Input { alias::remove(&mut schema) } else { Vec::new() };
    width::remove(&mut schema);
    Normalized { normal: normalized(&schema, keeps_root), aliases }
}

/// Returns the reason why an alias is not exported.
pub(super) fn sent_instead(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("is an alias of {}, which is sent instead", quoted(name)),
        None => "accepts names that no variant has, and those of the variants are sent instead".to_owned(),
    }
}

/// Lowers a normalized schema. The keys of the result are not sorted.
pub(super) fn lower_normal(normalized: Normalized, dialect: &Dialect, side: Side) -> Lowered {
    let Normalized { normal, aliases } = normalized;
    let is_opaque = normal.is_opaque;
    let mut lowering = Lowering { dialect, side, is_opaque, n_lost_references: 0, losses: Vec::new() };
    for RemovedAlias { pointer, name } in aliases {
        lowering.report(&pointer, "properties", Effect::MetadataOnly, sent_instead(name.as_deref()));
    }
    for (at, keyword) in normal.anchors {
        lowering.report(&at, keyword, Effect::MetadataOnly, "is removed; references point to definitions");
    }
    let mut schema = lower_root(&mut lowering, normal.schema);
    // A reference may not be recursive any longer.
    inline::inline(&mut schema);
    check_limits(&mut lowering, &schema);
    lowering.losses.extend(check_schema(dialect, side, &schema));
    Lowered { schema, losses: lowering.losses }
}

fn check_limits(lowering: &mut Lowering<'_>, schema: &Value) {
    let Value::Object(keywords) = schema else { return };
    let Dialect { name, limits, .. } = lowering.dialect;
    for (what, most, has) in limits.exceeded_by(keywords) {
        let reason = format!("of {name} is {most} {what}, but the schema has {has}");
        lowering.report("", "limit", Effect::Narrowed, reason);
    }
}

/// Restores the names of arguments that a provider rejects, and removes each null that represents an absent argument:
/// where the tool's own schema neither allows null nor requires the argument.
///
/// [`Reply::run`](crate::reply::Reply::run) does the former, and a dispatcher the latter with arguments that do not match
/// the schema, unless its [`Coercion`](toolkit::call::Coercion) is off.
///
/// ```
/// # use serde_json::json;
/// # use toolkit_providers::restore;
/// # use toolkit::schema::Schema;
/// let schema = Schema::from_value(json!({
///     "type": "object",
///     "properties": { "unit": { "type": "string" }, "note": { "type": ["string", "null"] } },
/// }))?;
/// let sent = json!({ "unit": null, "note": null });
/// assert_eq!(restore(&schema, sent), json!({ "note": null }));
/// # Ok::<(), toolkit::schema::SchemaError>(())
/// ```
#[must_use]
pub fn restore(schema: &Schema, arguments: Value) -> Value {
    coerced(schema, with_own_names(schema, arguments), Coercion::NullAsAbsent)
}

/// Restores the names of arguments.
pub(super) fn with_own_names(schema: &Schema, arguments: Value) -> Value {
    let names = renamed(schema.as_value());
    if names.is_empty() { arguments } else { restore_names(&names, arguments) }
}

/// Returns true if a schema has names that may have been replaced.
pub(super) fn renames(schema: &Schema) -> bool {
    !renamed(schema.as_value()).is_empty()
}

/// An input schema, in strict mode where that is possible.
pub(super) struct StrictResult {
    pub(super) lowered: Lowered,
    pub(super) is_strict: bool,
    /// The reasons why strict mode was requested but is not possible.
    pub(super) not_strict: Vec<Loss>,
}

/// Returns the value of `field` in a tool that was read from a provider, or else `options`.
pub(super) fn is_requested(tool: &Tool, field: &str, options: bool) -> bool {
    tool.metadata().unknown.get(field).and_then(Value::as_bool).unwrap_or(options)
}

/// Lowers the input schema of `tool` to `strict`, if that dialect is given and expresses everything that the tool
/// accepts, or else to `fallback`. The keys of the result are not sorted.
pub(super) fn lower_strict(tool: &Tool, strict: Option<&Dialect>, fallback: &Dialect) -> StrictResult {
    let normal = normalize(tool.input().as_value(), Side::Input);
    let Some(strict) = strict else {
        let lowered = lower_normal(normal, fallback, Side::Input);
        return StrictResult { lowered, is_strict: false, not_strict: Vec::new() };
    };
    let lowered = lower_normal(normal.clone(), strict, Side::Input);
    if lowered.is_whole() {
        return StrictResult { lowered, is_strict: true, not_strict: Vec::new() };
    }
    let mut not_strict = lowered.losses;
    not_strict.retain(|loss| matches!(loss.effect, Effect::Narrowed | Effect::Rejected));
    let lowered = lower_normal(normal, fallback, Side::Input);
    StrictResult { lowered, is_strict: false, not_strict }
}
