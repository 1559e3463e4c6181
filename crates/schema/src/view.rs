//! A simplified view of a schema, for forms, tables, command lines and other texts about values.
//!
//! A [`View`] follows references and looks through optional values, so that its reader sees one [`Shape`]: a text, a list
//! of views, an object with its fields, and so on. It is a summary: two schemas with the same view may accept different
//! values. A [`Schema`](crate::Schema) validates them.
//!
//! ```
//! use serde_json::json;
//! use toolkit_schema::view::{Shape, View};
//!
//! let schema = json!({
//!     "type": "object",
//!     "properties": {
//!         "to": { "type": "array", "items": { "$ref": "#/$defs/Person" }, "maxItems": 9 },
//!         "mood": { "anyOf": [{ "enum": ["calm", "glad"] }, { "type": "null" }], "default": "calm" },
//!     },
//!     "required": ["to"],
//!     "$defs": { "Person": { "type": "object", "properties": { "name": { "type": "string" } } } },
//! });
//! let Shape::Object(fields) = View::new(&schema).shape() else { panic!("an object") };
//! let texts: Vec<String> = fields.iter().map(|field| format!("{}: {}", field.name, field.view)).collect();
//! assert_eq!(texts, ["to: list of objects", "mood: calm | glad"]);
//!
//! let [to, mood] = &fields[..] else { panic!("two fields") };
//! assert_eq!((mood.is_required, mood.view.default()), (false, Some(&json!("calm"))));
//! assert_eq!((to.is_required, to.view.limits()[0].to_string()), (true, "at most 9 items".to_owned()));
//! # assert!(matches!(to.view.shape(), Shape::List(Some(person)) if person.fields()[0].name == "name"));
//! ```
//!
//! | module | part |
//! |---|---|
//! | `field` | the fields of an object, also of one in several parts or variants |
//! | `limit` | ranges, patterns and other limits |
//! | `description` | a shape in a few words |

mod description;
mod field;
mod limit;

use serde_json::{Map, Value};

pub use self::description::Notation;
pub use self::field::Field;
pub use self::limit::{Limit, is_number_format};
use crate::types::Types;
use crate::walk;

/// The maximum number of consecutive references and optional values.
const MAX_LAYERS: usize = 16;
/// The maximum number of schemas that one question visits, since nested references can grow exponentially.
const MAX_VISITS: usize = 1024;

