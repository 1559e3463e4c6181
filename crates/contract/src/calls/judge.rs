//! The defects that one call shows.

use std::error::Error;

use serde_json::Value;
use toolkit::call::{Content, ErrorKind, RunResult, ToolError};
use toolkit::{Coercion, Context, Tool};
use toolkit_schema::format;

use super::caller::EndedCall;
use super::report::Defect;

/// The length from which a text is not part of an error by coincidence.
const MIN_SECRET_LENGTH: usize = 8;

/// A call that ended; `None` if it exceeded the time limit.
pub(super) type CallOutcome = Option<EndedCall>;

/// A defect, and a description of what happened.
pub(super) type FoundDefect = (Defect, String);

/// The expectations of one tool.
pub(super) struct Judge<'t> {
    pub(super) tool: &'t Tool,
    coercion: Coercion,
    /// The credentials that the tool requires.
    credentials: Vec<String>,
}

impl<'t> Judge<'t> {
    pub(super) fn new(tool: &'t Tool, coercion: Coercion, context: &Context) -> Self {
        let requirements = tool.requirements();
        let secrets = requirements.secrets.iter().filter_map(|secret| context.secret(&secret.id));
        let tokens = requirements.authorization.iter().filter_map(|authorization| context.token(&authorization.id));
        let credentials = secrets.chain(tokens).map(|secret| secret.expose().to_owned());
        let credentials = credentials.filter(|credential| !credential.is_empty()).collect();
        Self { tool, coercion, credentials }
    }

    /// Returns true if two calls with the same arguments must have the same result.
    pub(super) fn must_repeat(&self) -> bool {
        let hints = self.tool.annotations();
        hints.idempotent == Some(true) && hints.open_world != Some(true)
    }

    /// Returns the defect that a call shows. `is_valid` is the verdict of the input schema.
    pub(super) fn defect(&self, arguments: &Value, is_valid: bool, outcome: &CallOutcome) -> Option<FoundDefect> {
        let (defect, mut message) = match outcome {
            None => (Defect::Hang, "the call exceeded the time limit of the check".to_owned()),
            Some(EndedCall { outcome, has_written }) => {
                let found = match outcome {
                    Ok(result) => self.defect_of_result(is_valid, result),
                    Err(error) => self.defect_of_error(arguments, is_valid, error),
                };
                found.or_else(|| self.defect_of_writing(*has_written))?
            }
        };
        // Causes are for the host, but reports are published.
        for credential in &self.credentials {
            message = message.replace(credential, "…");
        }
        Some((defect, message))
    }

    fn defect_of_result(&self, is_valid: bool, result: &RunResult) -> Option<FoundDefect> {
        if !is_valid && result.changes().is_empty() {
            let message = "the tool was called with arguments that do not match its input schema";
            return Some((Defect::AcceptsInvalid, message.to_owned()));
        }
        // A host may have disabled this check of the dispatcher.
        let violations = self.tool.output()?.validate(&result.value()).err()?;
        let message =
            format!("the result does not match the output schema: {}", violations.to_string().replace('\n', "; "));
        Some((Defect::InvalidResult, message))
    }

    fn defect_of_error(&self, arguments: &Value, is_valid: bool, error: &ToolError) -> Option<FoundDefect> {
        let caused = || match error.source() {
            Some(cause) => format!("{}: {cause}", error.message()),
            None => error.message().to_owned(),
        };
        if self.secrets(arguments).iter().any(|secret| reads(error, secret)) {
            let message = "the text of the error contains a secret of the arguments or the credentials";
            return Some((Defect::LeakedSecret, message.to_owned()));
        }
        match error.kind() {
            ErrorKind::Panicked | ErrorKind::OutcomeUnknown => Some((Defect::Panic, caused())),
            ErrorKind::TimedOut => Some((Defect::Hang, error.message().to_owned())),
            ErrorKind::InvalidOutput => Some((Defect::InvalidResult, error.message().to_owned())),
            ErrorKind::Internal | ErrorKind::InvalidResponse => Some((Defect::InternalError, caused())),
            ErrorKind::InvalidArguments if is_valid && !self.concerns_a_format(error) => {
                let violations: Vec<String> = error.violations().iter().map(ToString::to_string).collect();
                let reason = if violations.is_empty() { error.message().to_owned() } else { violations.join("; ") };
                Some((Defect::RejectsValid, format!("arguments that match the input schema are rejected: {reason}")))
            }
            kind if kind.may_have_started() && !is_valid && !self.may_be_coerced(arguments) => {
                let message = "the tool was called with arguments that do not match its input schema, and failed";
                Some((Defect::AcceptsInvalid, message.to_owned()))
            }
            _ => None,
        }
    }

