//! Resolution of references within a document.

use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{Registry, Uri};
use serde_json::Value;

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
    names: Option<Names<'s>>,
}

struct Names<'s> {
    registry: Registry<'s>,
    /// The addresses of other documents that the registry asked for.
    outside: Vec<String>,
}

/// The base URI of relative references.
pub(super) type Base = Option<Arc<Uri<String>>>;

pub(super) enum Target<'s> {
    Schema(&'s Value, Base),
    /// The meta-schema of the document's dialect, which is always available.
    MetaSchema,
}

/// The reason why a reference does not resolve.
pub(super) enum Unresolved {
    Leaves,
    Nowhere,
    NoSchema,
    NoReference,
}

impl<'s> References<'s> {
    /// Indexes the names of a document.
    ///
    /// # Errors
    ///
    /// Returns the defect of names that are not URIs or not unique.
    pub(super) fn new(root: &'s Value, dialect: Dialect, is_named: bool) -> Result<Self, SchemaDiagnostic> {
        let names = is_named.then(|| Names::new(root, dialect)).transpose().map_err(|message| {
            let message = format!("invalid identifier: {}", quoted(&message));
            SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, "", message)
        })?;
        Ok(Self { root, dialect, names })
    }

    pub(super) fn root(&self) -> Base {
        let uri = self.names.as_ref().and_then(|_| jsonschema::uri::from_str(NOWHERE).ok());
        uri.map(Arc::new)
    }

    /// Returns the base URI for references inside `schema`, if it sets one by `$id`.
    pub(super) fn base_of(&self, base: &Base, schema: &Value) -> Option<Result<Base, String>> {
        let (names, base) = (self.names.as_ref()?, base.as_ref()?);
        schema.get("$id")?.as_str()?;
        let resolver = names.registry.resolver(base.as_ref().clone());
        let inner = resolver.in_subresource(self.dialect.draft().create_resource_ref(schema));
        Some(inner.map(|inner| Some(inner.base_uri())).map_err(|error| format!("invalid `$id`: {error}")))
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
    pub(super) fn resolve(&'s self, base: &Base, reference: &str) -> Result<Target<'s>, Unresolved> {
        if reference.strip_suffix('#').unwrap_or(reference) == self.dialect.uri() {
            return Ok(Target::MetaSchema);
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
            Some(target) if walk::is_schema(target) => Ok(Target::Schema(target, base)),
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

/// The base URI of a document without `$id`.
const NOWHERE: &str = "json-schema:///";

impl<'s> Names<'s> {
    fn new(root: &'s Value, dialect: Dialect) -> Result<Self, String> {
        let outside = Arc::new(Mutex::new(Vec::new()));
        let registry = Registry::new()
            .draft(dialect.draft())
            .retriever(Outside(Arc::clone(&outside)))
            .add(NOWHERE, dialect.draft().create_resource_ref(root))
            .and_then(jsonschema::RegistryBuilder::prepare)
            .map_err(|error| error.to_string())?;
        let outside = std::mem::take(&mut *outside.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Self { registry, outside })
    }

    fn resolve<'a>(
        &'a self,
        base: &Uri<String>,
        reference: &str,
    ) -> Result<(Option<&'a Value>, Arc<Uri<String>>), Unresolved> {
        let resolver = self.registry.resolver(base.clone());
        let (address, _) = reference.split_once('#').unwrap_or((reference, ""));
        let address = match address {
            "" => resolver.base_uri(),
            address => {
                resolver.resolve_uri(&resolver.base_uri().borrow(), address).map_err(|_| Unresolved::NoReference)?
            }
        };
        if self.outside.iter().any(|outside| outside == address.as_str()) {
            return Err(Unresolved::Leaves);
        }
        match resolver.lookup(reference) {
            Ok(found) => Ok((Some(found.contents()), found.resolver().base_uri())),
            Err(jsonschema::ReferencingError::Unretrievable { .. }) => Err(Unresolved::Leaves),
            Err(_) => Ok((None, address)),
        }
    }
}

/// A retriever that records the requested address and returns a schema that accepts everything.
struct Outside(Arc<Mutex<Vec<String>>>);

impl jsonschema::Retrieve for Outside {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(uri.as_str().to_owned());
        Ok(Value::Bool(true))
    }
}
