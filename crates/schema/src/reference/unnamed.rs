//! Stands in for the names of a document without `jsonschema`: a schema with `$id` or an anchor is refused.

use std::convert::Infallible;
use std::marker::PhantomData;

use serde_json::Value;

use super::Unresolved;
use crate::dialect::Dialect;

/// The names of a document, which has none.
pub(super) struct Names<'s>(Infallible, PhantomData<&'s Value>);

/// The base URI of relative references, of which there is none.
pub(crate) type Base = Option<String>;

impl<'s> Names<'s> {
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
