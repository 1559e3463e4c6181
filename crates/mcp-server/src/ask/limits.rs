//! The limits of calls that wait for their users.

use std::collections::HashMap;
use std::sync::Arc;

use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_runtime::Mutex;

/// The calls of a server that wait for their users.
#[derive(Clone, Debug)]
pub(crate) struct WaitingCalls {
    waiting: Arc<Mutex<OpenCount>>,
    per_caller: usize,
    in_total: usize,
}

#[derive(Debug, Default)]
struct OpenCount {
    n_calls: usize,
    of_caller: HashMap<Arc<str>, usize>,
}

impl WaitingCalls {
    pub(crate) fn new(per_caller: usize, in_total: usize) -> Self {
        Self { waiting: Arc::default(), per_caller, in_total }
    }

    /// Returns the open questions of a call, of which there are none yet.
    pub(crate) fn of_call(&self, caller: &str) -> OpenQuestions {
        OpenQuestions { calls: self.clone(), caller: caller.into(), n_open: Mutex::default() }
    }

    fn enter(&self, caller: &Arc<str>) -> Result<(), ToolError> {
        let mut waiting = self.waiting.lock();
        let n_of_caller = waiting.of_caller.get(caller).copied().unwrap_or(0);
        let message = match (n_of_caller >= self.per_caller, waiting.n_calls >= self.in_total) {
            (true, _) => format!("{} calls of this caller wait for an answer of their user", self.per_caller),
            (_, true) => format!("{} calls of the server wait for answers of their users", self.in_total),
            _ => {
                waiting.n_calls += 1;
                waiting.of_caller.insert(Arc::clone(caller), n_of_caller + 1);
                return Ok(());
            }
        };
        Err(ToolError::new(ErrorKind::Overloaded, format!("{message}, which is the limit; try again later")))
    }

    fn leave(&self, caller: &Arc<str>) {
        let mut waiting = self.waiting.lock();
        waiting.n_calls -= 1;
        if let Some(n_of_caller) = waiting.of_caller.get_mut(caller) {
            *n_of_caller -= 1;
            if *n_of_caller == 0 {
                waiting.of_caller.remove(caller);
            }
        }
    }
}

/// The open questions of a call, which waits while there is one.
#[derive(Debug)]
pub(crate) struct OpenQuestions {
    calls: WaitingCalls,
    caller: Arc<str>,
    n_open: Mutex<usize>,
}

impl OpenQuestions {
    /// Counts a question as open until the guard is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the call would be one too many.
    pub(crate) fn open(&self) -> Result<OpenQuestion<'_>, ToolError> {
        let mut n_open = self.n_open.lock();
        if *n_open == 0 {
            self.calls.enter(&self.caller)?;
        }
        *n_open += 1;
        Ok(OpenQuestion(self))
    }
}

/// An open question.
#[derive(Debug)]
pub(crate) struct OpenQuestion<'q>(&'q OpenQuestions);

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        let mut n_open = self.0.n_open.lock();
        *n_open -= 1;
        if *n_open == 0 {
            self.0.calls.leave(&self.0.caller);
        }
    }
}
