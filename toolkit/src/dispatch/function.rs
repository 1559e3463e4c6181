//! Functions of this program: their code, the parameters that the host injects, and the stages of one call.
//!
//! A [`Run`] is the code of a function. It receives an [`Invocation`], decodes the arguments, calls the function with
//! the parameters of the [`Host`], and encodes the result.

use std::any::type_name;
use std::future::Future;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::call_state::of_call;
use super::encode::Encode;
use super::shared::{Dispatcher, Policy, validate_cancellable};
use super::tree_memory::{self, TreeMemory};
use crate::call::{
    Arguments, BoxFuture, Change, Content, Context, RunResult, ToolError, check_value, not_json, read_tree,
    validated_arguments, validated_texts,
};
use crate::catalog::Catalog;
use crate::stream::{Chunk, Queue};
use crate::tool::entry::Entry;
use crate::tool::{Tool, ToolBackend};
use toolkit_schema::Schema;
use toolkit_schema::plan::{EncodeError, Plan, Read, UnwritableError, Write, into_slot};
use toolkit_schema::tree::Tree;

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

    /// Returns the way to execute the code.
    #[inline]
    pub(super) fn mode(self) -> Mode {
        match self {
            Run::Sync(_) => Mode::Sync,
            Run::Blocking(_) => Mode::Blocking,
            Run::Async(_) => Mode::Async,
        }
    }
}

/// The way to execute the code of a function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mode {
    /// On the caller's thread.
    Sync,
    /// On a thread that may block.
    Blocking,
    /// As a future.
    Async,
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
    // `?` would be further functions to compile for every tool, here and below.
    let returned = match call.decode::<F::Arguments>(&mut changes) {
        Ok(arguments) => F::call(F::input(arguments), call.host),
        Err(error) => return Err(error),
    };
    match returned.map(F::finish) {
        Ok(Ok(output)) => F::Encoding::encode(output, &call, changes),
        Ok(Err(error)) => Err(shown(call.entry, error)),
        Err(error) => Err(error),
    }
}

/// Runs all stages of an asynchronous call.
pub fn run_async<F: AsyncFunction>(call: Invocation<'_>) -> BoxFuture<'_, Result<RunResult, ToolError>> {
    Box::pin(async move {
        let mut changes = Vec::new();
        let arguments = match call.decode::<F::Arguments>(&mut changes) {
            Ok(arguments) => arguments,
            Err(error) => return Err(error),
        };
        let encoded = match F::call(F::input(arguments), call.host).await.map(F::finish) {
            Ok(Ok(output)) => F::Encoding::encode_async(output, &call, changes),
            Ok(Err(error)) => return Err(shown(call.entry, error)),
            Err(error) => return Err(error),
        };
        encoded.await
    })
}

/// Runs all stages of a call of a synchronous function that returns a stream.
pub fn run_waiting<F: SyncFunction>(call: Invocation<'_>) -> BoxFuture<'_, Result<RunResult, ToolError>> {
    Box::pin(async move {
        let mut changes = Vec::new();
        let arguments = call.decode::<F::Arguments>(&mut changes)?;
        let encoded = match F::call(F::input(arguments), call.host).map(F::finish) {
            Ok(Ok(output)) => F::Encoding::encode_async(output, &call, changes),
            Ok(Err(error)) => return Err(shown(call.entry, error)),
            Err(error) => return Err(error),
        };
        encoded.await
    })
}

/// Returns the error of a function. The author of the tool chooses whether the model reads its text.
#[cold]
pub(super) fn shown(entry: &Entry, error: ToolError) -> ToolError {
    if entry.show_errors { error.unmask() } else { error }
}

/// A call of a function.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    pub(super) entry: &'static Entry,
    pub(super) arguments: &'a Arguments<'a>,
    pub(super) host: Host<'a>,
    /// The receiver of the parts of a streamed result.
    pub(super) parts: Option<&'a Queue>,
}

impl Invocation<'_> {
    /// Validates and deserializes the arguments.
    ///
    /// Every deserializer named here is compiled for every tool, so there is only one: that of the plan.
    pub(super) fn decode<A: DeserializeOwned>(&self, changes: &mut Vec<Change>) -> Result<A, ToolError> {
        let mut arguments = None;
        let read = self.read(&mut into_slot(&mut arguments), changes);
        match (read, arguments) {
            (Ok(()), Some(arguments)) => Ok(arguments),
            (Ok(()), None) => Err(unread()),
            (Err(error), _) => Err(error),
        }
    }

    fn read(&self, read: &mut Read<'_>, changes: &mut Vec<Change>) -> Result<(), ToolError> {
        let validates = self.host.policy().validate_input;
        let plan = if validates { self.host.tool.input().plan() } else { Some(Plan::anything()) };
        let property = self.entry.property();
        if let Some(plan) = plan {
            let written;
            let text = match self.arguments {
                Arguments::Json(text) => &**text,
                Arguments::Value(value) => {
                    written = write(value);
                    &*written
                }
            };
            if plan.read(text, property, read).is_ok() {
                return Ok(());
            }
        }
        let memory = if validates { tree_memory::of_arguments(self.arguments)? } else { TreeMemory::default() };
        let tree = memory.build(|| self.tree(changes));
        read_tree(self.host.tool, property, validates, self.arguments, tree, changes, read)
    }

    /// Returns the arguments as a tree, validated unless the policy disables validation.
    #[cold]
    fn tree(&self, changes: &mut Vec<Change>) -> Result<Tree, ToolError> {
        if !self.host.policy().validate_input {
            return self.arguments.to_tree();
        }
        let (tool, coercion) = (self.host.tool, self.host.dispatcher().coercion_of(None));
        let (tree, changed) = validate_cancellable(self.host.context(), || match self.entry.prompt {
            Some(_) => validated_texts(tool, self.arguments),
            None => validated_arguments(tool, self.arguments, coercion),
        })?;
        *changes = changed;
        Ok(tree)
    }

    /// Sends an item of the result, as JSON, to the receiver of a stream, waiting while the queue is full.
    pub(super) async fn send(&self, item: &[u8]) -> Result<(), ToolError> {
        if let Some(parts) = self.parts {
            let chunk = Chunk::from_json(String::from_utf8_lossy(item).into_owned());
            parts.send(chunk.map_err(ToolError::internal)?).await;
        }
        Ok(())
    }

    /// Appends an item to a list, within the size limit.
    pub(super) fn grow(&self, list: &mut Vec<u8>, item: &[u8]) -> Result<(), ToolError> {
        self.host.policy().check_size((list.len() + item.len()).saturating_add(1))?;
        if list.len() > 1 {
            list.push(b',');
        }
        list.extend_from_slice(item);
        Ok(())
    }

    /// Rejects content that exceeds the size limit.
    pub(super) fn check_content(&self, content: &[Content]) -> Result<(), ToolError> {
        self.host.policy().check_content(content)
    }

    #[inline(always)]
    pub(super) fn empty_result(&self, changes: Vec<Change>) -> RunResult {
        match self.host.tool.instance() {
            None => RunResult::from_function(self.entry.id, changes),
            Some(_) => self.result_of_instance(changes),
        }
    }

    /// The id of an instance is not a static string.
    #[cold]
    fn result_of_instance(&self, changes: Vec<Change>) -> RunResult {
        let id = self.host.tool.id_text().into_owned();
        RunResult::from_backend(id.clone(), ToolBackend::named(id), None, changes)
    }

    /// Creates the result of a value that `write` serializes, validated against the output schema.
    pub(super) fn result(&self, changes: Vec<Change>, write: &mut Write<'_>) -> Result<RunResult, ToolError> {
        let json = self.encode(write)?;
        Ok(self.empty_result(changes).with_json(json))
    }

    /// Serializes a value and validates it against the output schema.
    pub(super) fn encode(&self, write: &mut Write<'_>) -> Result<Vec<u8>, ToolError> {
        let policy = self.host.policy();
        let schema = self.host.tool.output().filter(|_| policy.validate_output);
        let mut json = Vec::with_capacity(128);
        if let Some(plan) = schema.and_then(Schema::plan) {
            match plan.write(&mut json, policy.max_result_bytes, write) {
                Ok(()) => return Ok(json),
                Err(EncodeError::TooLong) => return Err(policy.result_too_large()),
                Err(EncodeError::Uncertain) => json.clear(),
            }
        }
        self.encode_unplanned(json, schema, write)
    }

    /// Serializes a value without a plan, or one that the plan does not accept.
    #[cold]
    fn encode_unplanned(
        &self,
        mut json: Vec<u8>,
        schema: Option<&Schema>,
        write: &mut Write<'_>,
    ) -> Result<Vec<u8>, ToolError> {
        let policy = self.host.policy();
        match Plan::write_unchecked(&mut json, policy.max_result_bytes, write) {
            Ok(floats) => {
                let check = || schema.map_or(Ok(()), |schema| check_value(schema, &json, &floats));
                validate_cancellable(self.host.context(), check).map(|()| json)
            }
            Err(UnwritableError::TooLong) => Err(policy.result_too_large()),
            Err(UnwritableError::Key(pointer)) => Err(not_json(schema, pointer)),
            Err(UnwritableError::Type(message)) => Err(ToolError::internal(message)),
        }
    }
}

