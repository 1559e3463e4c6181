//! The names that a document gives its schemas by `$id` and anchors.

use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{Registry, Uri};
use serde_json::Value;

use super::Unresolved;
use crate::dialect::Dialect;

/// The names of a document.
pub(super) struct SchemaNames<'s> {
    registry: Registry<'s>,
    /// The addresses of other documents that the registry asked for.
    outside: Vec<String>,
}

/// The base URI of relative references.
pub(crate) type Base = Option<Arc<Uri<String>>>;

/// The base URI of a document without `$id`.
const NOWHERE: &str = "json-schema:///";

impl<'s> SchemaNames<'s> {
    /// Indexes the names of a document.
    pub(super) fn new(root: &'s Value, dialect: Dialect) -> Result<Self, String> {
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

    /// Returns the base URI of the document.
    pub(super) fn root(&self) -> Base {
        jsonschema::uri::from_str(NOWHERE).ok().map(Arc::new)
    }

    /// Returns the base URI inside a schema with an `$id`.
    pub(super) fn base_of(
        &self,
        base: &Uri<String>,
        dialect: Dialect,
        schema: &Value,
    ) -> Result<Arc<Uri<String>>, String> {
        let resolver = self.registry.resolver(base.clone());
        let inner = resolver.in_subresource(dialect.draft().create_resource_ref(schema));
        inner.map(|inner| inner.base_uri()).map_err(|error| format!("invalid `$id`: {error}"))
    }

    /// Resolves a reference to the value and its base URI.
    pub(super) fn resolve<'a>(
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
