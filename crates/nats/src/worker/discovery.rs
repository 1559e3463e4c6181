//! Requests about a worker: its definitions, and the verbs of NATS services.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_nats::HeaderMap;
use bytes::Bytes;
use futures_util::StreamExt;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::shared::WorkerState;
use crate::connect::NatsError;
use crate::subject::SERVICE;
use crate::wire::{self, PROTOCOL};

/// The queue group of requests for definitions, which any worker with the same tools can answer.
const GROUP: &str = "q";

/// Answers requests for definitions, and the verbs `PING`, `INFO` and `STATS`.
pub(super) async fn serve(shared: &Arc<WorkerState>, services: &mut JoinSet<()>) -> Result<(), NatsError> {
    let subject = shared.subjects.tools(&shared.digest);
    let tools = shared.client.queue_subscribe(subject, GROUP.to_owned()).await.map_err(NatsError::closed)?;
    let serving = Arc::clone(shared);
    services.spawn(tools.for_each(move |message| {
        let shared = Arc::clone(&serving);
        async move {
            let reply = message.reply.filter(|reply| shared.subjects.is_reply(reply));
            let Some(reply) = reply else { return };
            // `PAGE` of the index, or `PAGE NAMESPACE` of definitions.
            let text = std::str::from_utf8(&message.payload).unwrap_or_default();
            let (page, namespace) =
                text.split_once(' ').map_or((text, None), |(page, namespace)| (page, Some(namespace)));
            let pages = shared.pages.of(namespace);
            let mut headers = HeaderMap::new();
            headers.insert(wire::PAGES, pages.len().to_string());
            let body = page.parse().map_or_else(|_| pages.first(), |page: usize| pages.get(page));
            let body = body.cloned().unwrap_or_default();
            let _ = shared.client.publish_with_headers(reply, headers, body).await;
        }
    }));
    for verb in Verb::ALL {
        let name = verb.name();
        let instance = &shared.instance;
        for subject in
            [format!("$SRV.{name}"), format!("$SRV.{name}.{SERVICE}"), format!("$SRV.{name}.{SERVICE}.{instance}")]
        {
            let requests = shared.client.subscribe(subject).await.map_err(NatsError::closed)?;
            let shared = Arc::clone(shared);
            services.spawn(requests.for_each(move |message| {
                let shared = Arc::clone(&shared);
                async move {
                    // A worker that leaves would be found again.
                    let is_leaving = shared.is_leaving.load(Ordering::Acquire);
                    let reply = message.reply.filter(|reply| !is_leaving && shared.subjects.is_reply(reply));
                    let Some(reply) = reply else { return };
                    let _ = shared.client.publish(reply, verb.answer(&shared).to_string().into()).await;
                }
            }));
        }
    }
    Ok(())
}

/// Publishes that this worker has joined or leaves.
pub(super) async fn announce(shared: &WorkerState, subject: String) -> Result<(), NatsError> {
    let body: Bytes = Verb::Info.answer(shared).to_string().into();
    shared.client.publish(subject, body).await.map_err(NatsError::closed)
}

toolkit::named! {
    /// A verb of NATS services (ADR-32).
    #[derive(Clone, Copy)]
    enum Verb {
        Ping = "PING",
        Info = "INFO",
        Stats = "STATS",
    }
}

impl Verb {
    fn answer(self, shared: &WorkerState) -> Value {
        let mut answer = json!({
            "type": format!("io.nats.micro.v1.{}_response", self.name().to_ascii_lowercase()),
            "name": SERVICE,
            "id": shared.instance,
            "version": env!("CARGO_PKG_VERSION"),
            "metadata": {
                "protocol": PROTOCOL,
                "digest": shared.digest,
                "tools": shared.n_tools().to_string(),
                "started": shared.started.to_string(),
            },
        });
        let endpoint =
            json!({ "name": "call", "subject": shared.subjects.calls(&shared.digest), "queue_group": GROUP });
        match self {
            Self::Ping => {}
            Self::Info => {
                answer["description"] = json!("Serves tools");
                answer["endpoints"] = json!([endpoint]);
            }
            Self::Stats => {
                let mut endpoint = endpoint;
                shared.stats.write(&mut endpoint);
                answer["endpoints"] = json!([endpoint]);
                let started = i64::try_from(shared.started).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
                answer["started"] = json!(started.map(|started| started.to_string()));
            }
        }
        answer
    }
}
