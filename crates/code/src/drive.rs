//! Runs of programs: the exchange between a program and its tools, and questions of calls to the user.
//!
//! | module | part |
//! |---|---|
//! | `answer` | answers requests |
//! | `trace` | records them, within the memory that a run may keep |

mod answer;
mod trace;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::watch;
use tokio::time::timeout;
use toolkit::call::BoxFuture;
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::schema::json;
use toolkit::{Context, ToolError};

use self::answer::Host;
pub(crate) use self::trace::{TotalBytes, Trace, total_bytes};
use super::engine::{Call, Done, State, Step};
use super::failure::{Failure, FailureKind};
use super::gateway::Gateway;
use super::journal::JournalEntry;
use super::limits::Limits;
use super::program::Program;
use super::sandbox::{SandboxError, Session};

/// The time beyond [`Limits::run_time`] after which a sandbox is ended that has not ended the program itself.
const GRACE: Duration = Duration::from_millis(100);

/// The number of requests of a program that are not calls, such as searches, beside four for each call.
const N_REQUESTS: usize = 100;

/// A run of a program.
pub(crate) struct ProgramRun<'r> {
    pub(crate) gateway: &'r Gateway,
    pub(crate) context: &'r Context,
    pub(crate) limits: &'r Limits,
    pub(crate) start: Instant,
    /// The questions of calls, which wait until nothing else runs.
    pub(crate) pauses: &'r Pauses,
    /// True if the run ends when calls wait for decisions. Otherwise the program gets an error.
    pub(crate) is_resumable: bool,
}

/// The end of a run.
pub(crate) enum End {
    /// The program has ended.
    Done(Done),
    /// All that the program waits for are decisions, for these reasons.
    Paused(Vec<String>),
}

impl ProgramRun<'_> {
    /// Runs the program to its end, or until it waits for decisions. The program gets the answers in `replayed` first.
    /// Its effects until then are in `trace`, also if the future is dropped.
    pub(crate) async fn drive(
        &self,
        session: &mut dyn Session,
        program: &Program,
        replayed: Vec<JournalEntry>,
        trace: &Trace,
    ) -> End {
        let exchange = timeout(self.limits.time, self.exchange(session, program, replayed, trace));
        let cancelled = || failed(FailureKind::Cancelled, "the run was canceled");
        let ended = tokio::select! {
            ended = exchange => ended,
            () = self.context.cancelled() => return cancelled(),
        };
        match ended {
            // A call may have failed first, for the same reason.
            Ok(Ok(End::Done(Done { outcome: Err(_), .. }))) if self.context.is_cancelled() => cancelled(),
            Ok(Ok(end)) => end,
            Ok(Err(failure)) => End::Done(Done { outcome: Err(failure), shown: Vec::new() }),
            Err(_) => {
                let running = trace.running();
                let waits = if running.is_empty() { String::new() } else { format!("; it waits for {running}") };
                failed(FailureKind::Time, &format!("the run exceeded its time limit of {:?}{waits}", self.limits.time))
            }
        }
    }

    async fn exchange(
        &self,
        session: &mut dyn Session,
        program: &Program,
        replayed: Vec<JournalEntry>,
        trace: &Trace,
    ) -> Result<End, Failure> {
        let host = Host::new(self, program.started_at, trace);
        for entry in &replayed {
            host.replayed(entry);
            // The earlier run was allowed to keep it, and counted it in another form.
            let max = trace.budget.left(self.limits);
            trace.budget.add(json::length(entry, max).min(max));
        }
        let mut replay = Replay::new(replayed);
        let mut clock = Clock { left: self.limits.run_time };
        let mut step = clock.watch(session.start(program)).await?;
        let (mut waiting, mut running) = (VecDeque::new(), FuturesUnordered::new());
        let (mut last_id, mut n_requests, mut paused) = (0, 0, Vec::new());
        loop {
            trace.advance(&mut step, self.limits);
            let calls = match step.state {
                State::Done(done) => return Ok(End::Done(done)),
                State::Waiting(calls) => calls,
            };
            n_requests += calls.len();
            check(&calls, &mut last_id)?;
            if n_requests > N_REQUESTS + 4 * self.limits.calls as usize {
                let message =
                    "the program makes too many requests; search and describe once, and filter in the program";
                return Err(Failure::new(FailureKind::Calls, message));
            }
            let calls = replay.new_calls(calls)?;
            let refusal = host.count_calls(&calls).err();
            for call in calls {
                trace.budget.reserve(call.request.size(), self.limits)?;
                waiting.push_back((call, refusal.clone()));
            }
            if let Some(entry) = replay.next()? {
                let answer = entry.answer.clone();
                trace.answered(entry);
                step = clock.watch(session.resume(vec![answer])).await?;
                continue;
            }
            let answer = loop {
                while running.len() < self.limits.concurrent_calls.max(1) as usize
                    && let Some((call, refusal)) = waiting.pop_front()
                {
                    running.push(host.answer(call, refusal));
                }
                self.pauses.set_running(running.len());
                match running.next().await {
                    Some(Ok(answer)) => break answer,
                    Some(Err(reason)) => paused.push(reason),
                    None if paused.is_empty() => return Err(invalid("it waits for nothing")),
                    None => return Ok(End::Paused(paused)),
                }
            };
            step = clock.watch(session.resume(vec![answer])).await?;
        }
    }
}

