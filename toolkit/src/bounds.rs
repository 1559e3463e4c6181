//! The bounds on the types in the signature of a tool.
//!
//! Each trait is implemented for every type that fits. The traits exist for the error messages of rustc: one message
//! for each missing implementation, with the code to add.

mod default;
pub(crate) mod no_arguments;

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::default::ArgumentDefault;
use self::no_arguments::NoArguments;
use crate::call::ToolError;
use crate::dispatch::host::Host;
use crate::state::StateType;

/// The bound of an argument.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument: it implements neither `serde::Deserialize` nor `schemars::JsonSchema`",
    label = "not a tool argument",
    note = "for an argument, add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to the type",
    note = "for injected state, such as `Context`, write `&{Self}`"
)]
pub trait ToolArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ToolArgument for T {}

/// An argument that can be deserialized from JSON.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument: it does not implement `serde::Deserialize`",
    label = "cannot be read from JSON",
    note = "add `#[derive(serde::Deserialize)]` to the type"
)]
pub trait DeserializeArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> DeserializeArgument for T {}

/// An argument that has a schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument: it does not implement `schemars::JsonSchema`",
    label = "has no schema",
    note = "add `#[derive(schemars::JsonSchema)]` to the type",
    note = "for a type of another crate, enable the feature of `schemars` that is named after it, such as `uuid1`, or \
            describe it by another type with `#[schemars(with = \"String\")]`"
)]
pub trait DescribeArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> DescribeArgument for T {}

/// An argument that can be sent to another thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument: it is not `Send`",
    label = "not `Send`",
    note = "tools run on any thread; use a type that is `Send`"
)]
pub trait SendArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Send> SendArgument for T {}

/// An argument that borrows nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` borrows; tool arguments are decoded from JSON, so they must be owned",
    label = "borrowed"
)]
pub trait OwnedArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl OwnedArgument for NoArguments {}

/// An argument that is not a shared pointer to state.
pub trait UnsharedArgument {
    #[doc(hidden)]
    const OK: () = ();
}

impl UnsharedArgument for NoArguments {}

impl<T: ?Sized + SharedArgument> UnsharedArgument for Arc<T> {}

impl<T: ?Sized + SharedArgument> UnsharedArgument for Rc<T> {}

/// A bound that no type satisfies: the target of a shared pointer is state, which a tool borrows.
#[diagnostic::on_unimplemented(
    message = "a shared pointer to `{Self}` cannot be a tool argument",
    label = "not a tool argument",
    note = "for injected state, write `&{Self}` and pass the `Arc` to `DispatcherBuilder::shared_state`"
)]
pub trait SharedArgument {}

/// A sole argument that is passed under its own name.
#[diagnostic::on_unimplemented(
    message = "an attribute of serde or schemars needs an argument with a name; mark the argument `#[arg]` to pass it \
               under its own name, or put the attribute on a field of `{Self}`",
    label = "may be the argument struct"
)]
pub trait NamedArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl NamedArgument for NoArguments {}

/// The bound of a result.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a tool: it implements neither `serde::Serialize` nor \
               `schemars::JsonSchema`",
    label = "not a tool result",
    note = "add `#[derive(serde::Serialize, schemars::JsonSchema)]` to the type",
    note = "a tool may also return `()`, `Content`, `Structured<T>`, `Chunks<T>` or a `Result` of these"
)]
pub trait ToolResult {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> ToolResult for T {}

/// A result that can be serialized to JSON.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a tool: it does not implement `serde::Serialize`",
    label = "cannot be written as JSON",
    note = "add `#[derive(serde::Serialize)]` to the type"
)]
pub trait SerializeResult {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> SerializeResult for T {}

/// A result that has a schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a tool: it does not implement `schemars::JsonSchema`",
    label = "has no schema",
    note = "add `#[derive(schemars::JsonSchema)]` to the type"
)]
pub trait DescribeResult {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> DescribeResult for T {}

/// A result that is complete when the function returns.
#[diagnostic::on_unimplemented(
    message = "a `blocking` tool cannot return `Chunks`, whose items are created after it returns",
    label = "a stream of items"
)]
pub trait BlockingResult {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl BlockingResult for NoArguments {}

/// State that a host can inject.
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

/// An error that can become a [`ToolError`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be converted to a `ToolError`",
    label = "not a tool error",
    note = "implement `std::error::Error` for it: its text is then logged and masked, or shown to the model with \
            `impl toolkit::ShowError for {Self} {{}}`",
    note = "implement `From<{Self}> for ToolError` to choose what a model reads",
    note = "a boxed error is `Box<dyn std::error::Error + Send + Sync>`"
)]
pub trait ToolFailure {}

/// An error type without a conversion.
#[doc(hidden)]
#[derive(Debug)]
pub struct Unconvertible;

impl Unconvertible {
    /// Fails to compile with the reason.
    #[doc(hidden)]
    pub fn convert<E: ToolFailure>(self, _: E) -> ToolError {
        ToolError::internal("rustc has refused the type")
    }
}
