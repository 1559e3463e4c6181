//! The end of a program: its value, or its failure with a hint for a common mistake.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use rquickjs::{Ctx, Error, Function, Object, Persistent, Promise, Runtime, Value};
use serde_json::value::RawValue;

use crate::engine::javascript::host::{self, Host, PreludeSlot};
use crate::engine::javascript::source::{Fuel, ProgramForm, Source, SourcePlace, ToolNames};
use crate::engine::javascript::value::{self, Purpose, WriteError};
use crate::failure::{Failure, FailureKind};
use crate::limits::Limits;

/// The facts that the prelude knows about a thrown value.
#[derive(Default)]
pub(super) struct Thrown {
    name: String,
    message: String,
    stack: String,
    /// The id of the failed call, or 0.
    call: u32,
    is_error: bool,
    /// QuickJS throws null where the memory does not suffice for an error.
    pub(super) is_null: bool,
}

impl Thrown {
    /// Asks the prelude about something that was thrown.
    pub(super) fn new<'js>(describe: Option<Function<'js>>, reason: &Value<'js>) -> Self {
        let mut thrown = Self { is_error: reason.is_error(), is_null: reason.is_null(), ..Self::default() };
        if let Some(describe) = describe {
            // It fails where the memory does not suffice.
            let _ = thrown.read(&describe, reason);
        }
        thrown
    }

    fn read<'js>(&mut self, describe: &Function<'js>, reason: &Value<'js>) -> Result<(), Error> {
        let fields: Object<'js> = describe.call((reason.clone(),))?;
        self.name = fields.get("name")?;
        self.message = fields.get("message")?;
        self.stack = fields.get("stack")?;
        self.call = fields.get("call")?;
        Ok(())
    }

    /// Returns the innermost place of the program.
    pub(super) fn place(&self) -> Option<SourcePlace> {
        SourcePlace::in_stack(&self.stack)
    }

    pub(super) fn is_out_of_memory(&self) -> bool {
        self.is_null || self.name == "InternalError" && self.message == "out of memory"
    }

    /// Returns true if a `return` outside of functions prevented a script.
    pub(super) fn is_return(&self) -> bool {
        self.message == "return not in a function"
    }
}

/// Returns the failure for what a program threw and did not catch. `shown` is the value, if it is not an error.
pub(super) fn uncaught(host: &Host, source: &Source, thrown: &Thrown, shown: &str) -> Failure {
    if let Some(failed) = host.failed(thrown.call) {
        let kind = if failed.is_excess { FailureKind::Calls } else { FailureKind::Tool };
        let mut failure = Failure::new(kind, thrown.message.clone());
        failure.tool = failed.tool;
        return source.locate(failure, failed.place);
    }
    let place = thrown.place();
    if thrown.is_out_of_memory() {
        return source.locate(out_of_memory(), place);
    }
    if thrown.name == "RangeError" && thrown.message == "Maximum call stack size exceeded" {
        let message = "calls are nested too deeply: check for a recursion that does not end";
        return source.locate(Failure::new(FailureKind::Memory, message), place);
    }
    let mut message = match (thrown.is_error, &*thrown.name) {
        (false, _) => format!("the program threw {shown}"),
        (true, "" | "Error") => thrown.message.clone(),
        (true, "TypeError") if thrown.message == "not a function" => not_a_function(source, place),
        (true, name) => format!("{name}: {}", thrown.message),
    };
    if let Some(hint) = hint(host, source, thrown, place) {
        message.push_str("; ");
        message.push_str(&hint);
    }
    source.locate(Failure::new(FailureKind::Exception, message), place)
}

/// Returns the failure of a program without memory.
pub(super) fn out_of_memory() -> Failure {
    Failure::new(FailureKind::Memory, "the program exceeds its memory: work on less data at a time")
}

fn not_a_function(source: &Source, place: Option<SourcePlace>) -> String {
    let callee = place.and_then(|place| {
        let (line, column) = source.line_at(place)?;
        callee(line, column)
    });
    match callee {
        Some(callee) => format!("TypeError: {callee} is not a function"),
        None => "TypeError: not a function".to_owned(),
    }
}

fn hint(host: &Host, source: &Source, thrown: &Thrown, place: Option<SourcePlace>) -> Option<String> {
    let line = place.and_then(|place| source.line_at(place)).map_or("", |(line, _)| line);
    match &*thrown.name {
        "ReferenceError" => reference(&thrown.message, line, &host.names()),
        "TypeError" => {
            // The program went on without an answer, and reads it.
            let place = host
                .waiting_places()
                .into_iter()
                .find(|place| source.line_at(*place).is_some_and(|(line, _)| !line.contains("await")))?;
            Some(format!("the call in line {} is not awaited", source.line(place.line)))
        }
        _ => None,
    }
}

