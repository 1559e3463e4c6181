//! Records what a type asks a deserializer for where the text ends.
//!
//! A type is explored without a value of it: the same code that reads arguments reads the front of a text, and what the
//! type asks for at its end shows which text comes next. Everything is recorded where reading has already failed, so
//! that a call takes no step more.

use std::cell::Cell;

/// The request of a type for a value that has inner values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A struct: the names of its fields, with their aliases.
    Struct(&'static [&'static str]),
    /// An enum: the names of its variants, with their aliases.
    Enum(&'static [&'static str]),
    /// A map.
    Map,
    /// A sequence or a tuple.
    List,
}

/// The outcome of reading the front of a text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answer {
    /// The type read the text as far as it goes.
    pub at_end: bool,
    /// A value was asked for at the end of the text.
    pub wants_value: bool,
    /// What was asked for, unless it has no inner values, or the type asked in several ways.
    pub asked: Option<Asked>,
    /// The last key was asked for as something that a string cannot be, and refused.
    pub is_key_impossible: bool,
    /// The variants of the enum that the last key was asked for as, and that refused it.
    pub key_variants: Option<&'static [&'static str]>,
    n_asked: usize,
}

thread_local! {
    static NOTES: Cell<Option<Answer>> = const { Cell::new(None) };
}

/// Returns what was recorded while `read` ran, which returns true if it came to the end of its text.
pub(in super::super) fn listen(read: impl FnOnce() -> bool) -> Answer {
    let outer = NOTES.replace(Some(Answer::default()));
    let at_end = read();
    let answer = NOTES.replace(outer).unwrap_or_default();
    Answer { at_end, asked: answer.asked.filter(|_| answer.n_asked == 1), ..answer }
}

#[cold]
fn note(change: impl FnOnce(&mut Answer)) {
    NOTES.with(|notes| {
        if let Some(mut answer) = notes.get() {
            change(&mut answer);
            notes.set(Some(answer));
        }
    });
}

/// Records what was asked for where something else stands, or nothing.
#[cold]
pub(super) fn note_asked(asked: Asked) {
    note(|answer| {
        answer.n_asked += 1;
        answer.asked = Some(asked);
    });
}

/// Records that a value was asked for where the text ends.
#[cold]
pub(super) fn note_missing_value() {
    note(|answer| answer.wants_value = true);
}

/// Records that a key was asked for as something that a string cannot be.
#[cold]
pub(super) fn note_impossible_key() {
    note(|answer| answer.is_key_impossible = true);
}

/// Records that a key is none of these variants, or one that has content.
#[cold]
pub(super) fn note_key_variants(variants: &'static [&'static str]) {
    note(|answer| answer.key_variants = Some(variants));
}
