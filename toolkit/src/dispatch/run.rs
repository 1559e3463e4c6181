//! The stages of a call of a function: decoding of the arguments, the function itself, encoding of the result.

use std::future::Future;

use serde::de::DeserializeOwned;

use super::encode::Encode;
use super::host::Host;
use super::invocation::Invocation;
use crate::call::{BoxFuture, RunResult, ToolError};
use crate::tool::entry::Entry;

/// The code of a linked function, with its types erased.
///
/// An [`Entry`] holds it as [`Code`](crate::tool::entry::Code).
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// Runs on the caller's thread.
    Sync(fn(Invocation<'_>) -> Result<RunResult, ToolError>),
    /// Runs on a thread that may block.
    Blocking(fn(Invocation<'_>) -> Result<RunResult, ToolError>),
    /// Runs as a future.
    Async(for<'a> fn(Invocation<'a>) -> BoxFuture<'a, Result<RunResult, ToolError>>),
}

impl Run {
    /// Returns the code of an entry.
    #[inline]
    pub(crate) fn from_entry(entry: &Entry) -> Self {
        *entry.code.get().expect("generated code stores a `Run`")
    }
}

/// The types of a linked function.
pub trait Function: 'static {
    /// The input of the function: the argument struct, or a tuple of arguments.
    type Input;
    /// The type into which the JSON arguments are deserialized.
    type Arguments: DeserializeOwned;
    /// The return type of the function.
    type Returned;
    /// The type of a successful result.
    type Output;
    /// The encoding of a successful result.
    type Encoding: Encode<Self::Output>;

    /// Converts the deserialized arguments into the input.
    fn input(arguments: Self::Arguments) -> Self::Input;

    /// Separates success from failure.
    ///
    /// # Errors
    ///
    /// Returns the error of the function.
    fn finish(returned: Self::Returned) -> Result<Self::Output, ToolError>;
}

/// A synchronous linked function.
pub trait SyncFunction: Function {
    /// Calls the function.
    ///
    /// # Errors
    ///
    /// Returns an error if the host lacks state that the function borrows.
    fn call(input: Self::Input, host: Host<'_>) -> Result<Self::Returned, ToolError>;
}

/// An asynchronous linked function.
pub trait AsyncFunction: Function {
    /// Calls the function.
    fn call<'a>(
        input: Self::Input,
        host: Host<'a>,
    ) -> impl Future<Output = Result<Self::Returned, ToolError>> + Send + 'a;
}

/// Runs all stages of a synchronous call.
///
/// # Errors
///
/// Returns the error of the stage that failed.
pub fn run_sync<F: SyncFunction>(call: Invocation<'_>) -> Result<RunResult, ToolError> {
    let mut changes = Vec::new();
    let arguments = call.decode::<F::Arguments>(&mut changes)?;
    let output = finish::<F>(&call, F::call(F::input(arguments), call.host)?)?;
    F::Encoding::encode(output, &call, changes)
}

/// Runs all stages of an asynchronous call.
pub fn run_async<F: AsyncFunction>(call: Invocation<'_>) -> BoxFuture<'_, Result<RunResult, ToolError>> {
    Box::pin(async move {
        let mut changes = Vec::new();
        let arguments = call.decode::<F::Arguments>(&mut changes)?;
        let output = finish::<F>(&call, F::call(F::input(arguments), call.host).await?)?;
        F::Encoding::encode_async(output, &call, changes).await
    })
}

/// Runs all stages of a call of a synchronous function that returns a stream.
pub fn run_waiting<F: SyncFunction>(call: Invocation<'_>) -> BoxFuture<'_, Result<RunResult, ToolError>> {
    Box::pin(async move {
        let mut changes = Vec::new();
        let arguments = call.decode::<F::Arguments>(&mut changes)?;
        let output = finish::<F>(&call, F::call(F::input(arguments), call.host)?)?;
        F::Encoding::encode_async(output, &call, changes).await
    })
}

/// Separates success from failure. The author of the tool chooses whether the model reads the text of the failure.
#[inline]
fn finish<F: Function>(call: &Invocation<'_>, returned: F::Returned) -> Result<F::Output, ToolError> {
    match F::finish(returned) {
        Err(error) => Err(shown(call.entry, error)),
        output => output,
    }
}

/// Returns the error of a function, unmasked if the tool shows its errors.
#[cold]
pub(super) fn shown(entry: &Entry, error: ToolError) -> ToolError {
    if entry.show_errors { error.unmask() } else { error }
}
