//! Journals of paused programs. `seal` encrypts them.

mod seal;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolkit::Content;

pub use self::seal::JournalKey;
use super::engine::{Answer, Call, Request, Thrown};
use super::program::Program;
use super::wire::write_json;
use crate::execution::CallRecord;

/// The version of the format.
const VERSION: u32 = 1;

/// A program that waits for a decision, as data.
///
/// It contains the program and the answers to its calls in the order in which the program got them. Resuming it runs the
/// program again with these answers, which leads to the same state, and makes none of the answered calls again.
///
/// It contains arguments and results of calls: [seal](Journal::seal) it before someone else stores it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    version: u32,
    pub(crate) program: Program,
    pub(crate) entries: Vec<JournalEntry>,
    /// The messages of the calls that wait.
    waiting: Vec<String>,
}

/// An answered call.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JournalEntry {
    pub(crate) request: Request,
    pub(crate) answer: Answer,
    /// The calls of tools that it made: one, whose arguments and result are those above, or those of a chain.
    pub(crate) calls: Vec<CallRecord>,
    /// The blocks of content in its result.
    pub(crate) content: Vec<Content>,
}

impl Journal {
    pub(crate) fn new(program: Program, entries: Vec<JournalEntry>, waiting: Vec<String>) -> Self {
        Self { version: VERSION, program, entries, waiting }
    }

    /// Writes the journal of a program as JSON. Returns `None` if it is longer than `max` bytes.
    pub(crate) fn write(program: &Program, entries: &[JournalEntry], max: usize) -> Option<String> {
        #[derive(Serialize)]
        struct Borrowed<'j> {
            version: u32,
            program: &'j Program,
            entries: &'j [JournalEntry],
            waiting: [(); 0],
        }
        let journal = Borrowed { version: VERSION, program, entries, waiting: [] };
        String::from_utf8(write_json(&journal, max).ok()??).ok()
    }

    /// Returns the reasons why the program waits, such as `approval 17 is open`.
    #[must_use]
    pub fn waiting(&self) -> &[String] {
        &self.waiting
    }

    /// Returns the number of calls of tools that have been made and will not be made again.
    #[must_use]
    pub fn n_calls(&self) -> usize {
        self.entries.iter().map(|entry| entry.calls.len()).sum()
    }

    /// Returns true if this version of the library can resume the journal.
    pub(crate) fn is_supported(&self) -> bool {
        self.version == VERSION
    }
}

impl JournalEntry {
    /// Returns true if the entry is the answer to this call.
    pub(crate) fn answers(&self, call: &Call) -> bool {
        let text = |request: &Request| serde_json::to_string(request).ok();
        self.answer.id == call.id && text(&self.request) == text(&call.request)
    }

    /// Replaces the results by an error. The steps of a chain still show which calls have succeeded.
    pub(crate) fn drop_results(&mut self, error: &Thrown) {
        for call in &mut self.calls {
            call.args = RawValue::NULL.to_owned();
            call.changes = Vec::new();
            call.result = match call.result {
                Ok(_) => Ok(RawValue::NULL.to_owned()),
                Err(_) => Err(error.clone()),
            };
        }
        self.answer.outcome = Err(error.clone());
        self.answer.content = None;
        self.content = Vec::new();
    }

    /// Returns the records of the calls.
    pub(crate) fn into_calls(self) -> Vec<CallRecord> {
        let Self { request, answer, mut calls, .. } = self;
        if let (Request::RunTool { args, .. }, [call]) = (request, &mut *calls) {
            (call.args, call.result) = (args, answer.outcome);
        }
        calls
    }
}

// Arguments and results may be secret, and `Debug` output usually ends up in logs.
toolkit::debug_fields!(it, Journal { n_calls: it.n_calls(), waiting });
