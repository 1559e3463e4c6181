//! Kinds of values, and the properties of objects.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Shape;

/// The kind of a value.
#[derive(Clone, Debug)]
pub(crate) enum Kind<'s> {
    Boolean,
    Integer,
    Number,
    Text,
    /// One of these strings.
    Choice(Vec<Choice<'s>>),
    List(Shape<'s>),
    /// An object whose properties are known.
    Object(Vec<Property<'s>>),
    /// An object with keys of the caller's choice.
    Map(Option<Shape<'s>>),
    /// Any other value, with its JSON types; empty if all types are allowed.
    Any(Vec<&'s str>),
}

/// A string of an enumeration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice<'s> {
    pub(crate) value: &'s str,
    pub(crate) description: Option<&'s str>,
}

/// A property of an object.
#[derive(Clone, Debug)]
pub(crate) struct Property<'s> {
    pub(crate) name: &'s str,
    pub(crate) required: bool,
    /// One shape, or one for each variant that declares the property.
    shapes: Vec<Shape<'s>>,
}

impl<'s> Shape<'s> {
    /// Returns the kind of a value.
    pub(crate) fn kind(&self) -> Kind<'s> {
        if let Some(choices) = self.choices() {
            return Kind::Choice(choices);
        }
        let types = self.types();
        match types[..] {
            ["boolean"] => Kind::Boolean,
            ["integer"] => Kind::Integer,
            ["number"] => Kind::Number,
            ["string"] => Kind::Text,
            ["array"] => match self.get("items") {
                Some(items @ Value::Object(_)) if self.get("prefixItems").is_none() => {
                    Kind::List(Self::within(self.root, items))
                }
                _ => Kind::Any(types),
            },
            ["object"] => match properties(self) {
                properties if properties.is_empty() => Kind::Map(self.values_of_map()),
                properties => Kind::Object(properties),
            },
            // Several branches, as in an enum.
            [] => match &self.types_of_branches()[..] {
                ["object"] => Kind::Object(properties(self)),
                types => Kind::Any(types.to_vec()),
            },
            _ => Kind::Any(types),
        }
    }

    /// Returns the types of the branches; empty if one of them allows any type.
    fn types_of_branches(&self) -> Vec<&'s str> {
        let mut types = Vec::new();
        for branch in self.branches(&["anyOf", "oneOf"]) {
            match branch.types() {
                named if named.is_empty() => return Vec::new(),
                named => types.extend(named),
            }
        }
        types.sort_unstable();
        types.dedup();
        types
    }

    /// Returns the strings of an enumeration.
    fn choices(&self) -> Option<Vec<Choice<'s>>> {
        let choice = |value: &'s Value| {
            let description = self.description();
            value.as_str().map(|value| Choice { value, description })
        };
        if let Some(value) = self.get("const") {
            return choice(value).map(|choice| vec![choice]);
        }
        if let Some(Value::Array(values)) = self.get("enum") {
            let listed = |value: &'s Value| {
                let value = value.as_str()?;
                let description = self.description_of(value);
                Some(Choice { value, description })
            };
            let values = values.iter().filter(|value| !value.is_null());
            return values.map(listed).collect();
        }
        let branches = self.branches(&["oneOf", "anyOf"]);
        if branches.is_empty() {
            return None;
        }
        let choices: Option<Vec<Vec<Choice<'_>>>> = branches.iter().map(Self::choices).collect();
        choices.map(|choices| choices.concat())
    }

    fn values_of_map(&self) -> Option<Self> {
        let values = self.get("additionalProperties")?;
        values.is_object().then(|| Self::within(self.root, values))
    }
}

