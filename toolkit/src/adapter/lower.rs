//! A schema in the words of a dialect, and what is lost on the way.
//!
//! Every step keeps what the schema means, says it more narrowly, or reports a [`Loss`]. So what the lowered schema
//! accepts, the original accepts too, once [`restore`] has taken out the nulls that stand for absent arguments; or a
//! loss says that it may not.

mod bounds;
mod choice;
mod limits;
mod object;
mod restore;
mod root;
mod types;

use serde_json::{Map, Value, json};

pub use self::restore::restore;
use super::dialect::Dialect;
use super::loss::{Effect, Loss, Side};
use crate::schema::{child, inline, walk};

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
/// assert_eq!(strict.losses[0].to_string(), "input /properties/n: `minimum` is said in the description");
/// ```
#[must_use]
pub fn lower(schema: &Value, dialect: &Dialect, side: Side) -> Lowered {
    let mut written_out = schema.clone();
    inline::inline(&mut written_out);
    let mut lowering = Lowering { dialect, side, losses: Vec::new() };
    let mut schema = lowering.root(written_out);
    lowering.check_references(&mut schema);
    // What led back to itself may do so no longer.
    inline::inline(&mut schema);
    lowering.check_limits(&schema);
    schema.sort_all_objects();
    Lowered { schema, losses: lowering.losses }
}

/// One schema on its way.
struct Lowering<'d> {
    dialect: &'d Dialect,
    side: Side,
    losses: Vec<Loss>,
}

type Keywords = Map<String, Value>;

impl Lowering<'_> {
    fn lose(&mut self, at: &str, keyword: &str, effect: Effect, reason: impl Into<String>) {
        let (side, pointer, keyword) = (self.side, at.to_owned(), keyword.to_owned());
        self.losses.push(Loss { side, pointer, keyword, effect, reason: reason.into() });
    }

    /// Where references are not followed, none may be left in a condition that was kept as it is.
    fn check_references(&mut self, schema: &mut Value) {
        let follows = self.dialect.recursion && self.dialect.reads("$ref");
        if !follows && refers(schema) {
            self.lose("", "$ref", Effect::Narrowed, "leads back to itself within a condition, which cannot be said");
            *schema = json!({ "type": "object", "properties": {} });
        }
    }

    /// One subschema and all below it.
    fn schema(&mut self, schema: Value, at: &str) -> Value {
        match schema {
            Value::Object(keywords) => self.keywords(keywords, at).into(),
            Value::Bool(false) => self.keywords(Map::from_iter([("not".to_owned(), json!({}))]), at).into(),
            _ => self.keywords(Map::new(), at).into(),
        }
    }

    fn keywords(&mut self, mut keywords: Keywords, at: &str) -> Keywords {
        self.say_joins(&mut keywords, at);
        if keywords.contains_key("$ref") {
            return self.reference(keywords, at);
        }
        self.say_choices(&mut keywords, at);
        self.say_constant(&mut keywords);
        self.say_types(&mut keywords, at);
        self.say_objects(&mut keywords, at);
        self.say_lists(&mut keywords, at);
        self.say_the_rest(&mut keywords, at);
        self.say_null(&mut keywords, at);
        keywords
    }

    /// A reference that is still there leads back to where it stands.
    fn reference(&mut self, keywords: Keywords, at: &str) -> Keywords {
        if self.dialect.recursion && self.dialect.reads("$ref") {
            return if self.dialect.bare_references { self.bare(keywords, at) } else { keywords };
        }
        let described = keywords.into_iter().filter(|(keyword, _)| keyword == "description").collect();
        if !self.dialect.untyped {
            self.lose(at, "$ref", Effect::Narrowed, "leads back to itself, which cannot be said");
            return self.keywords(described, at);
        }
        self.lose(at, "$ref", Effect::Widened, "leads back to itself, which cannot be said; anything may stand there");
        described
    }

    fn bare(&mut self, mut keywords: Keywords, at: &str) -> Keywords {
        let beside = types::take(&mut keywords, |keyword| keyword != "$ref");
        for keyword in beside.keys() {
            let effect = if walk::is_annotation(keyword) { Effect::Untold } else { Effect::Widened };
            self.lose(at, keyword, effect, "cannot stand beside a reference");
        }
        keywords
    }

    fn say_lists(&mut self, keywords: &mut Keywords, at: &str) {
        match keywords.remove("prefixItems") {
            Some(Value::Array(places)) => self.say_places(keywords, places, at),
            _ => self.say_items(keywords, at),
        }
        if let Some(most) = self.dialect.max_min_items
            && let Some(wanted) = keywords.get("minItems").and_then(Value::as_u64)
            && wanted > most
        {
            self.describe(keywords, "minItems");
            self.lose(at, "minItems", Effect::Widened, format!("of more than {most} is said in the description"));
            keywords.insert("minItems".to_owned(), most.into());
        }
    }

    fn say_items(&mut self, keywords: &mut Keywords, at: &str) {
        if let Some(items) = keywords.remove("items") {
            let items = self.schema(items, &child(at, "items"));
            keywords.insert("items".to_owned(), items);
        }
    }

    fn say_places(&mut self, keywords: &mut Keywords, places: Vec<Value>, at: &str) {
        let at_places = child(at, "prefixItems");
        let places = places.into_iter().enumerate();
        let places: Vec<Value> =
            places.map(|(idx, place)| self.schema(place, &child(&at_places, &idx.to_string()))).collect();
        if !self.dialect.reads("prefixItems") {
            self.say_places_as_a_choice(keywords, places, at);
            return;
        }
        keywords.insert("prefixItems".to_owned(), places.into());
        // Nothing may follow the places: that is how a tuple is closed, and no schema of an item.
        if keywords.get("items") != Some(&Value::Bool(false)) {
            self.say_items(keywords, at);
        }
    }

    /// Each place of a tuple has a schema of its own; a list has one for all.
    fn say_places_as_a_choice(&mut self, keywords: &mut Keywords, mut places: Vec<Value>, at: &str) {
        let closed = matches!(keywords.remove("items"), Some(Value::Bool(false)));
        let ends = keywords.get("maxItems").and_then(Value::as_u64).is_some_and(|most| most <= places.len() as u64);
        let all_alike = places.windows(2).all(|pair| pair[0] == pair[1]);
        if !(closed || ends) {
            self.lose(at, "prefixItems", Effect::Widened, "cannot be said; any item may stand anywhere");
            return;
        }
        if closed {
            let n_places = places.len();
            let most = keywords.entry("maxItems").or_insert_with(|| n_places.into());
            if most.as_u64().is_some_and(|most| most > n_places as u64) {
                *most = n_places.into();
            }
        }
        if !all_alike {
            self.lose(at, "prefixItems", Effect::Widened, "cannot be said; each item may stand in any place");
        }
        places.dedup();
        let items = match places.len() {
            1 => places.remove(0),
            _ => json!({ "anyOf": places }),
        };
        keywords.insert("items".to_owned(), items);
    }
}

fn refers(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    let mut found = keywords.contains_key("$ref");
    walk::each(keywords, |_, sub| found |= refers(sub));
    found
}
