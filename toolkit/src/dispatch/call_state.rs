//! State that is computed for each call, from its context.

use std::any::TypeId;
use std::sync::Arc;

use crate::call::{Context, ToolError};
use crate::state::States;
use crate::tool::Tool;

/// The functions that compute state, by its type.
#[derive(Default)]
pub(super) struct CallStates(Vec<(TypeId, Box<Compute>)>);

/// Computes a value and adds it to the others of a call.
type Compute = dyn Fn(&Context, &mut States) -> Result<(), ToolError> + Send + Sync;

/// The values of a call, in its context.
struct Computed(States);

impl CallStates {
    pub(super) fn insert<T: Send + Sync + 'static>(
        &mut self,
        compute: impl Fn(&Context) -> Result<T, ToolError> + Send + Sync + 'static,
    ) {
        let compute = move |context: &Context, states: &mut States| {
            states.insert(Arc::new(compute(context)?), std::panic::Location::caller());
            Ok(())
        };
        self.0.push((TypeId::of::<T>(), Box::new(compute)));
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the context with the values that a tool borrows, or `None` if it borrows none.
    pub(super) fn computed(&self, tool: &Tool, context: &Context) -> Result<Option<Context>, ToolError> {
        let mut states = States::default();
        let mut is_empty = true;
        for state in tool.entry().into_iter().flat_map(|entry| entry.states).flatten() {
            let id = state.info().id;
            if let Some((_, compute)) = self.0.iter().find(|(computed, _)| *computed == id) {
                compute(context, &mut states)?;
                is_empty = false;
            }
        }
        Ok((!is_empty).then(|| context.clone().with(Computed(states))))
    }
}

/// Returns the value that was computed for a call.
pub(super) fn of_call<T: ?Sized + 'static>(context: &Context) -> Option<&T> {
    context.get::<Computed>()?.0.get()
}
