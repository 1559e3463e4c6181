//! State that a host shares with its tools, by type.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// State by type. Each value is an `Arc<T>`, where `T` may be a `dyn Trait`.
#[derive(Default)]
pub(crate) struct States {
    by_type: HashMap<TypeId, HeldState>,
    pub(crate) duplicates: Vec<Duplicate>,
}

struct HeldState {
    state: Box<dyn Any + Send + Sync>,
    /// The location of the call that passed the value.
    location: &'static Location<'static>,
}

/// A type with two values.
pub(crate) struct Duplicate {
    pub(crate) id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) locations: [&'static Location<'static>; 2],
}

impl States {
    /// Adds a value. A second value of the same type is recorded as a duplicate and dropped.
    pub(crate) fn insert<T: ?Sized + Send + Sync + 'static>(
        &mut self,
        state: Arc<T>,
        location: &'static Location<'static>,
    ) {
        let id = TypeId::of::<T>();
        if let Some(first) = self.location_of(id) {
            let type_name = type_name::<T>();
            self.duplicates.push(Duplicate { id, type_name, locations: [first, location] });
            return;
        }
        self.by_type.insert(id, HeldState { state: Box::new(state), location });
    }

    /// Declares a type whose value is computed for each call.
    pub(crate) fn declare<T: 'static>(&mut self, location: &'static Location<'static>) {
        let id = TypeId::of::<T>();
        match self.location_of(id) {
            Some(first) => {
                self.duplicates.push(Duplicate { id, type_name: type_name::<T>(), locations: [first, location] });
            }
            None => drop(self.by_type.insert(id, HeldState { state: Box::new(()), location })),
        }
    }

    #[inline]
    pub(crate) fn get<T: ?Sized + 'static>(&self) -> Option<&T> {
        let held = self.by_type.get(&TypeId::of::<T>())?;
        held.state.downcast_ref::<Arc<T>>().map(|state| &**state)
    }

    pub(crate) fn has(&self, wanted: &StateType) -> bool {
        self.by_type.contains_key(&(wanted.describe)().id)
    }

    /// Returns the location that passed a value of this type.
    pub(crate) fn location_of(&self, id: TypeId) -> Option<&'static Location<'static>> {
        self.by_type.get(&id).map(|held| held.location)
    }
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} states", self.by_type.len())
    }
}

/// The type of a parameter whose value the host must provide.
#[derive(Clone, Copy, Debug)]
pub struct StateType {
    describe: fn() -> StateTypeInfo,
}

/// A state type, and related types for which it is easily mistaken.
pub(crate) struct StateTypeInfo {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
    /// True for a `dyn Trait`, a slice or a `str`.
    pub(crate) is_unsized: bool,
    pub(crate) arc: TypeId,
    pub(crate) boxed: TypeId,
    /// The `T` of an `Arc<T>`.
    pub(crate) inner: Option<(TypeId, &'static str)>,
}

impl StateType {
    /// Creates the description of `T`.
    #[must_use]
    pub const fn new<T: ?Sized + 'static>() -> Self {
        Self { describe: describe::<T> }
    }

    /// Creates the description of `Arc<T>`.
    #[must_use]
    pub const fn new_arc<T: ?Sized + 'static>() -> Self {
        Self {
            describe: || StateTypeInfo { inner: Some((TypeId::of::<T>(), type_name::<T>())), ..describe::<Arc<T>>() },
        }
    }

    pub(crate) fn info(self) -> StateTypeInfo {
        (self.describe)()
    }
}

fn describe<T: ?Sized + 'static>() -> StateTypeInfo {
    StateTypeInfo {
        id: TypeId::of::<T>(),
        name: type_name::<T>(),
        is_unsized: size_of::<*const T>() > size_of::<*const ()>(),
        arc: TypeId::of::<Arc<T>>(),
        boxed: TypeId::of::<Box<T>>(),
        inner: None,
    }
}
