//! Running the calls of a reply, and the checks before a dispatcher runs one.

use serde_json::{Map, Value};

use super::Reply;
use super::options::RunOptions;
use super::results::ToolResults;
#[cfg(feature = "async")]
use super::running::Running;
use super::tool_call::{CallArguments, ToolCall};
use crate::lower::{renames, restore, with_own_names};
use toolkit::call::ErrorKind;
use toolkit::dispatch::Prepared;
use toolkit::{Arguments, Coercion, Context, Dispatcher, Tool, ToolError};

impl Reply {
    /// Runs all calls concurrently and returns their results.
    ///
    /// On a runtime of tokio with several threads, calls run in parallel. Otherwise a synchronous tool delays the
    /// others, unless it is marked `blocking`.
    #[cfg(feature = "async")]
    pub async fn run(&self, dispatcher: &Dispatcher) -> ToolResults {
        self.run_with(dispatcher, RunOptions::default()).await
    }

    /// Runs all calls and returns their results.
    #[cfg(feature = "async")]
    pub async fn run_with(&self, dispatcher: &Dispatcher, options: RunOptions) -> ToolResults {
        let mut running = self.start(dispatcher, options);
        while running.next().await.is_some() {}
        running.finish()
    }

    /// Starts to run the calls. [`Running::next`] returns each result as soon as it is there.
    #[cfg(feature = "async")]
    #[must_use]
    pub fn start(&self, dispatcher: &Dispatcher, options: RunOptions) -> Running {
        Running::new(self.clone(), of_models(dispatcher), options)
    }

    /// Runs the calls of synchronous tools one after another on this thread, without a runtime.
    #[must_use]
    pub fn run_sync(&self, dispatcher: &Dispatcher, context: &Context) -> ToolResults {
        let (options, dispatcher) = (RunOptions::default().context(context.clone()), of_models(dispatcher));
        let outcomes = self.calls().iter().enumerate().map(|(idx, call)| {
            let (prepared, arguments) = prepare(self, idx, &dispatcher, &options)?;
            prepared.call_sync_with(&options.context_of(idx, call), arguments)
        });
        let outcomes = outcomes.collect();
        ToolResults::new(self.clone(), dispatcher, outcomes)
    }
}

/// Returns the dispatcher for calls of models, which send numbers, lists and objects as text.
fn of_models(dispatcher: &Dispatcher) -> Dispatcher {
    dispatcher.with_default_coercion(Coercion::Lossless)
}

/// Returns the tool and the arguments of a call.
///
/// # Errors
///
/// Returns the reason why the call does not run.
pub(super) fn prepare<'a>(
    reply: &'a Reply,
    index: usize,
    dispatcher: &'a Dispatcher,
    options: &RunOptions,
) -> Result<(Prepared<'a>, Arguments<'a>), ToolError> {
    let call = &reply.calls()[index];
    if let Some(why) = reply.stop_reason().why_no_call_runs() {
        return Err(ToolError::new(ErrorKind::Cancelled, why));
    }
    if index >= options.max_calls {
        let message = format!("only {} calls of one reply run; repeat the others in the next reply", options.max_calls);
        return Err(ToolError::new(ErrorKind::Overloaded, message));
    }
    if let Some(reason) = options.denied.get(&call.id) {
        return Err(ToolError::new(ErrorKind::Denied, format!("the call was not approved: {reason}")));
    }
    let prepared = call.tool.as_ref().and_then(|id| dispatcher.prepared_id(id));
    let prepared = prepared.ok_or_else(|| reply.names.unknown(&call.name))?;
    Ok((prepared, arguments(call, prepared.tool(), dispatcher.coercion(prepared.tool()))?))
}

fn arguments<'a>(call: &'a ToolCall, tool: &Tool, coercion: Coercion) -> Result<Arguments<'a>, ToolError> {
    if let CallArguments::Text(text) = &call.arguments {
        return named_text(tool, text);
    }
    let arguments = call.arguments.to_arguments();
    let sent = || arguments.to_json().ok().and_then(|json| serde_json::from_slice::<Value>(&json).ok());
    if renames(tool.input())
        && let Some(sent) = sent()
    {
        let restore = if call.is_strict && coercion == Coercion::Off { restore } else { with_own_names };
        return Ok(Arguments::from(restore(tool.input(), sent)));
    }
    // The dispatcher does the same itself, unless it is configured not to.
    if call.is_strict && coercion == Coercion::Off {
        return Ok(sent().map_or(arguments, |sent| Arguments::from(restore(tool.input(), sent))));
    }
    Ok(arguments)
}

/// Passes the text of a custom tool as the only parameter of the tool.
fn named_text(tool: &Tool, text: &str) -> Result<Arguments<'static>, ToolError> {
    let properties = tool.input().as_value()["properties"].as_object();
    let only = properties.filter(|properties| properties.len() == 1).and_then(|properties| properties.iter().next());
    match only {
        Some((name, schema)) if schema["type"] == "string" => {
            let arguments = Map::from_iter([(name.clone(), Value::from(text))]);
            Ok(Arguments::from(Value::Object(arguments)))
        }
        _ => Err(ToolError::new(ErrorKind::InvalidArguments, "the tool takes a JSON object, not text")),
    }
}
