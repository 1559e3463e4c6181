//! The tool that runs programs.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::watch;
use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools, Routes};
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit::tool::{BackendKind, ToolBackend};
use toolkit::{Catalog, Context, Tool, ToolError};
use toolkit_runtime::Mutex;

use super::code_mode::{CodeMode, Job, Outcome};
use super::execution::{CallRecord, Execution};
use super::failure::Failure;
use super::gateway::{Gateway, Overview};
use super::journal::Journal;
use super::limits::Limits;
use super::program::Program;
use crate::execution::milliseconds;
use crate::failure::CodeError;

/// The namespace and the name of the tool: most protocols call it `run_code`.
const NAMESPACE: &str = "run";
const NAME: &str = "code";

/// The key in `_meta` for the calls of the program, which the model does not read.
const CALLS_KEY: &str = "rs.toolkit/calls";

/// The maximum size of the calls in an error, in bytes.
const MAX_LISTED: usize = 16 << 10;
/// The maximum number of characters of the arguments of one of them.
const MAX_ARGS: usize = 200;

/// A backend with one tool, `run:code`, which runs programs.
///
/// Register it with [`Backends`](toolkit_backends::Backends) beside the tools that the programs call, or instead of them.
/// The model reads only the value of a program and what it printed; a listener gets the calls.
#[derive(Clone)]
#[must_use]
pub struct RunCode {
    code: CodeMode,
    max_declarations: usize,
    listener: Option<Arc<Listener>>,
    /// The version of the tools when they were last listed.
    seen: Arc<Mutex<u64>>,
}

/// The maximum size of what a program keeps while a call asks the user, in bytes. Servers accept no more.
const MAX_KEPT: usize = 512 << 10;

type Listener = dyn Fn(&Execution) + Send + Sync;

#[derive(Deserialize)]
struct RunArguments {
    code: String,
}

impl RunCode {
    /// The id of the tool.
    pub const ID: &str = "run:code";

    /// The default of [`RunCode::max_declarations`]: 8,000 bytes, about 2,000 tokens.
    pub const MAX_DECLARATIONS: usize = 8_000;

    /// Creates the backend.
    pub fn new(code: CodeMode) -> Self {
        Self { code, max_declarations: Self::MAX_DECLARATIONS, listener: None, seen: Arc::default() }
    }

    /// Sets the size in bytes up to which the declarations of all tools are part of the tool's description. A model
    /// searches larger catalogs in its programs.
    pub fn max_declarations(self, n_bytes: usize) -> Self {
        Self { max_declarations: n_bytes, ..self }
    }

    /// Sets a listener to finished programs, with their calls, for logs.
    pub fn on_execution(self, listener: impl Fn(&Execution) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Returns the tool.
    ///
    /// # Errors
    ///
    /// Returns an error if its description is invalid, which depends on those of the tools.
    fn tool(&self) -> Result<Tool, ToolError> {
        let overview = self.code.gateway().overview(self.max_declarations);
        let input = json!({
            "type": "object",
            "properties": { "code": { "type": "string", "description": "The program: the body of an async function" } },
            "required": ["code"],
            "additionalProperties": false,
        });
        let output = json!({
            "type": "object",
            "properties": {
                "value": { "description": "What the program returned" },
                "printed": { "type": "string", "description": "What it printed" },
            },
            "required": ["value"],
        });
        let tool = Tool::builder(NAME)
            .namespace(NAMESPACE)
            .title("Run a program")
            .description(description(&overview, &self.code.limits))
            .annotations(overview.annotations)
            .input(input)
            .output(output)
            .examples([json!({ "code": "return 6 * 7" })]);
        tool.build().map_err(ToolError::internal)
    }

    /// Returns the program, with the answers of the round before if the call continues after a question.
    fn job(&self, context: &Context, code: String) -> Result<Job, CodeError> {
        let kept = context.kept().and_then(|kept| serde_json::from_str::<Journal>(&kept).ok());
        match kept.filter(|kept| kept.is_supported() && kept.program.code == code) {
            Some(Journal { program, entries, .. }) => Ok(self.code.job(context, program, entries)),
            None => Ok(self.code.job(context, self.code.prepare(Program::javascript(code))?, Vec::new())),
        }
    }

    async fn run(&self, call: BackendCall<'_>) -> Result<BackendResponse, ToolError> {
        let arguments: RunArguments =
            serde_json::from_value(call.arguments().to_value()?).map_err(ToolError::internal)?;
        let context = call.context();
        let job = self.job(context, arguments.code).map_err(unstarted)?;
        // If a call asks the user, and this call ends to ask, it is continued here.
        let (program, trace) = (job.program.clone(), Arc::clone(&job.trace));
        context.keep_with(move || trace.journal(&program, MAX_KEPT));
        let end = self.code.execute(context, self.code.limits, job, false).await.map_err(unstarted)?;
        let Outcome::Done(execution) = end else {
            return Err(ToolError::internal("a run that cannot be resumed was paused"));
        };
        if let Some(listener) = &self.listener {
            listener(&execution);
        }
        report(execution, &self.code.gateway())
    }
}

/// Converts an error before the start of a program.
fn unstarted(error: CodeError) -> ToolError {
    match &error {
        CodeError::Unavailable(_) => {
            ToolError::new(ErrorKind::Unavailable, "programs cannot run at the moment").caused_by(error)
        }
        _ => ToolError::failed(error.to_string()),
    }
}

impl Backend for RunCode {
    fn name(&self) -> &str {
        NAMESPACE
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Local
    }

