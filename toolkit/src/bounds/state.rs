//! The bounds of injected state, such as `&Context`, and its resolution from the host of a call.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::call::{Context, ToolError};
use crate::catalog::Catalog;
use crate::dispatch::Dispatcher;
use crate::dispatch::function::Host;
use crate::state::StateType;

/// State that a host can inject.
///
/// All threads share the state, so a tool that changes it needs a lock or an atomic.
///
/// # Examples
///
/// ```
/// use std::sync::Mutex;
///
/// use toolkit::{Dispatcher, catalog, tool};
///
/// type Notes = Mutex<Vec<String>>;
///
/// /// Remembers a note.
/// #[tool]
/// fn remember(note: String, notes: &Notes) -> usize {
///     let mut notes = notes.lock().unwrap();
///     notes.push(note);
///     notes.len()
/// }
///
/// let dispatcher = Dispatcher::builder(catalog![remember]?).state(Notes::default()).build()?;
/// dispatcher.call_sync("remember", r#"{"note": "milk"}"#)?;
/// assert_eq!(dispatcher.call_sync("remember", r#"{"note": "bread"}"#)?.value(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected into a tool",
    label = "not `Send + Sync + 'static`",
    note = "a `&T` parameter is injected state, which all threads share",
    note = "use a lock such as `Mutex` for interior mutability; the trait of a `dyn Trait` needs the supertraits `Send + Sync`"
)]
pub trait State {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + Send + Sync + 'static> State for T {}

/// The resolution of a parameter `&T` from the host.
///
/// `Borrowed::<T>::from_host` resolves to the inherent functions below for special types, and otherwise to that of
/// `FromHost`. The type decides, so an alias changes nothing. `X` defers the check of the rejecting bounds to the
/// call.
#[derive(Debug)]
pub struct Borrowed<T: ?Sized, X = ()>(PhantomData<(X, Box<T>)>);

/// A bound that no type satisfies, on the types that are always meant as arguments.
#[diagnostic::on_unimplemented(
    message = "tool arguments are decoded from JSON, so they must be owned; use `{Self}`",
    label = "borrowed"
)]
#[doc(hidden)]
pub trait Borrowable<X> {}

#[doc(hidden)]
impl<X> Borrowed<str, X> {
    pub const STATE: Option<StateType> = None;

    pub fn from_host(_: Host<'_>) -> Result<&str, ToolError>
    where
        String: Borrowable<X>,
    {
        Ok("")
    }
}

#[doc(hidden)]
impl<X> Borrowed<String, X> {
    pub const STATE: Option<StateType> = None;

    pub fn from_host(host: Host<'_>) -> Result<&String, ToolError>
    where
        String: Borrowable<X>,
    {
        host.state()
    }
}

#[doc(hidden)]
impl<T: 'static, X> Borrowed<[T], X> {
    pub const STATE: Option<StateType> = None;

    pub fn from_host(_: Host<'_>) -> Result<&[T], ToolError>
    where
        Vec<T>: Borrowable<X>,
    {
        Ok(&[])
    }
}

#[doc(hidden)]
impl<T: 'static, X> Borrowed<Vec<T>, X> {
    pub const STATE: Option<StateType> = None;

    pub fn from_host(host: Host<'_>) -> Result<&Vec<T>, ToolError>
    where
        Vec<T>: Borrowable<X>,
    {
        host.state()
    }
}

impl Borrowed<Context> {
    /// None: every call has a context.
    pub const STATE: Option<StateType> = None;

    /// Returns the context of the call.
    pub fn from_host(host: Host<'_>) -> Result<&Context, ToolError> {
        Ok(host.context())
    }
}

impl Borrowed<Dispatcher> {
    /// None: every call has a dispatcher.
    pub const STATE: Option<StateType> = None;

    /// Returns the dispatcher that runs the call.
    pub fn from_host(host: Host<'_>) -> Result<&Dispatcher, ToolError> {
        Ok(host.dispatcher())
    }
}

impl Borrowed<Catalog> {
    /// None: every call has a catalog.
    pub const STATE: Option<StateType> = None;

    /// Returns the catalog that contains the tool.
    pub fn from_host(host: Host<'_>) -> Result<&Catalog, ToolError> {
        Ok(host.catalog())
    }
}

impl<T: ?Sized + Send + Sync + 'static> Borrowed<Arc<T>> {
    /// The state type. An `Arc` is state like any other type; only the error message for missing
    /// state differs.
    pub const STATE: Option<StateType> = Some(StateType::new_arc::<T>());

    /// Returns the state.
    pub fn from_host(host: Host<'_>) -> Result<&Arc<T>, ToolError> {
        host.state()
    }
}

/// Resolution of state of any other type.
pub trait FromHost<T: ?Sized> {
    /// The state that the dispatcher requires.
    const STATE: Option<StateType>;

    /// Returns the state.
    fn from_host(host: Host<'_>) -> Result<&T, ToolError>;
}

impl<T: ?Sized + 'static> FromHost<T> for Borrowed<T> {
    const STATE: Option<StateType> = Some(StateType::new::<T>());

    fn from_host(host: Host<'_>) -> Result<&T, ToolError> {
        host.state::<T>()
    }
}
