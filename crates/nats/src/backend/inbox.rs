//! The replies to the calls of a backend.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_nats::{Client, Message};
use futures_util::StreamExt;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;

use super::events::control;
use crate::error::NatsError;
use crate::subject::Subjects;
use crate::wire::{CANCEL, HERE};

/// One subscription for the replies to all calls, each with a subject of its own.
pub(super) struct Inbox {
    prefix: String,
    waiting: Waiting,
    n_calls: AtomicU64,
}

type Waiting = Arc<Mutex<HashMap<u64, Sender<Message>>>>;

/// The replies to one call. Dropping it ends them.
pub(super) struct Replies {
    pub(super) subject: String,
    messages: Receiver<Message>,
    number: u64,
    waiting: Waiting,
}

/// The maximum number of replies that a call has not read yet. Chunks are limited by the credit of the worker.
const MAX_UNREAD: usize = 1024;

impl Inbox {
    pub(super) async fn subscribe(
        client: &Client,
        prefix: String,
        subjects: Subjects,
        services: &mut JoinSet<()>,
    ) -> Result<Self, NatsError> {
        let mut messages = client.subscribe(format!("{prefix}.*")).await.map_err(NatsError::closed)?;
        let waiting = Waiting::default();
        let (calls, client) = (Arc::clone(&waiting), client.clone());
        services.spawn(async move {
            while let Some(message) = messages.next().await {
                let number = message.subject.rsplit('.').next().and_then(|token| token.parse().ok());
                let Some(number) = number else { continue };
                let sender = locked(&calls).get(&number).cloned();
                if let Some(control) = control(&subjects, &message) {
                    // The call was dropped before the worker accepted it, or has a caller, which may be busy.
                    let text = if sender.is_some() { HERE } else { CANCEL };
                    let _ = client.publish(control, text.into()).await;
                }
                // A call that does not read its replies gets no more of them, and fails.
                if sender.is_some_and(|sender| sender.try_send(message).is_err()) {
                    locked(&calls).remove(&number);
                }
            }
            // The connection is closed: no further replies arrive.
            locked(&calls).clear();
        });
        Ok(Self { prefix, waiting, n_calls: AtomicU64::new(0) })
    }

    /// Starts to receive the replies to a new call.
    pub(super) fn open(&self) -> Replies {
        let number = self.n_calls.fetch_add(1, Ordering::Relaxed);
        let (sender, messages) = channel(MAX_UNREAD);
        locked(&self.waiting).insert(number, sender);
        Replies { subject: format!("{}.{number}", self.prefix), messages, number, waiting: Arc::clone(&self.waiting) }
    }
}

impl Replies {
    /// Returns the next reply, or `None` if there will be none.
    pub(super) async fn next(&mut self) -> Option<Message> {
        self.messages.recv().await
    }
}

impl Drop for Replies {
    fn drop(&mut self) {
        locked(&self.waiting).remove(&self.number);
    }
}

fn locked(waiting: &Waiting) -> MutexGuard<'_, HashMap<u64, Sender<Message>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