/// Checks that the ids of calls are new, since the other side may be hostile.
fn check(calls: &[Call], last_id: &mut u32) -> Result<(), Failure> {
    for call in calls {
        if call.id <= *last_id {
            return Err(invalid("the id of a call is repeated"));
        }
        *last_id = call.id;
    }
    Ok(())
}

fn failed(kind: FailureKind, message: &str) -> End {
    End::Done(Done { outcome: Err(Failure::new(kind, message)), shown: Vec::new() })
}

fn invalid(reason: &str) -> Failure {
    Failure::new(FailureKind::Violation, SandboxError::protocol(reason).to_string())
}

/// The time that the program has left, without the time of its calls.
struct Clock {
    left: Duration,
}

impl Clock {
    async fn watch(&mut self, step: impl Future<Output = Result<Step, SandboxError>>) -> Result<Step, Failure> {
        let start = Instant::now();
        let step = timeout(self.left + GRACE, step).await;
        self.left = self.left.saturating_sub(start.elapsed());
        match step {
            Ok(Ok(step)) => Ok(step),
            Ok(Err(SandboxError::Ended(kind, message))) => Err(Failure::new(kind, message)),
            Ok(Err(error @ SandboxError::Unavailable { .. })) => {
                Err(Failure::new(FailureKind::Unavailable, error.to_string()))
            }
            Ok(Err(error)) => Err(Failure::new(FailureKind::Violation, error.to_string())),
            Err(_) => {
                let message = "the program exceeded its time limit; it computed too long between two calls";
                Err(Failure::new(FailureKind::Time, message))
            }
        }
    }
}

/// The answers of an earlier run of the same program, which it gets again in their order.
struct Replay {
    entries: VecDeque<JournalEntry>,
    /// The ids of the calls that the program has made again.
    made: HashSet<u32>,
}

impl Replay {
    fn new(entries: Vec<JournalEntry>) -> Self {
        Self { entries: entries.into(), made: HashSet::new() }
    }

    /// Keeps the calls that have an answer, and returns the others.
    ///
    /// # Errors
    ///
    /// Returns an error if the program makes another call than in the earlier run.
    fn new_calls(&mut self, calls: Vec<Call>) -> Result<Vec<Call>, Failure> {
        if self.entries.is_empty() {
            return Ok(calls);
        }
        let mut new = Vec::new();
        for call in calls {
            match self.entries.iter().find(|entry| entry.answer.id == call.id) {
                Some(entry) if entry.answers(&call) => {
                    self.made.insert(call.id);
                }
                Some(_) => return Err(differs()),
                None => new.push(call),
            }
        }
        Ok(new)
    }

    /// Returns the next answer, or `None` after the last one.
    ///
    /// # Errors
    ///
    /// Returns an error if the program has not made its call.
    fn next(&mut self) -> Result<Option<JournalEntry>, Failure> {
        let Some(entry) = self.entries.pop_front() else { return Ok(None) };
        if self.made.remove(&entry.answer.id) { Ok(Some(entry)) } else { Err(differs()) }
    }
}

fn differs() -> Failure {
    Failure::new(FailureKind::Violation, "the journal is not that of this program: it makes other calls")
}

/// Marks the context of calls that a program makes, so that a program cannot run another one.
struct InProgram;

/// Returns the context for the calls of a program, with their asker. Their progress is that of the run.
fn nested(context: &Context, asker: impl Asker + 'static) -> Context {
    context.clone().with(InProgram).on_progress(|_| {}).with_asker(asker)
}

/// Returns true if a program made the call with this context.
pub(crate) fn is_nested(context: &Context) -> bool {
    context.get::<InProgram>().is_some()
}

/// Delays the questions of calls until nothing else runs.
///
/// A question may end the call of the program: over MCP it runs again with the answer. A call that runs beside the
/// question would be lost then, and be made again.
#[derive(Clone, Debug)]
pub(crate) struct Pauses(Arc<watch::Sender<Counts>>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    n_running: usize,
    n_asking: usize,
}

impl Pauses {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Counts::default())))
    }

    /// Sets the number of calls that run, including those that ask.
    fn set_running(&self, n_running: usize) {
        self.0.send_modify(|counts| counts.n_running = n_running);
    }

    /// Returns an asker that passes questions on to that of `context`.
    pub(crate) fn asker(&self, context: &Context) -> impl Asker + 'static {
        Delayed { pauses: self.clone(), context: context.clone() }
    }
}

struct Delayed {
    pauses: Pauses,
    context: Context,
}

impl Asker for Delayed {
    fn can_ask(&self, mode: Mode) -> bool {
        self.context.can_ask(mode)
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async {
            let mut counts = self.pauses.0.subscribe();
            let _asking = Asking::begin(&self.pauses);
            // The sender lives as long as `self`.
            let _ = counts.wait_for(|counts| counts.n_asking >= counts.n_running).await;
            self.context.ask_question(question).await
        })
    }
}

/// A guard that counts a question.
struct Asking<'p>(&'p Pauses);

impl<'p> Asking<'p> {
    fn begin(pauses: &'p Pauses) -> Self {
        pauses.0.send_modify(|counts| counts.n_asking += 1);
        Self(pauses)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|counts| counts.n_asking -= 1);
    }
}
