//! A schema in the words of a dialect, and what is lost on the way.
//!
//! Every step keeps what the schema means, says it more narrowly, or reports a [`Loss`]. So what the lowered schema
//! accepts, the original accepts too, once [`restore`] has taken out the nulls that stand for absent arguments; or a
//! loss says that it may not.

mod apart;
mod bounds;
mod choice;
mod closed;
mod join;
mod legacy;
mod limits;
mod list;
mod normal;
mod nullable;
mod object;
mod one_object;
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

/// A schema in the words of a dialect.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Lowered {
    /// The schema.
    pub schema: Value,
    /// What is lost.
    pub losses: Vec<Loss>,
}

impl Lowered {
    /// Whether it can say all that the original accepts, so that a model held to it loses nothing.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.losses.iter().all(|loss| loss.effect != Effect::Narrowed)
    }
}

/// Rewrites `schema` into `dialect`.
///
/// ```
/// # use serde_json::json;
/// # use toolkit::adapter::{Dialect, Side, lower};
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
        lowering.lose(&at, keyword, Effect::Untold, "is not said; references lead to definitions");
    }
    let mut schema = lowering.root(written_out);
    // What led back to itself may do so no longer.
    inline::inline(&mut schema);
    lowering.check_limits(&schema);
    schema.sort_all_objects();
    Lowered { schema, losses: lowering.losses }
}

/// One schema on its way.
///
/// Each step returns `None` for a schema that no value fits, where the dialect cannot say so: what contains it says so in
/// its own way, by a property that is refused or a branch that is left out.
struct Lowering<'d> {
    dialect: &'d Dialect,
    side: Side,
    /// References cannot be followed by their pointers.
    is_opaque: bool,
    n_lost_references: usize,
    losses: Vec<Loss>,
}

type Keywords = Map<String, Value>;

impl Lowering<'_> {
    fn lose(&mut self, at: &str, keyword: &str, effect: Effect, reason: impl Into<String>) {
        let (side, pointer, keyword) = (self.side, at.to_owned(), keyword.to_owned());
        self.losses.push(Loss { side, pointer, keyword, effect, reason: reason.into() });
    }

    /// Lowers one subschema and all below it.
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
            self.lose(at, "nullable", Effect::Widened, "is read here; JSON Schema does not know it and refuses null");
        }
        let n_lost_before = self.n_lost_references;
        self.lower_unevaluated(&mut keywords, at);
        self.lower_all_of(&mut keywords, at)?;
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
