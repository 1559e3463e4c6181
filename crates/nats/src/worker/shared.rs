//! The state that all calls of a worker share: its connection and its statistics.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_nats::Client;
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::{Value, json};
use toolkit::call::ErrorKind;
use toolkit::{Dispatcher, ToolError};
use toolkit_runtime::{BudgetShare, Mutex, SharedBudget};

use super::claims::Claims;
use super::running::RunningCalls;
use super::worker_limits::WorkerLimits;
use crate::bodies::{Bodies, BodyReference};
use crate::connect::{Connect, NatsError};
use crate::subject::{Subjects, tool_tokens};
use crate::toolset::{Pages, Toolset};
use crate::wire::{self, MAX_BODY};

pub(super) struct WorkerState {
    pub(super) client: Client,
    pub(super) dispatcher: Dispatcher,
    pub(super) subjects: Subjects,
    pub(super) limits: WorkerLimits,
    /// The random id of this worker.
    pub(super) instance: String,
    /// The random token of the subject on which this worker sends messages to itself.
    pub(super) marker_token: String,
    /// True from the announcement on that this worker leaves.
    pub(super) is_leaving: AtomicBool,
    pub(super) digest: String,
    /// The Unix time in milliseconds at which this worker started.
    pub(super) started: u64,
    pub(super) pages: Pages,
    pub(super) running: RunningCalls,
    pub(super) stats: Stats,
    pub(super) bodies: Bodies,
    /// The bytes of arguments from the object store that this worker may hold, of which each caller has a share.
    pub(super) body_bytes: SharedBudget<Box<str>>,
    pub(super) claims: Claims,
    /// True if credentials may be sent to this worker.
    pub(super) is_confidential: bool,
    /// The name of each tool in the dispatcher, by the tokens of its subject.
    names: HashMap<String, Arc<str>>,
    /// The length of the part of a call's subject before the tokens of the tool.
    prefix_len: usize,
}

impl WorkerState {
    pub(super) async fn connect(
        connect: Connect,
        dispatcher: Dispatcher,
        prefix: &str,
        limits: WorkerLimits,
    ) -> Result<Self, NatsError> {
        let client = connect.client("toolkit worker", tokio::sync::broadcast::Sender::new(1)).await?;
        let subjects = Subjects::new(prefix);
        let toolset = Toolset::new(dispatcher.catalog().iter());
        let limit = client.max_payload().saturating_sub(wire::HEADER_RESERVE);
        let pages = toolset.pages(limit).map_err(|n_bytes| NatsError::DefinitionTooLarge { n_bytes, limit })?;
        let instance = wire::random_id();
        let names = dispatcher.catalog().iter().map(|tool| (tool_tokens(tool.id()), tool.id().to_string().into()));
        Ok(Self {
            names: names.collect(),
            prefix_len: subjects.calls_prefix(&toolset.digest).len(),
            bodies: Bodies::new(&client),
            body_bytes: SharedBudget::new(limits.max_body_bytes as u64),
            limits,
            claims: Claims::new(&client, subjects.claims(), &instance),
            is_confidential: connect.is_confidential(),
            instance,
            marker_token: wire::random_id(),
            is_leaving: AtomicBool::new(false),
            digest: toolset.digest,
            started: wire::now(),
            pages,
            running: RunningCalls::default(),
            stats: Stats::default(),
            client,
            subjects,
            dispatcher,
        })
    }

    /// Returns the name in the dispatcher of the tool with this subject.
    pub(super) fn tool(&self, subject: &str) -> Option<&Arc<str>> {
        self.names.get(subject.get(self.prefix_len..)?)
    }

    pub(super) fn n_tools(&self) -> usize {
        self.names.len()
    }

    /// Returns the timeout of a call. The dispatcher applies the tool's own timeout first, if the tool yields to it.
    pub(super) fn time_limit(&self, name: &str, left: Option<Duration>) -> Duration {
        let own = self.dispatcher.prepared(name).ok().and_then(|tool| tool.timeout());
        let limit = own.map_or(self.limits.call_timeout, |own| self.limits.call_timeout.min(own + SLACK));
        left.map_or(limit, |left| left.min(limit))
    }

    /// Reads the arguments of a caller from the object store, when its share has memory for them. The memory is free when the share
    /// is dropped.
    pub(super) async fn read_body(
        &self,
        reference: &BodyReference,
        caller: Option<&str>,
    ) -> Result<(Bytes, BudgetShare<Box<str>>), ToolError> {
        let BodyReference { len, bucket, .. } = reference;
        let limit = self.limits.max_body_bytes.min(MAX_BODY);
        if *len > limit {
            let message = format!("the arguments have {len} bytes, more than the limit of {limit}");
            return Err(ToolError::new(ErrorKind::TooLarge, message));
        }
        let mut memory = self.body_bytes.share(caller.map(Box::from));
        memory.grow_when_free(*len as u64).await;
        let read = self.bodies.read(reference).await.map_err(|error| {
            let message = format!("the worker cannot read the arguments from the bucket `{bucket}`");
            ToolError::new(ErrorKind::Unavailable, message).caused_by(error)
        });
        Ok((read?.0, memory))
    }

    /// Waits until the server has processed everything that was sent to it before.
    pub(super) async fn round_trip(&self) -> Result<(), NatsError> {
        let subject = self.subjects.control(&self.instance, &wire::random_id());
        let mut answers = self.client.subscribe(subject.clone()).await.map_err(NatsError::closed)?;
        self.client.publish(subject, Bytes::new()).await.map_err(NatsError::closed)?;
        answers.next().await;
        Ok(())
    }
}

/// The time by which a tool's own timeout may be exceeded before the worker ends the call.
const SLACK: Duration = Duration::from_millis(100);

/// The number and duration of calls, for `$SRV.STATS`.
#[derive(Default)]
pub(super) struct Stats {
    n_calls: AtomicU64,
    n_errors: AtomicU64,
    nanos: AtomicU64,
    last_error: Mutex<&'static str>,
}

impl Stats {
    pub(super) fn record(&self, took: Duration, error: Option<ErrorKind>) {
        self.n_calls.fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(took.as_nanos().try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
        if let Some(error) = error {
            self.n_errors.fetch_add(1, Ordering::Relaxed);
            // The name of the kind contains nothing of the call.
            *self.last_error.lock() = error.name();
        }
    }

    /// Adds the statistics to the description of an endpoint.
    pub(super) fn write(&self, endpoint: &mut Value) {
        let [n_calls, n_errors, nanos] =
            [&self.n_calls, &self.n_errors, &self.nanos].map(|count| count.load(Ordering::Relaxed));
        endpoint["num_requests"] = json!(n_calls);
        endpoint["num_errors"] = json!(n_errors);
        endpoint["last_error"] = json!(*self.last_error.lock());
        endpoint["processing_time"] = json!(nanos);
        endpoint["average_processing_time"] = json!(nanos.checked_div(n_calls).unwrap_or(0));
    }
}