impl<'s> Property<'s> {
    /// Returns the kind of a value, or `Any` if variants have different kinds.
    pub(crate) fn kind(&self) -> Kind<'s> {
        let mut kinds = self.shapes.iter().map(Shape::kind);
        let first = kinds.next().unwrap_or(Kind::Any(Vec::new()));
        kinds.fold(first, |all, one| match (all, one) {
            // The tag of an enum has one value in each variant.
            (Kind::Choice(mut all), Kind::Choice(one)) => {
                all.extend(one);
                Kind::Choice(all.into_iter().fold(Vec::new(), with_choice))
            }
            (Kind::Boolean, Kind::Boolean) => Kind::Boolean,
            (Kind::Integer, Kind::Integer) => Kind::Integer,
            (Kind::Number, Kind::Number) => Kind::Number,
            (Kind::Text, Kind::Text) => Kind::Text,
            _ => Kind::Any(Vec::new()),
        })
    }

    /// Returns the description by the author.
    pub(crate) fn description(&self) -> Option<&'s str> {
        self.shapes.iter().find_map(Shape::description)
    }

    /// Returns the default of the schema in the form of a flag; `None` for `null`.
    pub(crate) fn default(&self) -> Option<String> {
        match self.shapes.iter().find_map(|shape| shape.get("default"))? {
            Value::Null => None,
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            value => Some(value.to_string()),
        }
    }

    /// Returns true if the property may be `null`.
    pub(crate) fn is_nullable(&self) -> bool {
        self.shapes.iter().any(Shape::is_nullable)
    }

    /// Returns the shape, if there is only one.
    pub(crate) fn shape(&self) -> Option<&Shape<'s>> {
        match &self.shapes[..] {
            [shape] => Some(shape),
            _ => None,
        }
    }
}

fn with_choice<'s>(mut choices: Vec<Choice<'s>>, choice: Choice<'s>) -> Vec<Choice<'s>> {
    if choices.iter().all(|other| other.value != choice.value) {
        choices.push(choice);
    }
    choices
}

/// Returns the properties of `shape`, required ones first.
fn properties<'s>(shape: &Shape<'s>) -> Vec<Property<'s>> {
    let Collected { shapes, required } = collect(shape, 0);
    let properties =
        shapes.into_iter().map(|(name, shapes)| Property { name, required: required.contains(name), shapes });
    let mut properties: Vec<Property<'s>> = properties.collect();
    properties.sort_by_key(|property| !property.required);
    properties
}

/// The properties of an object, including those of composed schemas, by name, each with its shape in every schema that
/// declares it.
#[derive(Default)]
struct Collected<'s> {
    shapes: BTreeMap<&'s str, Vec<Shape<'s>>>,
    required: BTreeSet<&'s str>,
}

/// Collects the properties of a schema and of its composed schemas.
fn collect<'s>(shape: &Shape<'s>, depth: usize) -> Collected<'s> {
    /// The maximum depth of composition, which may be cyclic.
    const MAX_DEPTH: usize = 8;

    let mut all = Collected::default();
    if depth > MAX_DEPTH {
        return all;
    }
    for layer in &shape.layers {
        for (name, schema) in layer.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let shapes = all.shapes.entry(name).or_default();
            shapes.push(Shape::within(shape.root, schema));
        }
        let required = layer.get("required").and_then(Value::as_array);
        all.required.extend(required.into_iter().flatten().filter_map(Value::as_str));
    }
    for part in shape.branches(&["allOf"]) {
        let part = collect(&part, depth + 1);
        all.required.extend(&part.required);
        all.add(part);
    }
    let variants = shape.branches(&["oneOf", "anyOf"]).into_iter();
    let variants: Vec<Collected<'s>> = variants.map(|variant| collect(&variant, depth + 1)).collect();
    if let [first, rest @ ..] = &variants[..] {
        let in_all = |name: &&&str| rest.iter().all(|variant| variant.required.contains(**name));
        all.required.extend(first.required.iter().filter(in_all));
    }
    for variant in variants {
        all.add(variant);
    }
    all
}

impl<'s> Collected<'s> {
    fn add(&mut self, other: Self) {
        for (name, shapes) in other.shapes {
            self.shapes.entry(name).or_default().extend(shapes);
        }
    }
}
