//! The shapes of values, and the constants among them.

use serde_json::Value;

use super::{Field, View, listed};
use crate::types::Types;

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

impl<'s> View<'s> {
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
