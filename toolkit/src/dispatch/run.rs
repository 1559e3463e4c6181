//! From bytes to a typed argument, through the function, and back to bytes.

use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::policy::Policy;
use super::{Encode, Host};
use crate::call::{
    Arguments, BoxFuture, Change, Content, RunResult, ToolError, admit, check_value, decode_tree, not_json,
};
use crate::stream::{Chunk, Queue};
use crate::tool::entry::Entry;
use crate::tool::{Tool, ToolBackend};
use toolkit_schema::Schema;
use toolkit_schema::plan::{NotEncoded, Plan};
use toolkit_schema::tree::Tree;

/// How a linked function is called, its types forgotten.
///
/// An [`Entry`] holds it as [`Code`](crate::tool::entry::Code).
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// On the caller's thread.
    Sync(fn(Invocation<'_>) -> Result<RunResult, ToolError>),
    /// On a thread that may block.
    Blocking(fn(Invocation<'_>) -> Result<RunResult, ToolError>),
    /// As a future.
    Async(for<'a> fn(Invocation<'a>) -> BoxFuture<'a, Result<RunResult, ToolError>>),
}

impl Run {
    /// Returns how the function of an entry is called.
    #[inline]
    pub(crate) fn of(entry: &Entry) -> Self {
        *entry.code.get().expect("generated code stores a `Run`")
    }
}

/// The types of a linked function.
pub trait Function: 'static {
    /// What the function takes: the argument struct, or its arguments as a tuple.
    type Input;
    /// What the JSON becomes first.
    type Arguments: DeserializeOwned;
    /// What the function returns.
    type Returned;
    /// What that is when it succeeds.
    type Output;
    /// How that becomes a result.
    type Encoding: Encode<Self::Output>;

    /// Takes the arguments out of what was decoded.
    fn input(arguments: Self::Arguments) -> Self::Input;

    /// Sorts the two apart.
    ///
    /// # Errors
    ///
    /// The function's own.
    fn finish(returned: Self::Returned) -> Result<Self::Output, ToolError>;
}

/// A linked function that is synchronous.
pub trait SyncFunction: Function {
    /// Calls it.
    ///
    /// # Errors
    ///
    /// The host lacks the state that the function borrows.
    fn call(input: Self::Input, host: Host<'_>) -> Result<Self::Returned, ToolError>;
}

/// A linked function that is asynchronous.
pub trait AsyncFunction: Function {
    /// Calls it.
    fn call<'a>(
        input: Self::Input,
        host: Host<'a>,
    ) -> impl Future<Output = Result<Self::Returned, ToolError>> + Send + 'a;
}

/// One call on its way through a function.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    pub(super) tool: &'a Tool,
    pub(super) entry: &'static Entry,
    pub(super) arguments: &'a Arguments<'a>,
    pub(super) host: Host<'a>,
    pub(super) policy: &'a Policy,
    /// Who reads the parts of the result, if anybody does.
    pub(super) parts: Option<&'a Queue>,
}

/// All stages of a synchronous call.
///
/// # Errors
///
/// The stage that refused.
pub fn run_sync<F: SyncFunction>(call: Invocation<'_>) -> Result<RunResult, ToolError> {
    let mut changes = Vec::new();
    let arguments = call.decode::<F::Arguments>(&mut changes)?;
    let output = call.finish::<F>(F::call(F::input(arguments), call.host)?)?;
    F::Encoding::encode(output, &call, changes)
}

/// All stages of an asynchronous call.
pub fn run_async<F: AsyncFunction>(call: Invocation<'_>) -> BoxFuture<'_, Result<RunResult, ToolError>> {
    Box::pin(async move {
        let mut changes = Vec::new();
        let arguments = call.decode::<F::Arguments>(&mut changes)?;
        let output = call.finish::<F>(F::call(F::input(arguments), call.host).await?)?;
        F::Encoding::encode_async(output, &call, changes).await
    })
}

/// All stages of a call of a synchronous function that returns what is not there yet.
pub fn run_waiting<F: SyncFunction>(call: Invocation<'_>) -> BoxFuture<'_, Result<RunResult, ToolError>> {
    Box::pin(async move {
        let mut changes = Vec::new();
        let arguments = call.decode::<F::Arguments>(&mut changes)?;
        let output = call.finish::<F>(F::call(F::input(arguments), call.host)?)?;
        F::Encoding::encode_async(output, &call, changes).await
    })
}

impl Invocation<'_> {
    /// Sorts success from failure, whose text a model reads where the author chose so.
    #[inline]
    fn finish<F: Function>(&self, returned: F::Returned) -> Result<F::Output, ToolError> {
        F::finish(returned).map_err(|error| shown(self.entry, error))
    }

    /// The typed argument, once the input schema has accepted it.
    ///
    /// Every kind of deserialiser that is named here is compiled for every tool, so there are two: the plan's and, for
    /// what is not certain to fit, that of a tree.
    fn decode<A: DeserializeOwned>(&self, changes: &mut Vec<Change>) -> Result<A, ToolError> {
        let plan = if self.policy.validate_input { self.tool.input().plan() } else { Some(Plan::anything()) };
        if let (Arguments::Json(text), Some(plan)) = (self.arguments, plan)
            && let Ok(arguments) = plan.decode(text)
        {
            return Ok(arguments);
        }
        let tree = self.tree(changes)?;
        decode_tree(self.tool, self.policy.validate_input, self.arguments, &tree, changes)
    }

    /// The arguments as a tree that the input schema accepts, where it is asked.
    #[cold]
    fn tree(&self, changes: &mut Vec<Change>) -> Result<Tree, ToolError> {
        if !self.policy.validate_input {
            return self.arguments.to_tree();
        }
        let (tree, changed) = admit(self.tool, self.arguments, self.policy.coercion)?;
        *changes = changed;
        Ok(tree)
    }

    /// Gives one item of the result, as JSON, to whoever reads them, once there is room.
    pub(super) async fn send(&self, item: &[u8]) -> Result<(), ToolError> {
        if let Some(parts) = self.parts {
            let chunk = Chunk::from_json(String::from_utf8_lossy(item).into_owned());
            parts.send(chunk.map_err(ToolError::internal)?).await;
        }
        Ok(())
    }

    /// Adds an item to a list, which must not grow for ever.
    pub(super) fn grow(&self, list: &mut Vec<u8>, item: &[u8]) -> Result<(), ToolError> {
        self.policy.check_size((list.len() + item.len()).saturating_add(1))?;
        if list.len() > 1 {
            list.push(b',');
        }
        list.extend_from_slice(item);
        Ok(())
    }

    /// Refuses content that is larger than a result may be.
    pub(super) fn check_content(&self, content: &[Content]) -> Result<(), ToolError> {
        self.policy.check_content(content)
    }

    #[inline(always)]
    pub(super) fn empty_result(&self, changes: Vec<Change>) -> RunResult {
        match self.tool.instance() {
            None => RunResult::of_function(self.entry.id, changes),
            Some(_) => self.result_of_instance(changes),
        }
    }

    /// An instance has an id of its own, which is no text of the program.
    #[cold]
    fn result_of_instance(&self, changes: Vec<Change>) -> RunResult {
        let id = self.tool.id_text().into_owned();
        RunResult::of_backend(id.clone(), ToolBackend::named(id), None, changes)
    }

    /// The JSON of a result, once the output schema has accepted it.
    pub(super) fn encode(&self, output: &impl Serialize) -> Result<Vec<u8>, ToolError> {
        let schema = self.tool.output().filter(|_| self.policy.validate_output);
        if let Some(plan) = schema.and_then(Schema::plan) {
            let mut json = Vec::with_capacity(128);
            match plan.encode_at_most(output, &mut json, self.policy.max_result_bytes) {
                Ok(()) => return self.policy.check_size(json.len()).map(|()| json),
                Err(NotEncoded::TooLong) => return Err(self.policy.result_too_large()),
                Err(NotEncoded::Refused) => {}
            }
        }
        let json = match self.policy.encode(output) {
            Ok(json) => json,
            Err(error) => return Err(not_json(schema, error, output)),
        };
        if let Some(schema) = schema {
            check_value(schema, &json, output)?;
        }
        Ok(json)
    }
}

/// Returns an error of the function as a model reads it.
#[cold]
pub(super) fn shown(entry: &Entry, error: ToolError) -> ToolError {
    if entry.show_errors { error.unmask() } else { error }
}
