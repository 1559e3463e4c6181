//! The properties of an object, including those of composed schemas.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Shape;

/// The properties of an object by name, each with its shape in every schema that declares it.
#[derive(Default)]
pub(super) struct Collected<'s> {
    pub(super) shapes: BTreeMap<&'s str, Vec<Shape<'s>>>,
    pub(super) required: BTreeSet<&'s str>,
}

/// Collects the properties of a schema and of its composed schemas.
pub(super) fn collect<'s>(shape: &Shape<'s>, depth: usize) -> Collected<'s> {
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