    fn calls_tools(&self) -> bool {
        true
    }

    /// Returns the tool whose programs reach those of their tools that `catalog` contains.
    fn restricted_to(&self, catalog: &Catalog, routes: &Routes) -> Option<Box<dyn Backend>> {
        let gateway = self.code.gateway().restricted_to(catalog, routes);
        let gateway = gateway.inspect_err(|error| tracing::error!(%error, "programs have no tools")).ok()?;
        Some(Box::new(Self { code: self.code.for_gateway(gateway), seen: Arc::default(), ..self.clone() }))
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        Box::pin(async {
            *self.seen.lock() = self.code.version();
            let target = ToolBackend::local(NAME).map_err(ToolError::internal)?;
            Ok(OfferedTools::new([(self.tool()?, target)]))
        })
    }

    /// Completes when the tools of the programs have been replaced since the tool was listed.
    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let mut versions: watch::Receiver<u64> = self.code.versions();
            let is_new = |&version: &u64| version != *self.seen.lock();
            // The sender lives as long as `self`.
            let _ = versions.wait_for(is_new).await;
        })
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(self.run(call))
    }
}

toolkit::debug_fields!(RunCode { code });

const CONTRACT: &str = "\
Runs a JavaScript program that calls tools, and returns its value and what it printed. Use it for several calls, for \
loops and filters over results, and whenever the model does not need to read each result.

The program is the body of an async function, in JavaScript or TypeScript:
- `await tools.NAMESPACE.NAME({...})` calls a tool and returns its result; `Promise.all` runs calls in parallel.
- A failed call throws a `ToolError` with `message`, `kind` and `violations`.
- An integer above 2^53 in a result is a BigInt: write `123n`, or `Number(it)` to compute with it roughly.
- `return` only what is needed to answer. `console.log` prints; `show(result)` shows images of a result.
- There are no files, no network, no timers beyond `sleep(ms)`, no imports, and no `URL`, `Intl`, `Buffer`, `crypto` and \
`process`.";

const DISCOVERY: &str = "\
- `await search(\"words\", 5)` finds tools: [{ id, function, summary }].
- `await describe(id, ...)` returns their declarations in TypeScript as text: print them before the first call.
- `await examples(id)` returns examples of arguments.";

/// Returns the description of the tool, from which a model learns how to write programs.
fn description(overview: &Overview, limits: &Limits) -> String {
    let mut text = CONTRACT.to_owned();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\n- Limits of a program: {} calls (calls made at once that exceed them are refused together), {:?} with its calls, \
         {:?} without, {} bytes of value, {} bytes of printed text.",
        limits.calls, limits.time, limits.run_time, limits.value_bytes, limits.output_bytes,
    );
    match &overview.declarations {
        Some(declarations) => {
            text.push_str("\n\nThe tools:\n\n");
            text.push_str(declarations.trim_end());
        }
        None => {
            text.push('\n');
            text.push_str(DISCOVERY);
            text.push_str("\n\nThe namespaces, with their numbers of tools: ");
            for (nth, namespace) in overview.namespaces.iter().enumerate() {
                let separator = if nth == 0 { "" } else { ", " };
                let name = if namespace.name.is_empty() { "(none)" } else { &namespace.name };
                // Writing to a string cannot fail.
                let _ = write!(text, "{separator}{name} ({})", namespace.tools);
            }
            text.push('.');
        }
    }
    text
}

