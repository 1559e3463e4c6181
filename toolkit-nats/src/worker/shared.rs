//! The state that all calls of a worker share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use async_nats::Client;
use futures_util::StreamExt;
use toolkit::Dispatcher;
use toolkit_http::ToolPool;

use super::limits::WorkerLimits;
use super::running::Running;
use super::stats::Stats;
use crate::connect::Connect;
use crate::error::NatsError;
use crate::subject::{Subjects, tool_tokens};
use crate::toolset::Toolset;
use crate::wire;

pub(super) struct Shared {
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
    pub(super) pages: Vec<bytes::Bytes>,
    pub(super) pool: ToolPool,
    pub(super) running: Running,
    pub(super) stats: Stats,
    /// The name of each tool in the dispatcher, by the tokens of its subject.
    names: HashMap<String, Arc<str>>,
    /// The length of the part of a call's subject before the tokens of the tool.
    prefix_len: usize,
}

impl Shared {
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
        let names = dispatcher.catalog().iter().map(|tool| (tool_tokens(tool.id()), tool.id().to_string().into()));
        Ok(Self {
            names: names.collect(),
            prefix_len: subjects.calls_prefix(&toolset.digest).len(),
            client,
            subjects,
            limits,
            instance: wire::random_id(),
            marker_token: wire::random_id(),
            is_leaving: AtomicBool::new(false),
            digest: toolset.digest,
            started: wire::now(),
            pages,
            pool: ToolPool::shared(),
            running: Running::default(),
            stats: Stats::default(),
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

    /// Waits until the server has processed everything that was sent to it before.
    pub(super) async fn round_trip(&self) -> Result<(), NatsError> {
        let subject = self.subjects.control(&self.instance, &wire::random_id());
        let mut answers = self.client.subscribe(subject.clone()).await.map_err(NatsError::closed)?;
        self.client.publish(subject, bytes::Bytes::new()).await.map_err(NatsError::closed)?;
        answers.next().await;
        Ok(())
    }
}

/// The time by which a tool's own timeout may be exceeded before the worker ends the call.
const SLACK: Duration = Duration::from_millis(100);
