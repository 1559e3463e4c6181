//! The fields of an object, also of one in several parts or variants.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{MAX_VISITS, View};

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

impl<'s> View<'s> {
    /// Returns the fields that the schema itself declares, in the order of the document.
    pub fn declared_fields(&self) -> Vec<Field<'s>> {
        self.declared().into_fields(self.document)
    }

    /// Returns the fields of the schema, of the parts of an `allOf` and of all alternatives, in the order of the
    /// document. Those that are required but declared nowhere are last.
    pub fn fields(&self) -> Vec<Field<'s>> {
        let mut all = self.collect(&mut 0);
        for name in all.required.clone() {
            all.add(name, Vec::new());
        }
        all.into_fields(self.document)
    }

    fn declared(&self) -> Collected<'s> {
        let mut declared = Collected::default();
        for layer in &self.layers {
            for (name, schema) in layer.get("properties").and_then(Value::as_object).into_iter().flatten() {
                declared.add(name, vec![self.inside(schema)]);
            }
            let required = layer.get("required").and_then(Value::as_array);
            declared.required.extend(required.into_iter().flatten().filter_map(Value::as_str));
        }
        declared
    }

    fn collect(&self, n_visits: &mut usize) -> Collected<'s> {
        *n_visits += 1;
        if *n_visits > MAX_VISITS {
            return Collected::default();
        }
        let mut all = self.declared();
        for part in self.branches("allOf") {
            let part = part.collect(n_visits);
            all.required.extend(&part.required);
            all.extend(part);
        }
        let variants: Vec<Collected<'s>> = self.variants().iter().map(|variant| variant.collect(n_visits)).collect();
        if let [first, rest @ ..] = &variants[..] {
            let in_all = |name: &&&str| rest.iter().all(|variant| variant.required.contains(**name));
            all.required.extend(first.required.iter().filter(in_all));
        }
        variants.into_iter().for_each(|variant| all.extend(variant));
        all
    }
}

impl<'s> Collected<'s> {
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
