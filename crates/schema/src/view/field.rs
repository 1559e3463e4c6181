//! The fields of an object, also of one in several parts or variants.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{MAX_VISITS, View};
use crate::walk;

/// A field of an object.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Field<'s> {
    /// The name.
    pub name: &'s str,
    /// Its values: those of each variant that declares the field.
    pub view: View<'s>,
    /// True if every value has the field.
    pub is_required: bool,
}

/// The fields of a schema and of its composed schemas, in their order, each with its view in every schema that declares
/// it.
#[derive(Default)]
struct Collected<'s> {
    names: Vec<&'s str>,
    views: BTreeMap<&'s str, Vec<View<'s>>>,
    required: BTreeSet<&'s str>,
}

/// Returns the fields that the schema itself declares.
pub(super) fn declared_fields<'s>(view: &View<'s>) -> Vec<Field<'s>> {
    Collected::declared(view).into_fields(view.document)
}

/// Returns the fields of the schema, of its parts and of all alternatives.
pub(super) fn fields<'s>(view: &View<'s>) -> Vec<Field<'s>> {
    let mut all = Collected::of(view, &mut 0);
    for name in all.required.clone() {
        all.add(name, Vec::new());
    }
    all.into_fields(view.document)
}

impl<'s> Collected<'s> {
    fn declared(view: &View<'s>) -> Self {
        let mut declared = Self::default();
        for layer in &view.layers {
            for (name, schema) in layer.get("properties").and_then(Value::as_object).into_iter().flatten() {
                declared.add(name, vec![view.inside(schema)]);
            }
            declared.required.extend(walk::required(layer));
        }
        declared
    }

    fn of(view: &View<'s>, n_visits: &mut usize) -> Self {
        *n_visits += 1;
        if *n_visits > MAX_VISITS {
            return Self::default();
        }
        let mut all = Self::declared(view);
        for part in view.branches("allOf") {
            let part = Self::of(&part, n_visits);
            all.required.extend(&part.required);
            all.extend(part);
        }
        let variants: Vec<Self> = view.variants().iter().map(|variant| Self::of(variant, n_visits)).collect();
        if let [first, rest @ ..] = &variants[..] {
            let in_all = |name: &&&str| rest.iter().all(|variant| variant.required.contains(**name));
            all.required.extend(first.required.iter().filter(in_all));
        }
        variants.into_iter().for_each(|variant| all.extend(variant));
        all
    }

    fn add(&mut self, name: &'s str, views: Vec<View<'s>>) {
        let known = self.views.entry(name).or_insert_with(|| {
            self.names.push(name);
            Vec::new()
        });
        known.extend(views);
    }

    /// Adds the views of other fields.
    fn extend(&mut self, mut other: Self) {
        for name in other.names {
            self.add(name, other.views.remove(name).unwrap_or_default());
        }
    }

    fn into_fields(mut self, document: &'s Value) -> Vec<Field<'s>> {
        let field = |name| {
            let view = View::any_of(document, self.views.remove(name).unwrap_or_default());
            Field { name, view, is_required: self.required.contains(name) }
        };
        self.names.into_iter().map(field).collect()
    }
}