/// Returns the failure for a text that is not a program in a form.
pub(super) fn syntax(source: &Source, form: ProgramForm, thrown: &Thrown) -> Failure {
    let failure = |message: &str| Failure::new(FailureKind::Syntax, message);
    let Some(place) = thrown.place() else {
        return failure(&format!("invalid regular expression: {}", thrown.message));
    };
    if source.is_behind(place) || thrown.message.ends_with("expression: ''") {
        let closes_too_much = form == ProgramForm::Body && thrown.message.ends_with("token '}'");
        return match source.last(Some('}')).filter(|_| closes_too_much) {
            Some(last) => source.locate(failure("this `}` closes nothing"), Some(last)),
            None => source.locate(failure("the text ends before a bracket is closed"), source.last(None)),
        };
    }
    let (line, column) = source.line_at(place).unwrap_or(("", 0));
    let mut message = thrown.message.clone();
    if let Some(hint) = syntax_hint(line, column, &source.text) {
        message.push_str("; ");
        message.push_str(hint);
    }
    source.locate(failure(&message), Some(place))
}

/// Names of other runtimes, by what a program uses instead.
const FOREIGN: [(&str, &[&str]); 4] = [
    (
        "a program has no network, files, processes and modules; call a tool",
        &[
            "fetch",
            "XMLHttpRequest",
            "WebSocket",
            "EventSource",
            "require",
            "module",
            "exports",
            "process",
            "fs",
            "path",
            "os",
            "Deno",
            "Bun",
            "Buffer",
            "axios",
            "import",
            "child_process",
            "__dirname",
            "__filename",
        ],
    ),
    (
        "a program has no page and no browser; call a tool",
        &["window", "document", "navigator", "location", "localStorage", "sessionStorage", "alert", "prompt"],
    ),
    ("call `await sleep(ms)` in a loop", &["setInterval", "setImmediate", "requestAnimationFrame"]),
    (
        "only the language itself is there, and what this tool describes",
        &[
            "URL",
            "URLSearchParams",
            "crypto",
            "Intl",
            "performance",
            "Worker",
            "SharedArrayBuffer",
            "Atomics",
            "WeakRef",
            "FinalizationRegistry",
            "eval",
            "AbortController",
            "Blob",
            "Temporal",
            "_",
            "moment",
        ],
    ),
];

/// Words at the start of a line that only TypeScript has.
const TYPE_WORDS: [&str; 8] =
    ["interface ", "type ", "enum ", "declare ", "namespace ", "abstract ", "import type ", "export type "];

/// Names that follow a colon or `<` only in types.
const TYPES: [&str; 17] = [
    "string", "number", "boolean", "any", "unknown", "void", "never", "object", "bigint", "symbol", "Array", "Record",
    "Promise", "Map", "Set", "Partial", "readonly",
];

/// Returns a hint for a `ReferenceError`.
pub(super) fn reference(message: &str, line: &str, names: &ToolNames) -> Option<String> {
    if message.starts_with("could not load module") {
        return Some(FOREIGN[0].0.to_owned());
    }
    if let Some(name) = message.strip_suffix(" is not initialized") {
        return Some(format!("`{name}` is used before its declaration"));
    }
    let name = message.strip_suffix(" is not defined")?;
    if let Some((hint, _)) = FOREIGN.iter().find(|(_, names)| names.contains(&name)) {
        return Some((*hint).to_owned());
    }
    if TYPES.contains(&name) && line.contains('<') {
        return Some("this is TypeScript; leave out the types between `<` and `>`".to_owned());
    }
    if names.exists(name) {
        return Some(format!("did you mean `tools.{name}`?"));
    }
    if let Some(path) = names.named(name) {
        return Some(format!("did you mean `{path}`?"));
    }
    let rest = line.split_once(name)?.1.trim_start();
    let assigns = rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>");
    assigns.then(|| format!("declare it: `let {name}`"))
}

/// Returns the callee in a line at a column, from 0: `a.b` for `a.b()` at the point or at `b`.
pub(super) fn callee(line: &str, column: usize) -> Option<String> {
    let chars: Vec<char> = line.chars().collect();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut end = column;
    while chars.get(end).is_some_and(|&c| c == '.' || c == '?') {
        end += 1;
    }
    while chars.get(end).is_some_and(|&c| is_part(c)) {
        end += 1;
    }
    let mut start = column.min(end);
    while start > 0 && chars.get(start - 1).is_some_and(|&c| is_part(c) || c == '.') {
        start -= 1;
    }
    let name: String = chars.get(start..end)?.iter().collect();
    let name = name.trim_start_matches(['.', '?']);
    (!name.is_empty() && name.len() <= 120).then(|| name.to_owned())
}

