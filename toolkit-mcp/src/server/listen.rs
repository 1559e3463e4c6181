//! Notifications of changes of tools and resources: `subscriptions/listen`, and the implicit ones of earlier revisions.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;
use toolkit::call::BoxFuture;
use toolkit::{CancelToken, Context};

use super::peer::Peer;
use super::reply::{Code, RpcError, json_bytes, notification, response};
use super::resources::readable;
use super::running::Registered;
use super::state::Server;
use super::subscriptions::{self, Inbox};

const TOOLS: &str = "notifications/tools/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";

/// The messages to a subscribed client: an acknowledgement, a notification for each change, and a final response.
pub(super) struct Listen {
    /// `None` for clients of earlier revisions, which receive the notifications only.
    subscription: Option<Subscription>,
    tools: watch::Receiver<u64>,
    resources: watch::Receiver<u64>,
    /// The updates of the resources that the client has subscribed to.
    inbox: Option<Arc<Inbox>>,
    /// Those of the resources in the request that the caller can read, before the acknowledgement.
    readable: Option<BoxFuture<'static, Vec<String>>>,
    server: Server,
    shutdown: CancelToken,
    state: State,
}

struct Subscription {
    id: Box<RawValue>,
    wants_tools: bool,
    wants_resources: bool,
    uris: Vec<String>,
    registered: Option<Registered>,
}

#[derive(PartialEq)]
enum State {
    Begun,
    Listening,
    Over,
}

impl Listen {
    /// Creates the subscription that a request asks for.
    pub(super) fn new(
        server: &Server,
        id: &RawValue,
        params: Option<&RawValue>,
        context: Context,
        peer: Peer<'_>,
    ) -> Result<Self, RpcError> {
        #[derive(Deserialize)]
        struct Params {
            notifications: Filter,
        }
        #[derive(Deserialize)]
        struct Filter {
            #[serde(default, rename = "toolsListChanged")]
            tools: bool,
            #[serde(default, rename = "resourcesListChanged")]
            resources: bool,
            #[serde(default, rename = "resourceSubscriptions")]
            uris: Vec<String>,
        }
        let invalid = || RpcError::new(Code::InvalidParams, "`params` must have an object `notifications`");
        let params = params.ok_or_else(invalid)?;
        let Params { notifications: mut wanted } = serde_json::from_str(params.get()).map_err(|_| invalid())?;
        let resources = &server.shared.resources;
        if !resources.is_offered() {
            wanted.uris.clear();
        }
        let mut seen = HashSet::new();
        wanted.uris.retain(|uri| seen.insert(uri.clone()));
        subscriptions::check(&wanted.uris)?;
        let readable = (!wanted.uris.is_empty())
            .then(|| -> BoxFuture<'static, _> { Box::pin(readable(server.clone(), context, wanted.uris)) });
        let registered = peer.session.map(|session| server.shared.running.register(session, id.get()));
        if let Some(None) = registered {
            return Err(RpcError::new(Code::InvalidRequest, "a request with this `id` is already running"));
        }
        let subscription = Subscription {
            id: id.to_owned(),
            wants_tools: wanted.tools,
            wants_resources: wanted.resources && resources.is_offered(),
            uris: Vec::new(),
            registered: registered.flatten(),
        };
        Ok(Self { subscription: Some(subscription), readable, ..Self::to_changes(server, None) })
    }

    /// Creates a stream of all changes of the lists, and of the resources that a session has subscribed to.
    pub(super) fn to_changes(server: &Server, session: Option<&str>) -> Self {
        let subscriptions = &server.shared.resources.subscriptions;
        Self {
            subscription: None,
            tools: server.shared.changes.subscribe(),
            resources: subscriptions.list_changes(),
            inbox: session.map(|session| subscriptions.of_session(session)),
            readable: None,
            server: server.clone(),
            shutdown: server.shared.shutdown.clone(),
            state: State::Begun,
        }
    }

    /// Returns the next message, or `None` after the last one.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        if self.state == State::Begun {
            self.subscribe().await;
            self.state = State::Listening;
            if let Some(subscription) = &self.subscription {
                return Some(subscription.acknowledgement());
            }
        }
        if self.state == State::Over {
            return None;
        }
        let cancelled = self.cancelled();
        let wants_tools = self.subscription.as_ref().is_none_or(|subscription| subscription.wants_tools);
        let wants_resources = self.subscription.as_ref().is_none_or(|subscription| subscription.wants_resources);
        loop {
            tokio::select! {
                changed = self.tools.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    if wants_tools {
                        return Some(self.change(TOOLS, None));
                    }
                }
                Ok(()) = self.resources.changed() => {
                    if wants_resources {
                        return Some(self.change(RESOURCES, None));
                    }
                }
                uri = updated(self.inbox.as_deref()) => return Some(self.change(UPDATED, Some(&uri))),
                () = self.shutdown.cancelled() => break,
                () = cancelled_by(cancelled.clone()) => {
                    self.state = State::Over;
                    return None;
                }
            }
        }
        self.state = State::Over;
        self.subscription.as_ref().map(Subscription::end)
    }

    /// Subscribes to the resources that the caller can read. Dropping the future loses nothing.
    async fn subscribe(&mut self) {
        let cancelled = self.cancelled();
        let (Some(readable), Some(subscription)) = (&mut self.readable, &mut self.subscription) else {
            return;
        };
        tokio::select! {
            uris = readable => {
                self.inbox = Some(self.server.shared.resources.subscriptions.of_stream(&uris));
                subscription.uris = uris;
            }
            () = self.shutdown.cancelled() => {}
            () = cancelled_by(cancelled) => {}
        }
        self.readable = None;
    }

    /// Returns the token that cancels the request.
    fn cancelled(&self) -> Option<CancelToken> {
        let registered = self.subscription.as_ref()?.registered.as_ref()?;
        Some(registered.token().clone())
    }

    fn change(&self, method: &str, uri: Option<&str>) -> Vec<u8> {
        let meta = self.subscription.as_ref().map(Subscription::tag);
        notification(method, &Tagged { meta, agreed: None, uri })
    }
}

async fn updated(inbox: Option<&Inbox>) -> Box<str> {
    match inbox {
        Some(inbox) => inbox.next().await,
        None => std::future::pending().await,
    }
}

async fn cancelled_by(token: Option<CancelToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => std::future::pending().await,
    }
}

/// Parameters with the id of their subscription.
#[derive(Serialize)]
struct Tagged<'s> {
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Tag<'s>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'s str>,
    #[serde(rename = "notifications", skip_serializing_if = "Option::is_none")]
    agreed: Option<Value>,
}

#[derive(Serialize)]
struct Tag<'s> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    id: &'s RawValue,
}

impl Subscription {
    fn tag(&self) -> Tag<'_> {
        Tag { id: &self.id }
    }

    fn acknowledgement(&self) -> Vec<u8> {
        let mut agreed = json!({});
        if self.wants_tools {
            agreed["toolsListChanged"] = true.into();
        }
        if self.wants_resources {
            agreed["resourcesListChanged"] = true.into();
        }
        if !self.uris.is_empty() {
            agreed["resourceSubscriptions"] = json!(self.uris);
        }
        let params = Tagged { meta: Some(self.tag()), uri: None, agreed: Some(agreed) };
        notification("notifications/subscriptions/acknowledged", &params)
    }

    fn end(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Result<'s> {
            #[serde(rename = "resultType")]
            kind: &'static str,
            #[serde(rename = "_meta")]
            meta: Tag<'s>,
        }
        response(&self.id, b"", &json_bytes(&Result { kind: "complete", meta: self.tag() }))
    }
}
