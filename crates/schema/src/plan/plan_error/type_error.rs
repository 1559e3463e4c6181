//! The reason why a type rejects a value.
//!
//! [`PlanError`] contains nothing, so that it costs nothing. Where a reason is wanted, it is recorded beside the error, in
//! a thread-local. Recording happens only on error paths.

use std::cell::RefCell;
use std::fmt;
use std::fmt::Display;

use serde::de::{Expected, Unexpected};
use serde_json::Number;

/// The reason why a type rejects a value that matches its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError {
    /// The offset of the innermost value that was rejected.
    pub(in super::super) offset: Option<usize>,
    /// The message of serde, which may quote the value.
    pub message: String,
}

impl TypeError {
    pub(in super::super) fn new(Reason { offset, message, .. }: Reason) -> Self {
        Self { offset, message: message.unwrap_or_else(|| "the type rejects the value".to_owned()) }
    }
}

impl Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The parts of a reason, as they become known.
#[derive(Default)]
pub(in super::super) struct Reason {
    /// The message of the last error, which is the one that serde returns.
    pub(in super::super) message: Option<String>,
    /// The offset of the innermost value of the first error.
    pub(in super::super) offset: Option<usize>,
    /// The names that an enum expects, if it has rejected the name of a variant.
    pub(in super::super) variants: Option<&'static [&'static str]>,
}

thread_local! {
    static REASON: RefCell<Option<Reason>> = const { RefCell::new(None) };
}

/// Records the reasons of errors until dropped.
pub(in super::super) struct Recording {
    outer: Option<Reason>,
}

impl Recording {
    pub(in super::super) fn start() -> Self {
        Self { outer: REASON.replace(Some(Reason::default())) }
    }

    pub(in super::super) fn into_reason(self) -> Reason {
        REASON.take().unwrap_or_default()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        REASON.set(self.outer.take());
    }
}

/// Records the message of an error, unless nothing is recorded.
#[cold]
pub(in super::super) fn record_message(message: &dyn Display) {
    // Rendered first, because it may contain the last message.
    if REASON.with_borrow(Option::is_some) {
        let text = message.to_string();
        REASON.with_borrow_mut(|reason| {
            if let Some(reason) = reason {
                reason.message = Some(text);
            }
        });
    }
}

/// Records that a name is none of the variants of an enum.
#[cold]
pub(in super::super) fn record_variants(variants: &'static [&'static str]) {
    REASON.with_borrow_mut(|reason| {
        if let Some(reason) = reason {
            reason.variants = Some(variants);
        }
    });
}

/// Records the offset of a value that was rejected.
#[cold]
pub(in super::super) fn record_offset(offset: usize) {
    REASON.with_borrow_mut(|reason| {
        if let Some(reason) = reason {
            reason.offset.get_or_insert(offset);
        }
    });
}

/// Records that a type expects something else than this value. `what` is the start of serde's message.
#[cold]
pub(in super::super) fn record_unexpected(what: &str, unexpected: Unexpected<'_>, expected: &dyn Expected) {
    // In JSON's notation, which is short for large numbers.
    let float = match unexpected {
        Unexpected::Float(value) => Number::from_f64(value),
        _ => None,
    };
    match (unexpected, float) {
        (Unexpected::Unit, _) => record_message(&format_args!("{what}: null, expected {expected}")),
        (_, Some(number)) => record_message(&format_args!("{what}: floating point `{number}`, expected {expected}")),
        _ => record_message(&format_args!("{what}: {unexpected}, expected {expected}")),
    }
}

/// Formats the last message.
pub(in super::super) fn fmt_message(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    REASON.with_borrow(|reason| match reason.as_ref().and_then(|reason| reason.message.as_deref()) {
        Some(message) => f.write_str(message),
        None => f.write_str("the value is not certainly valid"),
    })
}
