//! Failures from thrown values.

use rquickjs::{Error, Function, Object, Value};

use super::hints;
use super::host::Host;
use super::source::{Form, Place, Source};
use crate::failure::{Failure, FailureKind};

/// The facts that the prelude knows about a thrown value.
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
        let mut thrown = Self {
            name: String::new(),
            message: String::new(),
            stack: String::new(),
            call: 0,
            is_error: reason.is_error(),
            is_null: reason.is_null(),
        };
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
    let place = Place::in_stack(&thrown.stack);
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

fn not_a_function(source: &Source, place: Option<Place>) -> String {
    let callee = place.and_then(|place| {
        let (line, column) = source.line_at(place)?;
        hints::callee(line, column)
    });
    match callee {
        Some(callee) => format!("TypeError: {callee} is not a function"),
        None => "TypeError: not a function".to_owned(),
    }
}

fn hint(host: &Host, source: &Source, thrown: &Thrown, place: Option<Place>) -> Option<String> {
    let line = place.and_then(|place| source.line_at(place)).map_or("", |(line, _)| line);
    match &*thrown.name {
        "ReferenceError" => hints::reference(&thrown.message, line, &host.names()),
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
pub(super) fn syntax(source: &Source, form: Form, thrown: &Thrown) -> Failure {
    let failure = |message: &str| Failure::new(FailureKind::Syntax, message);
    let Some(place) = Place::in_stack(&thrown.stack) else {
        return failure(&format!("invalid regular expression: {}", thrown.message));
    };
    if source.is_behind(place) || thrown.message.ends_with("expression: ''") {
        let closes_too_much = form == Form::Body && thrown.message.ends_with("token '}'");
        return match source.last(Some('}')).filter(|_| closes_too_much) {
            Some(last) => source.locate(failure("this `}` closes nothing"), Some(last)),
            None => source.locate(failure("the text ends before a bracket is closed"), source.last(None)),
        };
    }
    let (line, column) = source.line_at(place).unwrap_or(("", 0));
    let mut message = thrown.message.clone();
    if let Some(hint) = hints::syntax(line, column, source.text()) {
        message.push_str("; ");
        message.push_str(hint);
    }
    source.locate(failure(&message), Some(place))
}
