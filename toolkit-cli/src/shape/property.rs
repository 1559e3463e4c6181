//! The properties of an object, through composition.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Choice, Kind, Shape};

/// A property of an object.
#[derive(Clone, Debug)]
pub(crate) struct Property<'s> {
    pub(crate) name: &'s str,
    pub(crate) required: bool,
    /// One shape, or one from each variant that has a property of this name.
    shapes: Vec<Shape<'s>>,
}

impl<'s> Property<'s> {
    /// What a value is made of; where variants disagree, anything.
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

    /// What the author says about it.
    pub(crate) fn description(&self) -> Option<&'s str> {
        self.shapes.iter().find_map(Shape::description)
    }

    /// What it is when it is absent, where the schema says so, as a flag would say it; that it is `null` then goes
    /// without saying.
    pub(crate) fn default(&self) -> Option<String> {
        match self.shapes.iter().find_map(|shape| shape.get("default"))? {
            Value::Null => None,
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            value => Some(value.to_string()),
        }
    }

    /// Whether it may be `null`.
    pub(crate) fn is_nullable(&self) -> bool {
        self.shapes.iter().any(Shape::is_nullable)
    }

    /// Its shape, where all variants agree.
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

#[derive(Default)]
struct Collected<'s> {
    shapes: BTreeMap<&'s str, Vec<Shape<'s>>>,
    required: BTreeSet<&'s str>,
}

/// The properties of `shape`, those that are required first.
pub(super) fn of<'s>(shape: &Shape<'s>) -> Vec<Property<'s>> {
    let Collected { shapes, required } = collect(shape, 0);
    let properties =
        shapes.into_iter().map(|(name, shapes)| Property { name, required: required.contains(name), shapes });
    let mut properties: Vec<Property<'s>> = properties.collect();
    properties.sort_by_key(|property| !property.required);
    properties
}

fn collect<'s>(shape: &Shape<'s>, depth: usize) -> Collected<'s> {
    /// Composition within composition; more than this is a circle.
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
