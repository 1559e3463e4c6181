//! Records what a type requests from a deserializer at the end of a text.
//!
//! A type is explored without a value of it: the code that reads arguments reads the start of a text, and the request
//! of the type at its end shows how to continue the text. Recording happens only on error paths, so that calls do not
//! pay for it.

use std::cell::Cell;

use crate::plan::plan_error::Recording;

/// A request of a type for a value with inner values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeRequest {
    /// A struct, with the names of its fields and their aliases.
    Struct(&'static [&'static str]),
    /// An enum, with the names of its variants and their aliases.
    Enum(&'static [&'static str]),
    /// A map.
    Map,
    /// A sequence or a tuple.
    List,
}

/// The outcome of reading the start of a text.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeOutcome {
    /// True if the type read the text to its end.
    pub at_end: bool,
    /// True if the text is a whole value of the type.
    pub is_value: bool,
    /// True if a value was requested at the end of the text.
    pub wants_value: bool,
    /// The request. `None` if the value has no inner values, or if the type made several requests.
    pub request: Option<TypeRequest>,
    /// True if the last key was requested as a type that a string cannot be, and was rejected.
    pub is_key_impossible: bool,
    /// The variants of the enum that rejected the last key.
    pub key_variants: Option<&'static [&'static str]>,
    /// The variants of the enum that rejected the name of a variant.
    pub variants: Option<&'static [&'static str]>,
    /// True if the type rejected a value in the text.
    pub is_rejected: bool,
    n_requests: usize,
}

thread_local! {
    static OUTCOME: Cell<Option<ProbeOutcome>> = const { Cell::new(None) };
}

/// Returns the requests recorded during `read`, which returns whether it is at the end of its text and has read a value.
pub(in super::super) fn record_during(read: &mut dyn FnMut() -> (bool, bool)) -> ProbeOutcome {
    let outer = OUTCOME.replace(Some(ProbeOutcome::default()));
    let recording = Recording::start();
    let (at_end, is_value) = read();
    let reason = recording.into_reason();
    let outcome = OUTCOME.replace(outer).unwrap_or_default();
    // The end of the text has no message.
    let (is_rejected, variants) = (reason.message.is_some(), reason.variants);
    ProbeOutcome {
        at_end,
        is_value,
        is_rejected,
        variants,
        request: outcome.request.filter(|_| outcome.n_requests == 1),
        ..outcome
    }
}

#[cold]
fn record(change: impl FnOnce(&mut ProbeOutcome)) {
    OUTCOME.with(|cell| {
        if let Some(mut outcome) = cell.get() {
            change(&mut outcome);
            cell.set(Some(outcome));
        }
    });
}

/// Records a request at a place where the text has another value, or none.
#[cold]
pub(super) fn record_request(request: TypeRequest) {
    record(|outcome| {
        outcome.n_requests += 1;
        outcome.request = Some(request);
    });
}

/// Records that a value was requested at the end of the text.
#[cold]
pub(super) fn record_missing_value() {
    record(|outcome| outcome.wants_value = true);
}

/// Records that a key was requested as a type that a string cannot be.
#[cold]
pub(super) fn record_impossible_key() {
    record(|outcome| outcome.is_key_impossible = true);
}

/// Records that a key is not a variant of the enum, or is one with content.
#[cold]
pub(super) fn record_key_variants(variants: &'static [&'static str]) {
    record(|outcome| outcome.key_variants = Some(variants));
}