/// The error of a type that reports success without a value.
#[cold]
fn unread() -> ToolError {
    ToolError::internal("the arguments were not deserialized")
}

/// Writes a value as text, which takes less time than a validator that walks over it. An error leaves no valid text.
#[inline(never)]
fn write(value: &Value) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// The parameters that a host injects into a call: the context, the dispatcher, and state by its type.
#[derive(Clone, Copy, Debug)]
pub struct Host<'a> {
    context: &'a Context,
    dispatcher: &'a Dispatcher,
    pub(super) tool: &'a Tool,
}

impl<'a> Host<'a> {
    #[inline]
    pub(super) fn new(context: &'a Context, dispatcher: &'a Dispatcher, tool: &'a Tool) -> Self {
        Self { context, dispatcher, tool }
    }

    /// Returns the context of the call.
    pub const fn context(self) -> &'a Context {
        self.context
    }

    /// Returns the dispatcher that runs the call.
    #[must_use]
    pub const fn dispatcher(self) -> &'a Dispatcher {
        self.dispatcher
    }

    /// Returns the settings for all calls.
    #[inline]
    pub(super) fn policy(self) -> &'a Policy {
        &self.dispatcher.shared.policy
    }

    /// Returns the catalog that contains the tool.
    #[must_use]
    pub fn catalog(self) -> &'a Catalog {
        self.dispatcher.catalog()
    }

    /// Returns the state of type `T`: that of the tool's instance, the shared state, or that of the call.
    ///
    /// # Errors
    ///
    /// Returns an error if the host did not provide it. Building a dispatcher checks this for the tools of its
    /// catalog.
    pub fn state<T: ?Sized + 'static>(self) -> Result<&'a T, ToolError> {
        let own = self.tool.instance().and_then(|instance| instance.states.get::<T>());
        own.or_else(|| self.dispatcher.shared.states.get::<T>())
            .or_else(|| of_call::<T>(self.context))
            .ok_or_else(|| ToolError::internal(format!("no state of type `{}` was given", type_name::<T>())))
    }
}
