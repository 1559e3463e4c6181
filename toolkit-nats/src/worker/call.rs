//! One call on a worker.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::Message;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{MissedTickBehavior, interval_at, sleep};
use toolkit::call::{ErrorKind, Progress};
use toolkit::dispatch::BlockingThreads;
use toolkit::stream::Event;
use toolkit::{Context, RunResult, ToolError};
use toolkit_http::Task;

use super::reply::{Ran, Reply};
use super::request::Request;
use super::running::Entry;
use super::shared::Shared;
use crate::wire::ACCEPT_AFTER;

/// The time that a canceled tool has to return.
pub(super) const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

type Outcome = Result<RunResult, ToolError>;

/// An event before the end of a call.
enum Part {
    Progress(Progress),
    Chunk(String),
}

/// Runs a call and sends its events to the caller.
pub(super) async fn run(shared: Arc<Shared>, message: Message) {
    let started = Instant::now();
    let mut reply = Reply::to(&shared, message.reply.clone());
    let request = match Request::read(&message) {
        Ok(request) => request,
        Err(error) => return reply.error(&error, Ran::No).await,
    };
    let Some(name) = shared.tool(&message.subject) else {
        let error = ToolError::new(ErrorKind::UnknownTool, "the worker has no such tool");
        return reply.error(&error, Ran::No).await;
    };
    let Some(entry) = shared.running.add(&request.call, request.credit) else {
        let error = ToolError::failed("a call with this id is running");
        return reply.error(&error, Ran::No).await;
    };
    let outcome = Call { shared: &shared, name, request, entry }.run(&message, &mut reply).await;
    shared.stats.record(started.elapsed(), outcome.as_ref().err());
    match outcome {
        Ok(result) => reply.result(name, result).await,
        Err(error) if error.kind().may_have_started() => reply.error(&error, Ran::Yes).await,
        Err(error) => reply.error(&error, Ran::No).await,
    }
}

struct Call<'c> {
    shared: &'c Arc<Shared>,
    name: &'c Arc<str>,
    request: Request,
    entry: Entry<'c>,
}

impl Call<'_> {
    async fn run(self, message: &Message, reply: &mut Reply<'_>) -> Outcome {
        let limit = self.shared.time_limit(self.name, self.request.left);
        let mut timed_out = pin!(sleep(limit));
        let is_streamed = self.request.wants_progress || self.request.wants_chunks;
        let (parts, mut received) = is_streamed.then(|| channel(1)).unzip();
        let mut running = self.start(message, parts);
        let control = self.shared.subjects.control(&self.shared.instance, &self.request.call);
        if !self.request.reads_events {
            let outcome = tokio::time::timeout(limit, running).await;
            return outcome.map_or_else(|_| Err(timed_out_after(limit)), ended);
        }
        if !is_streamed {
            tokio::select! {
                biased;
                outcome = &mut running => return ended(outcome),
                () = sleep(ACCEPT_AFTER.min(limit)) => {}
            }
        }
        reply.alive("accepted", &control).await;
        let beat = self.shared.limits.beat;
        let mut beats = interval_at(tokio::time::Instant::now() + beat, beat);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let cancel = &self.entry.handle.cancel;
        let mut abandoned = pin!(async {
            cancel.cancelled().await;
            sleep(CANCEL_TIMEOUT).await;
        });
        // A chunk for which the caller has no room yet.
        let mut waiting: Option<String> = None;
        let mut outcome = None;
        loop {
            if outcome.is_some() && waiting.is_none() && received.as_ref().is_none_or(Receiver::is_empty) {
                return outcome.unwrap_or_else(|| Err(ToolError::cancelled()));
            }
            tokio::select! {
                biased;
                ended_with = &mut running, if outcome.is_none() => outcome = Some(ended(ended_with)),
                permit = self.entry.handle.credit.acquire(), if waiting.is_some() => {
                    if let Ok(permit) = permit {
                        permit.forget();
                    }
                    if let Some(chunk) = waiting.take() {
                        reply.chunk(chunk).await;
                    }
                }
                Some(part) = next(&mut received), if waiting.is_none() => match part {
                    Part::Progress(progress) => reply.progress(&progress).await,
                    Part::Chunk(chunk) => waiting = Some(chunk),
                },
                _ = beats.tick() => reply.alive("beat", &control).await,
                () = &mut timed_out => return Err(timed_out_after(limit)),
                () = &mut abandoned => return Err(ToolError::cancelled()),
            }
        }
    }

    /// Starts the tool on the tool pool, where it may block.
    fn start(&self, message: &Message, parts: Option<Sender<Part>>) -> Task<Outcome> {
        let (threads, tool) = (self.shared.pool.clone(), Arc::clone(self.name));
        let threads = BlockingThreads::new(move |work| threads.run(&tool, work));
        let context = Context::new().with(threads).with_cancel(self.entry.handle.cancel.clone());
        let context = match &self.request.trace {
            Some(trace) => context.with(trace.clone()),
            None => context,
        };
        let (shared, name, arguments) = (Arc::clone(self.shared), Arc::clone(self.name), message.payload.clone());
        let wants_chunks = self.request.wants_chunks;
        self.shared.pool.spawn(self.name, async move {
            let Some(parts) = parts else {
                return shared.dispatcher.call_with(&context, &name, &arguments[..]).await;
            };
            let mut events = shared.dispatcher.stream_with(&context, &name, &arguments[..]);
            while let Some(event) = events.next().await {
                let part = match event.event {
                    Event::Done(result) => return Ok(result),
                    Event::Error(error) => return Err(error),
                    Event::Progress(progress) => Part::Progress(progress),
                    Event::Chunk(chunk) if wants_chunks => Part::Chunk(chunk.json().to_owned()),
                    _ => continue,
                };
                // The other side has gone if the call has timed out.
                if parts.send(part).await.is_err() {
                    break;
                }
            }
            Err(ToolError::cancelled())
        })
    }
}

fn timed_out_after(limit: Duration) -> ToolError {
    ToolError::new(ErrorKind::TimedOut, format!("the call took longer than {limit:?}"))
}

fn ended(outcome: Result<Outcome, toolkit_http::Panicked>) -> Outcome {
    outcome.unwrap_or_else(|panicked| Err(ToolError::internal(panicked)))
}

async fn next(parts: &mut Option<Receiver<Part>>) -> Option<Part> {
    match parts {
        Some(parts) => parts.recv().await,
        None => None,
    }
}
