//! The state of a conversion, and the order of its passes.

use serde_json::{Map, Value, json};

use crate::dialect::Dialect;
use crate::loss::{Effect, Loss, Side};

pub(super) type Keywords = Map<String, Value>;

/// The state of a conversion.
///
/// Each step returns `None` for a schema that accepts no value, if the dialect cannot express that. The surrounding
/// schema then expresses it, by rejecting a property or removing a branch.
pub(super) struct Lowering<'d> {
    pub(super) dialect: &'d Dialect,
    pub(super) side: Side,
    /// A nested `$id` changes the base of references, so that they cannot be resolved by their pointers.
    pub(super) is_opaque: bool,
    pub(super) n_lost_references: usize,
    pub(super) losses: Vec<Loss>,
}

impl Lowering<'_> {
    /// Records a loss.
    pub(super) fn report(&mut self, at: &str, keyword: &str, effect: Effect, reason: impl Into<String>) {
        let (side, pointer, keyword) = (self.side, at.to_owned(), keyword.to_owned());
        self.losses.push(Loss { side, pointer, keyword, effect, reason: reason.into() });
    }

    /// Lowers a subschema and its subschemas.
    pub(super) fn schema(&mut self, schema: Value, at: &str) -> Option<Value> {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => Map::from_iter([("not".to_owned(), json!({}))]),
            _ => Map::new(),
        };
        self.keywords(keywords, at).map(Value::Object)
    }

    /// Lowers the keywords of a schema in one pass for each group of keywords. The passes call [`Lowering::schema`] for
    /// subschemas.
    pub(super) fn keywords(&mut self, mut keywords: Keywords, at: &str) -> Option<Keywords> {
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
        self.lower_unevaluated_items(&mut keywords, at);
        self.lower_all_of(&mut keywords, at)?;
        // The parts of `allOf`, such as the target of a reference, may have been merged. A part with a lost reference could
        // declare any property.
        if self.n_lost_references == n_lost_before {
            self.lower_unevaluated(&mut keywords, at);
        }
        self.lower_unevaluated_items(&mut keywords, at);
        let is_dynamic = keywords.contains_key("$dynamicRef") && !self.follows_references();
        if keywords.contains_key("$ref") || is_dynamic {
            self.remove_rejected(&mut keywords, at);
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
        self.lower_to_rules(&mut keywords, at);
        Some(keywords)
    }
}