/// The shape of the values that match a schema, without `null` if the schema also accepts others.
///
/// See [`view`](crate::view) for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Shape<'s> {
    /// Only `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// A number.
    Number,
    /// A string. Its format and its pattern are among the [`limits`](View::limits).
    Text,
    /// One of these values.
    Constants(Vec<Constant<'s>>),
    /// A list of such items, if the schema declares them.
    List(Option<View<'s>>),
    /// A list whose first items have these schemas.
    Tuple(Vec<View<'s>>),
    /// An object with keys of the caller's choice, and such values, if the schema declares them.
    Map(Option<View<'s>>),
    /// An object with these fields.
    Object(Vec<Field<'s>>),
    /// A value of one of these shapes.
    Union(Vec<View<'s>>),
    /// Any value, as far as the schema can be summarized.
    Any,
}

/// A value of an enumeration.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Constant<'s> {
    /// The value.
    pub value: &'s Value,
    /// Its description: that of its branch, or a line of the enumeration's such as ``- `fast`: In a hurry.``
    pub description: Option<&'s str>,
}

/// A schema in its document, merged with the schemas that it refers to.
#[derive(Clone, Debug)]
pub struct View<'s> {
    document: &'s Value,
    /// The schema, then the target of its `$ref` or its only branch other than `null`, and so on.
    layers: Vec<&'s Map<String, Value>>,
    /// The views of a field that several variants declare, which has no layers.
    variants: Vec<Self>,
    accepts_null: bool,
    reference: Option<&'s str>,
    /// One of the types in the list of `type`.
    only: Option<Types>,
}

impl<'s> View<'s> {
    /// Creates the view of a document.
    pub fn new(document: &'s Value) -> Self {
        Self::at(document, document)
    }

    /// Creates the view of a schema in a document.
    pub fn at(document: &'s Value, schema: &'s Value) -> Self {
        let mut view = Self::empty(document);
        let mut next = Some(schema);
        while let Some(Value::Object(layer)) = next.take() {
            let is_cycle = view.layers.iter().any(|other| std::ptr::eq(*other, layer));
            if is_cycle || view.layers.len() == MAX_LAYERS {
                break;
            }
            view.layers.push(layer);
            next = view.next_layer(layer);
        }
        view
    }

    fn empty(document: &'s Value) -> Self {
        Self { document, layers: Vec::new(), variants: Vec::new(), accepts_null: false, reference: None, only: None }
    }

    /// Creates the view of a value that matches one of several views: the first one if all have the same schema.
    fn any_of(document: &'s Value, mut views: Vec<Self>) -> Self {
        let is_one = views.split_first().is_some_and(|(first, rest)| rest.iter().all(|view| view.is_equal(first)));
        match is_one {
            true => views.swap_remove(0),
            false => Self { variants: views, ..Self::empty(document) },
        }
    }

    fn is_equal(&self, other: &Self) -> bool {
        let is_merged = !self.variants.is_empty() || !other.variants.is_empty();
        !is_merged && self.layers == other.layers && self.only == other.only && self.accepts_null == other.accepts_null
    }

    /// Creates the view of a schema in the same document.
    fn inside(&self, schema: &'s Value) -> Self {
        Self::at(self.document, schema)
    }

    /// Returns the target of the reference in `layer`, or its only branch other than `null`.
    fn next_layer(&mut self, layer: &'s Map<String, Value>) -> Option<&'s Value> {
        if let Some(Value::String(reference)) = layer.get("$ref") {
            self.reference = Some(reference);
            return walk::resolve(self.document, reference);
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            let branches = layer.get(keyword).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let mut others = branches.iter().filter(|branch| !is_null(branch));
            if let (Some(branch), None) = (others.next(), others.next()) {
                let is_optional = keyword != "allOf" && branches.len() > 1;
                self.accepts_null |= is_optional && self.declared_types().meets(Types::NULL);
                return Some(branch);
            }
        }
        None
    }

    /// Returns the value of a keyword. One beside a reference takes precedence over that of its target.
    pub fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.layers.iter().find_map(|layer| layer.get(keyword))
    }

    /// Returns the schema that is the value of a keyword, such as `items`.
    pub fn part(&self, keyword: &str) -> Option<Self> {
        self.get(keyword).filter(|schema| schema.is_object()).map(|schema| self.inside(schema))
    }

    /// Returns the schemas in the list of a keyword, except those that only accept `null` and one that is merged into
    /// this view.
    pub fn branches(&self, keyword: &str) -> Vec<Self> {
        let mut all = Vec::new();
        for (idx, layer) in self.layers.iter().enumerate() {
            let merged = self.layers.get(idx + 1);
            let is_merged = |branch: &Value| match (branch.as_object(), merged) {
                (Some(branch), Some(merged)) => std::ptr::eq(branch, *merged),
                _ => false,
            };
            let branches = layer.get(keyword).and_then(Value::as_array).into_iter().flatten();
            let branches = branches.filter(|branch| !is_null(branch) && !is_merged(branch));
            all.extend(branches.map(|branch| self.inside(branch)));
        }
        all
    }

    /// Returns the branches of a choice except `null`, with those of a branch that is only a choice in its place.
    pub fn alternatives(&self) -> Vec<Self> {
        let mut leaves = Vec::new();
        self.add_alternatives(&mut Vec::new(), &mut leaves);
        leaves
    }

    fn add_alternatives(&self, visited: &mut Vec<Self>, leaves: &mut Vec<Self>) {
        visited.push(self.clone());
        for branch in self.variants() {
            let is_choice = branch.declared_types() == Types::ALL && branch.get("properties").is_none();
            match branch.variants().is_empty() || !is_choice {
                true => leaves.push(branch),
                false if !visited.iter().any(|other| other.is_same(&branch)) => {
                    branch.add_alternatives(visited, leaves);
                }
                _ => {}
            }
        }
    }

    /// Returns the direct branches of a choice.
    fn variants(&self) -> Vec<Self> {
        let branches = ["anyOf", "oneOf"].into_iter().flat_map(|keyword| self.branches(keyword));
        self.variants.iter().cloned().chain(branches).collect()
    }

    /// Returns true if both are the same schema object, as in a recursive type.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self.layers.last(), other.layers.last()) {
            (Some(one), Some(other)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }

    /// Returns the last reference that was followed.
    pub fn reference(&self) -> Option<&'s str> {
        self.reference
    }

    /// Returns true if the value may be `null` instead of its shape.
    pub fn accepts_null(&self) -> bool {
        let is_listed = || match (self.get("type"), self.get("enum")) {
            (Some(Value::Array(_)), None) => self.declared_types().meets(Types::NULL),
            (_, Some(Value::Array(values))) => values.len() > 1 && values.contains(&Value::Null),
            _ => false,
        };
        self.accepts_null || (self.only.is_none() && is_listed()) || self.variants.iter().any(Self::accepts_null)
    }

    /// Returns the description by the author, without the descriptions of single constants.
    pub fn description(&self) -> Option<&'s str> {
        let Some(text) = self.get("description").and_then(Value::as_str) else {
            return self.variants.iter().find_map(Self::description);
        };
        let first_value = match self.get("enum") {
            Some(_) if text.starts_with("- `") => Some(0),
            Some(_) => text.find("\n- `"),
            None => None,
        };
        let text = text[..first_value.unwrap_or(text.len())].trim_end();
        (!text.is_empty()).then_some(text)
    }

    /// Returns the default.
    pub fn default(&self) -> Option<&'s Value> {
        self.get("default").or_else(|| self.variants.iter().find_map(Self::default))
    }

    /// Returns the types of all layers.
    pub(crate) fn declared_types(&self) -> Types {
        let declared = self.layers.iter().filter_map(|layer| layer.get("type")).map(Types::named);
        declared.fold(self.only.unwrap_or(Types::ALL), Types::and)
    }

    /// Returns the types of the values that the schema lists.
    fn listed_types(&self) -> Types {
        let values = self.layers.iter().find_map(|layer| listed(layer));
        values.map_or(Types::ALL, |values| values.into_iter().map(Types::from_value).fold(Types::NONE, Types::or))
    }

    /// Returns the types of the values, including those of `null`; [`Types::ALL`] if nothing declares them.
    pub fn types(&self) -> Types {
        self.types_within(&mut 0)
    }

    fn types_within(&self, n_visits: &mut usize) -> Types {
        *n_visits += 1;
        if *n_visits > MAX_VISITS {
            return Types::ALL;
        }
        let any = |views: Vec<Self>, n_visits: &mut usize| match views.is_empty() {
            true => Types::ALL,
            false => views.iter().map(|view| view.types_within(n_visits)).fold(Types::NONE, Types::or),
        };
        let mut types = self.declared_types().and(any(self.variants.clone(), n_visits));
        for keyword in ["anyOf", "oneOf"] {
            let listed = self.layers.iter().filter_map(|layer| layer.get(keyword)?.as_array());
            let has_null = listed.flatten().any(is_null);
            let branches = any(self.branches(keyword), n_visits);
            types = types.and(if has_null { branches.or(Types::NULL) } else { branches });
        }
        for part in self.branches("allOf") {
            types = types.and(part.types_within(n_visits));
        }
        types = types.and(self.listed_types());
        if self.accepts_null { types.or(Types::NULL) } else { types }
    }

    /// Returns the limits of the values. Ranges and formats of the integer types are none, such as `uint32`.
    pub fn limits(&self) -> Vec<Limit<'s>> {
        limit::limits(self)
    }

    /// Returns the fields that the schema itself declares, in the order of the document.
    pub fn declared_fields(&self) -> Vec<Field<'s>> {
        field::declared_fields(self)
    }

    /// Returns the fields of the schema, of the parts of an `allOf` and of all alternatives, in the order of the
    /// document. Those that are required but declared nowhere are last.
    pub fn fields(&self) -> Vec<Field<'s>> {
        field::fields(self)
    }

    /// Describes the shape in a few words, without `null`.
    pub fn describe(&self, notation: &impl Notation) -> String {
        description::describe(self, notation)
    }

    /// Returns the shape of the values.
    pub fn shape(&self) -> Shape<'s> {
        let alternatives = self.alternatives();
        if let Some(constants) = self.constants(&alternatives) {
            return Shape::Constants(constants);
        }
        let has_constants = alternatives.iter().any(|view| view.own_constants().is_some());
        let branches = alternatives.iter().map(Self::shape_types).reduce(Types::or);
        let types = self.own_types().and(branches.unwrap_or(Types::ALL));
        match if types == Types::NULL { types } else { types.without(Types::NULL) } {
            Types::OBJECT => self.object(),
            types if types.is_empty() || types == Types::ALL.without(Types::NULL) => Shape::Any,
            _ if has_constants => Shape::Union(alternatives),
            Types::NULL => Shape::Null,
            Types::BOOLEAN => Shape::Boolean,
            Types::INTEGER => Shape::Integer,
            Types::NUMBER => Shape::Number,
            Types::STRING => Shape::Text,
            _ if !alternatives.is_empty() => Shape::Union(alternatives),
            Types::ARRAY => self.array(),
            types => {
                let all = [Types::OBJECT, Types::ARRAY, Types::STRING, Types::NUMBER, Types::BOOLEAN];
                let declared = all.into_iter().map(|one| one.and(types)).filter(|one| !one.is_empty());
                Shape::Union(declared.map(|only| Self { only: Some(only), ..self.clone() }).collect())
            }
        }
    }

    /// Returns the types that the schema itself declares or lists. One that only declares properties means objects.
    fn own_types(&self) -> Types {
        match self.declared_types().and(self.listed_types()) {
            Types::ALL if self.get("properties").is_some() => Types::OBJECT,
            types => types,
        }
    }

    /// Returns the types of an alternative.
    fn shape_types(&self) -> Types {
        match self.types() {
            Types::ALL => self.own_types(),
            types => types,
        }
    }

    fn object(&self) -> Shape<'s> {
        match self.fields() {
            fields if fields.is_empty() => Shape::Map(self.part("additionalProperties")),
            fields => Shape::Object(fields),
        }
    }

    fn array(&self) -> Shape<'s> {
        match self.get("prefixItems").and_then(Value::as_array) {
            Some(items) => Shape::Tuple(items.iter().map(|item| self.inside(item)).collect()),
            None => Shape::List(self.part("items")),
        }
    }

    /// Returns the values, without `null`, if the schema or all of its alternatives list them.
    fn constants(&self, alternatives: &[Self]) -> Option<Vec<Constant<'s>>> {
        let listed = match self.own_constants() {
            None if !alternatives.is_empty() => {
                alternatives.iter().map(Self::own_constants).collect::<Option<Vec<_>>>()?.concat()
            }
            own => own?,
        };
        let mut distinct: Vec<Constant<'s>> = Vec::new();
        for constant in listed {
            if distinct.iter().all(|other| other.value != constant.value) {
                distinct.push(constant);
            }
        }
        (!distinct.is_empty()).then_some(distinct)
    }

    fn own_constants(&self) -> Option<Vec<Constant<'s>>> {
        let (layer, values) = self.layers.iter().find_map(|layer| Some((layer, listed(layer)?)))?;
        let description = |value: &Value| match layer.contains_key("const") {
            true => self.description(),
            false => self.description_of(value.as_str()?),
        };
        let values = values.into_iter().filter(|value| !value.is_null());
        Some(values.map(|value| Constant { value, description: description(value) }).collect())
    }

    /// Returns the description of an enum value: a line of the description such as ``- `fast`: In a hurry.``
    fn description_of(&self, value: &str) -> Option<&'s str> {
        let texts = self.layers.iter().filter_map(|layer| layer.get("description")?.as_str());
        let mut lines = texts.flat_map(str::lines);
        lines.find_map(|line| line.strip_prefix("- `")?.strip_prefix(value)?.strip_prefix("`: "))
    }
}

/// Returns the values of `const` or `enum`.
pub fn listed(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(constant), _) => Some(vec![constant]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        (None, _) => None,
    }
}

/// Returns true if a schema accepts only `null`.
fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|ty| ty == "null") || schema.get("const").is_some_and(Value::is_null)
}
