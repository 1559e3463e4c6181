//! Errors of a program as failures.

use rquickjs::{Ctx, Error, Function, Object, Value};

use super::host::Host;
use super::source::Source;
use crate::failure::{Failure, FailureKind};

/// The name of the program in stack traces.
pub(super) const FILE: &str = "program.js";

/// A place in the text that QuickJS ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Place {
    /// Returns the innermost place of the program in a stack trace.
    pub(super) fn in_stack(stack: &str) -> Option<Self> {
        stack.lines().find_map(|frame| {
            let (_, place) = frame.rsplit_once(FILE)?;
            let mut numbers = place.trim_end_matches(')').split(':').skip(1).map(str::parse);
            Some(Self { line: numbers.next()?.ok()?, column: numbers.next()?.ok()? })
        })
    }
}

/// What the prelude knows of something that was thrown.
pub(super) struct Thrown {
    pub(super) name: String,
    pub(super) message: String,
    pub(super) stack: String,
    /// The id of the failed call, or 0.
    pub(super) call: u32,
    pub(super) is_null: bool,
    pub(super) is_error: bool,
}

impl Thrown {
    pub(super) fn new<'js>(describe: &Function<'js>, reason: &Value<'js>) -> Self {
        let fields = || -> Result<Self, Error> {
            let fields: Object<'js> = describe.call((reason.clone(),))?;
            Ok(Self {
                name: fields.get("name")?,
                message: fields.get("message")?,
                stack: fields.get("stack")?,
                call: fields.get("call")?,
                is_null: reason.is_null(),
                is_error: reason.is_error(),
            })
        };
        fields().unwrap_or_else(|_| Self::unknown(reason))
    }

    pub(super) fn unknown(reason: &Value<'_>) -> Self {
        Self {
            name: String::new(),
            message: String::new(),
            stack: String::new(),
            call: 0,
            is_null: reason.is_null(),
            is_error: reason.is_error(),
        }
    }
}

/// Returns the failure for an uncaught error.
pub(super) fn failure(host: &Host, source: &Source, thrown: &Thrown, line: impl FnOnce() -> String) -> Failure {
    if thrown.call != 0 {
        let failed = host.failed.borrow();
        let failed = failed.get(&thrown.call);
        let is_over_limit = failed.is_some_and(|failed| failed.is_over_limit);
        let kind = if is_over_limit { FailureKind::Calls } else { FailureKind::Tool };
        let mut failure = Failure::new(kind, thrown.message.clone());
        failure.tool = failed.and_then(|failed| failed.tool.clone());
        return source.locate(failure, failed.and_then(|failed| failed.place));
    }
    let place = Place::in_stack(&thrown.stack);
    if thrown.is_null || (thrown.name == "InternalError" && thrown.message == "out of memory") {
        let message = "the program exceeded its memory: work on less data at a time";
        return source.locate(Failure::new(FailureKind::Memory, message), place);
    }
    if thrown.name == "RangeError" && thrown.message == "Maximum call stack size exceeded" {
        let message = "calls are nested too deeply: check for a recursion that does not end";
        return source.locate(Failure::new(FailureKind::Memory, message), place);
    }
    let message = match (thrown.is_error, &*thrown.name) {
        (false, _) => format!("the program threw {}", line()),
        (true, "" | "Error") => thrown.message.clone(),
        (true, name) => format!("{name}: {}", thrown.message),
    };
    source.locate(Failure::new(FailureKind::Exception, message), place)
}

/// Takes the pending exception.
pub(super) fn caught<'js>(ctx: &Ctx<'js>) -> Value<'js> {
    ctx.catch()
}