/// Returns a hint for a text that is not JavaScript, with the line of the error and the column in it, from 0.
pub(super) fn syntax_hint(line: &str, column: usize, text: &str) -> Option<&'static str> {
    let start = line.trim_start();
    if start.starts_with("import ") || start.starts_with("export ") && !start.starts_with("export type ") {
        return Some("a program is not a module and loads none; call a tool, and `return` the value");
    }
    if is_typescript(line) {
        return Some("this part of TypeScript is more than a type; write JavaScript");
    }
    if start.starts_with("def ") || start.starts_with("from ") || start.starts_with("print ") {
        return Some("this is not JavaScript");
    }
    let before: String = line.chars().take(column).collect();
    if before.trim_end().ends_with("await") {
        return Some("`await` needs an `async` function around it: `async (x) => { … }`");
    }
    let is_prose = line.split_whitespace().count() > 3 && !line.contains(['(', '=', '{', '"', '\'', '`', ';']);
    if is_prose && text.trim_start().starts_with(start.trim_end()) {
        return Some("send the program only, without text around it");
    }
    None
}

fn is_typescript(line: &str) -> bool {
    let start = line.trim_start();
    let declares = |word: &str| {
        start.strip_prefix(word).is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    };
    if TYPE_WORDS.into_iter().any(declares) {
        return true;
    }
    let is_type = |rest: &str| {
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let is_array = after.starts_with("[]") || after.starts_with('<');
        TYPES.contains(&name) || is_array && !name.is_empty() || name.starts_with(char::is_uppercase)
    };
    let casts = line.split(" as ").skip(1).any(|rest| rest.starts_with("const") || is_type(rest));
    let annotates = line.match_indices(':').any(|(idx, _)| {
        let before = line[..idx].trim_end_matches('?');
        before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ')' || c == '}' || c == ']')
            && is_type(&line[idx + 1..])
    });
    let has_arguments = line.match_indices('<').any(|(idx, _)| {
        line[..idx].ends_with(|c: char| c.is_alphanumeric()) && is_type(&line[idx + 1..]) && line[idx..].contains('>')
    });
    let asserts = line.contains("!.") || line.contains("!;") || line.contains("!)");
    casts || annotates || has_arguments || asserts
}

/// The maximum number of characters of a thrown value that a failure shows.
const MAX_SHOWN: usize = 500;

/// The steps of a program that did so little that it has not filled the memory.
const FEW_STEPS: u64 = 30_000;

type Stored = Persistent<Value<'static>>;

/// The promises that were rejected and that nothing handles, each with its number and the reason.
type Rejections = HashMap<Stored, (u64, Stored)>;

/// The facts that decide how a program ends.
pub(super) struct Outcomes {
    pub(super) host: Rc<Host>,
    pub(super) fuel: Rc<Fuel>,
    pub(super) source: Source,
    pub(super) prelude: PreludeSlot,
    limits: Limits,
    rejections: Rc<RefCell<Rejections>>,
    /// True if null was thrown, which may mean that the memory was exceeded.
    threw_null: Cell<bool>,
}

impl Outcomes {
    pub(super) fn new(host: Rc<Host>, fuel: Rc<Fuel>, limits: Limits) -> Self {
        Self {
            host,
            fuel,
            source: Source::new(""),
            prelude: Rc::default(),
            limits,
            rejections: Rc::default(),
            threw_null: Cell::new(false),
        }
    }