    fn defect_of_writing(&self, has_written: bool) -> Option<FoundDefect> {
        let message = "the tool writes to a file or stream, although it is declared `read_only`";
        let is_denied = has_written && self.tool.annotations().read_only == Some(true);
        is_denied.then(|| (Defect::Writes, message.to_owned()))
    }

    /// Returns the defect of an idempotent tool whose second call with the same arguments differs from the first.
    pub(super) fn difference(&self, first: &RunResult, second: &CallOutcome) -> Option<FoundDefect> {
        let differs =
            |how: &str| Some((Defect::NotIdempotent, format!("two calls with these arguments differ: {how}")));
        match second {
            None => differs("the second exceeded the time limit"),
            Some(EndedCall { outcome: Err(error), .. }) => differs(&format!("the second failed: {}", error.message())),
            Some(EndedCall { outcome: Ok(second), .. }) if first.value() != second.value() => differs(&format!(
                "the results are {} and {}",
                excerpt(&first.value().to_string()),
                excerpt(&second.value().to_string())
            )),
            Some(EndedCall { outcome: Ok(second), .. }) if first.own_content() != second.own_content() => {
                differs("the content")
            }
            Some(_) => None,
        }
    }

    /// Returns true if a type rejects the format of a text, which no schema asserts.
    fn concerns_a_format(&self, error: &ToolError) -> bool {
        let schema = self.tool.input().as_value();
        let has_format = |pointer: &str| format::expected_at(schema, pointer).is_some();
        !error.violations().is_empty() && error.violations().iter().all(|violation| has_format(&violation.pointer))
    }

    /// Returns true if the dispatcher may have changed these arguments before the tool was called.
    fn may_be_coerced(&self, arguments: &Value) -> bool {
        match self.coercion {
            Coercion::Off => false,
            Coercion::NullAsAbsent => has_null(arguments),
            _ => true,
        }
    }

    /// Returns the texts that the caller must not read.
    fn secrets(&self, arguments: &Value) -> Vec<String> {
        let mut secrets = self.credentials.clone();
        if self.tool.input().holds_secret() {
            masked_texts(arguments, &self.tool.input().masked(arguments), &mut secrets);
        }
        secrets.retain(|secret| secret.chars().count() >= MIN_SECRET_LENGTH);
        secrets
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

/// Collects the texts and numbers of a value that its masked copy lacks.
fn masked_texts(value: &Value, masked: &Value, texts: &mut Vec<String>) {
    match (value, masked) {
        _ if value == masked => {}
        (Value::Array(items), Value::Array(copies)) => {
            items.iter().zip(copies).for_each(|(item, copy)| masked_texts(item, copy, texts));
        }
        (Value::Object(members), Value::Object(copies)) => {
            for (name, member) in members {
                masked_texts(member, copies.get(name).unwrap_or(&Value::Null), texts);
            }
        }
        (Value::Array(items), _) => items.iter().for_each(|item| masked_texts(item, masked, texts)),
        (Value::Object(members), _) => members.values().for_each(|member| masked_texts(member, masked, texts)),
        (Value::String(text), _) => texts.push(text.clone()),
        (Value::Number(number), _) => texts.push(number.to_string()),
        _ => {}
    }
}

/// Returns true if a part of the error that a model reads contains the text.
fn reads(error: &ToolError, secret: &str) -> bool {
    let has = |text: &str| text.contains(secret);
    has(error.message())
        || error.violations().iter().any(|violation| has(&violation.to_string()))
        || error.content().iter().filter_map(Content::as_text).any(has)
}

fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 80;

    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
