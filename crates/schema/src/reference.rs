//! Resolution of references within a document.

#[cfg(feature = "jsonschema")]
mod names;

use serde_json::Value;

pub(super) use self::names::Base;
use self::names::SchemaNames;
use super::dialect::Dialect;
use super::error::{SchemaDiagnostic, SchemaErrorKind};
use super::excerpt::quoted;
use super::suggest::did_you_mean;
use super::walk;

/// The references of a document.
pub(super) struct References<'s> {
    root: &'s Value,
    dialect: Dialect,
    /// Present if the document names its schemas. References by pointer need no table of names.
    names: Option<SchemaNames<'s>>,
}

pub(super) enum ResolvedReference<'s> {
    Schema(&'s Value, Base),
    /// The meta-schema of the document's dialect, which is always available.
    MetaSchema,
}

/// The reason why a reference does not resolve.
pub(super) enum Unresolved {
    Leaves,
    Nowhere,
    NoSchema,
    #[cfg_attr(not(feature = "jsonschema"), expect(dead_code, reason = "without names, references are pointers"))]
    NoReference,
}

impl<'s> References<'s> {
    /// Indexes the names of a document.
    ///
    /// # Errors
    ///
    /// Returns the defect of names that are not URIs or not unique.
    pub(super) fn new(root: &'s Value, dialect: Dialect, is_named: bool) -> Result<Self, SchemaDiagnostic> {
        let names = is_named.then(|| SchemaNames::new(root, dialect)).transpose().map_err(|message| {
            let message = format!("invalid identifier: {}", quoted(&message));
            SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, "", message)
        })?;
        Ok(Self { root, dialect, names })
    }

    pub(super) fn root(&self) -> Base {
        self.names.as_ref().and_then(SchemaNames::root)
    }

    /// Returns the base URI for references inside `schema`, if it sets one by `$id`.
    pub(super) fn base_of(&self, base: &Base, schema: &Value) -> Option<Result<Base, String>> {
        let (names, base) = (self.names.as_ref()?, base.as_ref()?);
        schema.get("$id")?.as_str()?;
        Some(names.base_of(base, self.dialect, schema).map(Some))
    }

    /// Returns the keywords that name `schema`, and the resolved names.
    pub(super) fn names(&self, base: &Base, schema: &Value) -> Vec<(&'static str, String)> {
        let (Some(_), Some(base)) = (&self.names, base) else {
            return Vec::new();
        };
        let base = base.as_str().trim_end_matches('#');
        let text = |keyword| schema.get(keyword).and_then(Value::as_str);
        let mut names = Vec::new();
        match (self.dialect, text("$id")) {
            // Draft-07 declares anchors by `$id`, and ignores the keywords beside a `$ref`.
            (Dialect::Draft7, Some(anchor)) if anchor.starts_with('#') => {
                names.push(("$id", format!("{base}{anchor}")))
            }
            (Dialect::Draft7, Some(_)) if text("$ref").is_some() => {}
            (_, Some(_)) => names.push(("$id", base.to_owned())),
            (_, None) => {}
        }
        if self.dialect == Dialect::Draft202012 {
            let (anchor, dynamic) = (text("$anchor"), text("$dynamicAnchor"));
            names.extend(anchor.map(|anchor| ("$anchor", format!("{base}#{anchor}"))));
            let dynamic = dynamic.filter(|dynamic| anchor != Some(dynamic));
            names.extend(dynamic.map(|dynamic| ("$dynamicAnchor", format!("{base}#{dynamic}"))));
        }
        names
    }

    /// Resolves `reference` to a schema.
    pub(super) fn resolve(&'s self, base: &Base, reference: &str) -> Result<ResolvedReference<'s>, Unresolved> {
        if reference.strip_suffix('#').unwrap_or(reference) == self.dialect.uri() {
            return Ok(ResolvedReference::MetaSchema);
        }
        let (found, base) = match (&self.names, base) {
            (Some(names), Some(from)) => {
                let (found, base) = names.resolve(from, reference)?;
                (found, Some(base))
            }
            _ if reference.starts_with('#') => {
                (walk::pointer(reference).and_then(|pointer| self.root.pointer(&pointer)), base.clone())
            }
            _ => return Err(Unresolved::Leaves),
        };
        match found {
            Some(target) if walk::is_schema(target) => Ok(ResolvedReference::Schema(target, base)),
            Some(_) => Err(Unresolved::NoSchema),
            None => Err(Unresolved::Nowhere),
        }
    }

    pub(super) fn explain(&self, reference: &str, unresolved: Unresolved) -> (SchemaErrorKind, String) {
        let name = quoted(reference);
        let nowhere = |message| (SchemaErrorKind::UnresolvedReference, message);
        match unresolved {
            Unresolved::Leaves => {
                let message = format!(
                    "the reference {name} points outside the document, and nothing is fetched; copy the schema into \
                     `$defs` and refer to it there"
                );
                (SchemaErrorKind::ExternalReference, message)
            }
            Unresolved::Nowhere => nowhere(format!("the reference {name} does not resolve{}", self.near(reference))),
            Unresolved::NoSchema => nowhere(format!("the reference {name} resolves to a value that is not a schema")),
            Unresolved::NoReference => nowhere(format!("{name} is not a valid URI reference")),
        }
    }

    fn near(&self, reference: &str) -> String {
        let containers = walk::CONTAINERS.into_iter();
        let names: Vec<String> = containers
            .filter_map(|container| Some((container, self.root.get(container)?.as_object()?)))
            .flat_map(|(container, named)| named.keys().map(move |name| walk::reference(container, name)))
            .collect();
        did_you_mean(reference, names.iter().map(String::as_str))
    }
}

/// Stands in for the names of a document without `jsonschema`: a schema with `$id` or an anchor is refused.
#[cfg(not(feature = "jsonschema"))]
mod names {
    use std::convert::Infallible;
    use std::marker::PhantomData;

    use serde_json::Value;

    use super::Unresolved;
    use crate::dialect::Dialect;

    /// The names of a document, which has none.
    pub(super) struct SchemaNames<'s>(Infallible, PhantomData<&'s Value>);

    /// The base URI of relative references, of which there is none.
    pub(crate) type Base = Option<String>;

    impl<'s> SchemaNames<'s> {
        pub(super) fn new(_: &'s Value, _: Dialect) -> Result<Self, String> {
            Err("names of schemas need the feature `jsonschema`".to_owned())
        }

        pub(super) fn root(&self) -> Base {
            match self.0 {}
        }

        pub(super) fn base_of(&self, _: &str, _: Dialect, _: &Value) -> Result<String, String> {
            match self.0 {}
        }

        pub(super) fn resolve<'a>(&'a self, _: &str, _: &str) -> Result<(Option<&'a Value>, String), Unresolved> {
            match self.0 {}
        }
    }
}
