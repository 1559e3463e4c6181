//! The schemas of a list whose types several tools have.

use std::collections::HashMap;
use std::sync::Arc;

use super::list_entry::ListedSchema;
use crate::tool::Tool;
use crate::tool::shared_types::{SharedType, shared_types};

/// The schemas of the types of a list's tools, as they are listed. That of a type is built once, and kept until it is listed
/// for the last tool.
#[derive(Default)]
pub(super) struct SharedSchemas(HashMap<SharedType, Shared>);

#[derive(Default)]
struct Shared {
    n_left: usize,
    schema: Option<Arc<ListedSchema>>,
}

impl SharedSchemas {
    pub(super) fn new(tools: &[&Tool]) -> Self {
        let mut schemas = Self::default();
        for ty in tools.iter().flat_map(|tool| shared_types(tool)).flatten() {
            schemas.0.entry(ty).or_default().n_left += 1;
        }
        schemas
    }

    /// Returns the schema of a type, or that of one tool. `ty` is asked again after `build`, since only a schema decides whether
    /// an argument is the argument struct.
    pub(super) fn get(
        &mut self,
        ty: impl Fn() -> Option<SharedType>,
        build: impl FnOnce() -> Option<Arc<ListedSchema>>,
    ) -> Option<Arc<ListedSchema>> {
        let Some(shared) = ty().and_then(|ty| self.0.get_mut(&ty)) else { return build() };
        shared.n_left = shared.n_left.saturating_sub(1);
        match (shared.n_left, &shared.schema) {
            (0, Some(_)) => shared.schema.take(),
            (0, None) => build(),
            (_, Some(schema)) => Some(Arc::clone(schema)),
            (_, None) => {
                let schema = build();
                shared.schema = schema.clone().filter(|_| ty().is_some());
                schema
            }
        }
    }
}
