//! The context of a call whose client expects messages while it runs.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio::sync::mpsc::{Receiver, channel};

use super::ask::{StreamAsker, TaskAsker};
use super::message::CallMessage;
use super::permit::PermitSlot;
use super::request::{Asks, Call};
use crate::server::logging::CallLog;
use crate::server::request::{Caller, Request};

/// The number of messages in the queue of a slow client. Further progress reports and log messages are dropped.
const MAX_MESSAGES: usize = 64;

impl Call<'static> {
    /// Returns the receiver of the messages that the tool sends through its context.
    pub(super) fn listen(&mut self) -> Receiver<CallMessage> {
        let (sender, receiver) = channel(MAX_MESSAGES);
        let mut context = std::mem::take(&mut self.context);
        if let Some(offer) = &self.task {
            let rounds = match &self.asks {
                Asks::Rounds(rounds) => Some(rounds.clone()),
                _ => None,
            };
            let permit = PermitSlot::default();
            self.permit = Some(permit.clone());
            context = context.with_asker(TaskAsker::new(offer, rounds, &self.shared, &self.entry().id, permit));
        } else if let Some(asks) = self.asks.take_stream() {
            let permit = PermitSlot::default();
            self.permit = Some(permit.clone());
            let caller = context.get::<Request>().and_then(Request::caller);
            let identity = caller.and_then(Caller::identity);
            context = context.with_asker(StreamAsker {
                shared: Arc::clone(&self.shared),
                tool: self.entry().id.clone(),
                asks,
                identity,
                messages: sender.clone(),
                permit,
                n_asked: AtomicUsize::new(0),
            });
        }
        if self.progress_token.is_some() {
            self.chunks.send_to(&sender);
        }
        if let Some(level) = self.log_level {
            let (sender, log) = (sender.clone(), CallLog::new(&self.entry().id));
            context = context.on_log(level, move |message| {
                if let Some(bytes) = log.notification(&message) {
                    drop(sender.try_send(CallMessage::Log(bytes)));
                }
            });
        }
        // A task shows the message of the last progress.
        if self.progress_token.is_some() || self.task.is_some() {
            context = context.on_progress(move |progress| drop(sender.try_send(CallMessage::Progress(progress))));
        }
        self.context = context;
        receiver
    }
}
