//! What the host lends to tools: the context of the call, and state by its type.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::call::{Context, ToolError};
use crate::catalog::StateType;

/// What a call borrows from.
#[derive(Clone, Copy, Debug)]
pub struct Host<'a> {
    context: &'a Context,
    states: &'a States,
}

impl<'a> Host<'a> {
    pub(crate) const fn new(context: &'a Context, states: &'a States) -> Self {
        Self { context, states }
    }

    /// The context of the call.
    #[must_use]
    pub const fn context(self) -> &'a Context {
        self.context
    }

    /// The state of type `T`.
    ///
    /// # Errors
    ///
    /// Nobody gave it; a dispatcher that was built has seen to that.
    pub fn state<T: ?Sized + 'static>(self) -> Result<&'a T, ToolError> {
        self.states
            .get::<T>()
            .ok_or_else(|| ToolError::internal(format!("no state of type `{}` was given", type_name::<T>())))
    }
}

/// State by its type. Each value is an `Arc<T>`, so that `T` may be a `dyn Trait`.
#[derive(Default)]
pub(crate) struct States(HashMap<TypeId, Box<dyn Any + Send + Sync>>);

impl States {
    pub(crate) fn insert<T: ?Sized + Send + Sync + 'static>(&mut self, state: Arc<T>) {
        self.0.insert(TypeId::of::<T>(), Box::new(state));
    }

    pub(crate) fn has(&self, wanted: &StateType) -> bool {
        self.0.contains_key(&(wanted.id)())
    }

    fn get<T: ?Sized + 'static>(&self) -> Option<&T> {
        let state = self.0.get(&TypeId::of::<T>())?;
        state.downcast_ref::<Arc<T>>().map(|state| &**state)
    }
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} states", self.0.len())
    }
}