    /// Keeps the promises that are rejected while nothing handles them.
    pub(super) fn track_rejections(&self, runtime: &Runtime) {
        let rejections = Rc::clone(&self.rejections);
        let count = Cell::new(0);
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, is_handled| {
            let promise = Persistent::save(&ctx, promise);
            let mut rejections = rejections.borrow_mut();
            if is_handled {
                rejections.remove(&promise);
            } else {
                count.set(count.get() + 1);
                rejections.insert(promise, (count.get(), Persistent::save(&ctx, reason)));
            }
        })));
    }

    /// Corrects a failure by what the program has used.
    pub(super) fn correct(&self, failure: &mut Failure, memory_bytes: u64) {
        let is_full = memory_bytes > self.limits.memory_bytes / 8 * 7;
        match failure.kind {
            FailureKind::Deadlock if is_full => *failure = out_of_memory(),
            // A program that throws rarely fills the memory in so few steps.
            FailureKind::Memory
                if self.threw_null.get() && !is_full && self.fuel.steps() < FEW_STEPS && self.source.may_throw() =>
            {
                failure.kind = FailureKind::Exception;
                "the program threw null".clone_into(&mut failure.message);
            }
            _ => {}
        }
    }

    /// Returns the function `main` of a program without a value.
    pub(super) fn uncalled_main<'js>(&self, ctx: &Ctx<'js>, main: &Promise<'js>) -> Option<Value<'js>> {
        let boxed: Object<'js> = main.result()?.ok()?;
        let value: Value<'js> = boxed.get("value").ok()?;
        if !value.is_undefined() {
            return None;
        }
        let main: Value<'js> = ctx.eval("__out === undefined && typeof main === 'function' ? main : undefined").ok()?;
        main.is_function().then_some(main)
    }

    /// Returns the value of the program as JSON.
    pub(super) fn value<'js>(&self, ctx: &Ctx<'js>, main: &Promise<'js>) -> Result<Box<RawValue>, Failure> {
        let failure = |error| self.failure_of(ctx, &error);
        let boxed: Object<'js> = main.result().unwrap_or(Err(Error::Unknown)).map_err(failure)?;
        let mut value: Value<'js> = boxed.get("value").map_err(failure)?;
        match ctx.eval::<Value<'js>, _>("__out") {
            Ok(out) if !out.is_undefined() => value = out,
            Ok(_) => {}
            Err(_) => drop(ctx.catch()),
        }
        let reader = host::with(&self.prelude, |prelude| prelude.reader(ctx)).map_err(failure)?;
        let limit = usize::try_from(self.limits.value_bytes).unwrap_or(usize::MAX);
        let text = match value::write(&reader, &value, Purpose::Value, limit) {
            Ok(text) => text,
            Err(WriteError::Thrown) => return Err(self.failure_of(ctx, &Error::Exception)),
            Err(WriteError::Rejected(reason)) => {
                let failure = self.failure_for(ctx, &reason);
                let reason = Persistent::save(ctx, reason);
                self.rejections.borrow_mut().retain(|_, (_, rejected)| *rejected != reason);
                return Err(failure);
            }
            Err(WriteError::Invalid(path, reason)) => {
                let place = if path.is_empty() { String::new() } else { format!(" at {path}") };
                return Err(Failure::new(FailureKind::Value, format!("the value{place} is {reason}")));
            }
            Err(WriteError::TooLarge) => {
                let message = format!("the value exceeds {limit} bytes of JSON: return only what is needed");
                return Err(Failure::new(FailureKind::Size, message));
            }
        };
        self.fuel.work(text.len());
        RawValue::from_string(text).map_err(|error| Failure::new(FailureKind::Value, error.to_string()))
    }

    /// Prints what was rejected and what nothing awaited.
    pub(super) fn print_rejections(&self, ctx: &Ctx<'_>) {
        let mut rejections: Vec<(u64, Stored)> = self.rejections.take().into_values().collect();
        rejections.sort_by_key(|(number, _)| *number);
        for (_, reason) in rejections {
            if let Ok(reason) = reason.restore(ctx) {
                let failure = self.failure_for(ctx, &reason);
                self.host.output.print(true, format!("not awaited: {failure}"));
            }
        }
    }

    /// Returns the failure for an error of QuickJS, whose exception is pending.
    pub(super) fn failure_of(&self, ctx: &Ctx<'_>, error: &Error) -> Failure {
        if error.is_exception() {
            let reason = ctx.catch();
            self.failure_for(ctx, &reason)
        } else {
            self.fuel.failure().unwrap_or_else(|| Failure::new(FailureKind::Exception, error.to_string()))
        }
    }

    /// Returns the failure for something that the program threw.
    fn failure_for<'js>(&self, ctx: &Ctx<'js>, reason: &Value<'js>) -> Failure {
        if let Some(failure) = self.fuel.failure() {
            return failure;
        }
        let thrown = self.describe(ctx, reason);
        if thrown.is_null {
            self.threw_null.set(true);
        }
        let reader = host::with(&self.prelude, |prelude| prelude.reader(ctx));
        let shown = reader.and_then(|reader| self.host.line(&reader, reason)).unwrap_or_default();
        let shown: String = shown.chars().take(MAX_SHOWN).collect();
        // Reading what was thrown runs functions of the program.
        self.fuel.failure().unwrap_or_else(|| uncaught(&self.host, &self.source, &thrown, &shown))
    }

    /// Takes what QuickJS threw.
    pub(super) fn thrown(&self, ctx: &Ctx<'_>, error: &Error) -> Thrown {
        let reason = if error.is_exception() { ctx.catch() } else { Value::new_null(ctx.clone()) };
        self.describe(ctx, &reason)
    }

    fn describe<'js>(&self, ctx: &Ctx<'js>, reason: &Value<'js>) -> Thrown {
        Thrown::new(host::with(&self.prelude, |prelude| prelude.describe(ctx)).ok(), reason)
    }

    /// Drops the values of the program, which must not outlive the runtime.
    pub(super) fn clear(&self) {
        self.rejections.take();
        self.prelude.take();
    }
}