/// Returns the report for a model about a program that has run: the value and the printed text, or an error with the
/// place in the program.
fn report(execution: Execution, gateway: &Gateway) -> Result<BackendResponse, ToolError> {
    let printed = printed(&execution);
    if let Err(failure) = &execution.outcome {
        let error = ToolError::failed(explanation(failure, &printed, &execution, gateway));
        return Err(error.with_content(execution.content));
    }
    // As text, which keeps all digits of the value.
    let value = execution.outcome.as_deref().unwrap_or(RawValue::NULL);
    let structured = to_raw_value(&ProgramReport { value, printed }).map_err(ToolError::internal)?;
    let text = json!({ "type": "text", "text": structured.get() });
    let shown = execution.content.iter().filter_map(|block| serde_json::to_value(block).ok());
    let content: Vec<Value> = std::iter::once(text).chain(shown).collect();
    let meta = json!({ CALLS_KEY: calls(&execution) });
    let result = ProgramResult { meta, content, structured_content: &structured };
    serde_json::to_vec(&result).map(BackendResponse::Mcp).map_err(ToolError::internal)
}

/// The report about a program that has a value.
#[derive(Serialize)]
struct ProgramReport<'e> {
    value: &'e RawValue,
    #[serde(skip_serializing_if = "String::is_empty")]
    printed: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProgramResult<'r> {
    #[serde(rename = "_meta")]
    meta: Value,
    content: Vec<Value>,
    structured_content: &'r RawValue,
}

fn printed(execution: &Execution) -> String {
    let mut text: String = execution.printed.iter().map(|printed| format!("{}\n", printed.text)).collect();
    text.pop();
    text
}

/// Returns the failure with the line of the program, and what happened before it: the model must not repeat calls that
/// took effect.
fn explanation(failure: &Failure, printed: &str, execution: &Execution, gateway: &Gateway) -> String {
    let mut text = format!("the program failed: {failure}");
    if let Some(source) = &failure.source {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {source}");
    }
    list_calls(&mut text, execution, gateway);
    if !printed.is_empty() {
        let _ = write!(text, "\nprinted:\n{printed}");
    }
    text
}

/// Adds the calls of a program that failed: those that may have had effects with their arguments, and the number of those
/// that only read, which may be repeated.
fn list_calls(text: &mut String, execution: &Execution, gateway: &Gateway) {
    let catalog = gateway.dispatcher().catalog();
    let only_reads =
        |call: &&CallRecord| catalog.resolve(&call.tool).is_ok_and(|tool| tool.annotations().read_only == Some(true));
    let (reads, others): (Vec<&CallRecord>, Vec<&CallRecord>) = execution.calls.iter().partition(only_reads);
    if !others.is_empty() {
        text.push_str("\ncalls that were made, in order; do not repeat those that are ok:");
    }
    let max = text.len() + MAX_LISTED;
    for (nth, call) in others.iter().enumerate() {
        if text.len() > max {
            let _ = write!(text, "\n- and {} more", others.len() - nth);
            break;
        }
        let mut args = call.args.get();
        let mut rest = "";
        if let Some((end, _)) = args.char_indices().nth(MAX_ARGS) {
            (args, rest) = (&args[..end], "…");
        }
        let _ = write!(text, "\n- {} {args}{rest}", call.tool);
        let _ = match &call.result {
            Ok(_) => write!(text, " (ok)"),
            Err(thrown) if thrown.kind == ErrorKind::Cancelled.name() => {
                write!(text, " (ended; it may have had effects)")
            }
            Err(thrown) => write!(text, " (failed: {})", thrown.kind),
        };
    }
    if !reads.is_empty() {
        let _ = write!(text, "\ncalls that only read: {}", reads.len());
    }
}

/// Returns the calls without arguments and results, which may be large or secret.
fn calls(execution: &Execution) -> Vec<Value> {
    let calls = execution.calls.iter().map(|call| {
        json!({
            "tool": call.tool,
            "line": call.line,
            "isError": call.result.is_err(),
            "durationMs": milliseconds(call.duration),
        })
    });
    calls.collect()
}
