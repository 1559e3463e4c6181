//! The bounds of injected state.

use std::marker::PhantomData;

use crate::call::ToolError;
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
#[doc(hidden)]
#[derive(Debug)]
pub struct Borrowed<T: ?Sized, X = ()>(PhantomData<(X, Box<T>)>);

/// A bound that no type satisfies, on the types that are always meant as arguments.
#[diagnostic::on_unimplemented(
    message = "tool arguments are decoded from JSON, so they must be owned; use `{Self}`",
    label = "borrowed"
)]
#[doc(hidden)]
pub trait Borrowable<X> {}

impl<X> Borrowed<str, X> {
    #[doc(hidden)]
    pub const STATE: Option<StateType> = None;

    #[doc(hidden)]
    pub fn from_host(_: Host<'_>) -> Result<&str, ToolError>
    where
        String: Borrowable<X>,
    {
        Ok("")
    }
}

impl<X> Borrowed<String, X> {
    #[doc(hidden)]
    pub const STATE: Option<StateType> = None;

    #[doc(hidden)]
    pub fn from_host(host: Host<'_>) -> Result<&String, ToolError>
    where
        String: Borrowable<X>,
    {
        host.state()
    }
}

impl<T: 'static, X> Borrowed<[T], X> {
    #[doc(hidden)]
    pub const STATE: Option<StateType> = None;

    #[doc(hidden)]
    pub fn from_host(_: Host<'_>) -> Result<&[T], ToolError>
    where
        Vec<T>: Borrowable<X>,
    {
        Ok(&[])
    }
}

impl<T: 'static, X> Borrowed<Vec<T>, X> {
    #[doc(hidden)]
    pub const STATE: Option<StateType> = None;

    #[doc(hidden)]
    pub fn from_host(host: Host<'_>) -> Result<&Vec<T>, ToolError>
    where
        Vec<T>: Borrowable<X>,
    {
        host.state()
    }
}
