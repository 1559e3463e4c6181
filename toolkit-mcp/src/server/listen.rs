//! Notifications of changes of the list of tools: `subscriptions/listen`, and the implicit ones of earlier revisions.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use toolkit::CancelToken;

use super::peer::Peer;
use super::reply::{Code, RpcError, json_bytes, notification, response};
use super::running::Registered;
use super::state::Server;

const CHANGED: &str = "notifications/tools/list_changed";

/// The messages to a subscribed client: an acknowledgement, a notification for each change, and a final response.
pub(super) struct Listen {
    /// `None` for clients of earlier revisions, which receive the notifications only.
    subscription: Option<Subscription>,
    changes: watch::Receiver<u64>,
    shutdown: CancelToken,
    state: State,
}

struct Subscription {
    id: Box<RawValue>,
    wants_tools: bool,
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
        }
        let invalid = || RpcError::new(Code::InvalidParams, "`params` must have an object `notifications`");
        let params = params.ok_or_else(invalid)?;
        let params: Params = serde_json::from_str(params.get()).map_err(|_| invalid())?;
        let registered = peer.session.map(|session| server.shared.running.register(session, id.get()));
        if let Some(None) = registered {
            return Err(RpcError::new(Code::InvalidRequest, "a request with this `id` is already running"));
        }
        let subscription = Subscription {
            id: id.to_owned(),
            wants_tools: params.notifications.tools,
            registered: registered.flatten(),
        };
        Ok(Self { subscription: Some(subscription), ..Self::to_changes(server) })
    }

    /// Creates a stream of all changes, without a subscription.
    pub(super) fn to_changes(server: &Server) -> Self {
        Self {
            subscription: None,
            changes: server.shared.changes.subscribe(),
            shutdown: server.shared.shutdown.clone(),
            state: State::Begun,
        }
    }

    /// Returns the next message, or `None` after the last one.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        if self.state == State::Begun {
            self.state = State::Listening;
            if let Some(subscription) = &self.subscription {
                return Some(subscription.acknowledgement());
            }
        }
        if self.state == State::Over {
            return None;
        }
        let wants_tools = self.subscription.as_ref().is_none_or(|subscription| subscription.wants_tools);
        loop {
            let cancelled = self.subscription.as_ref().and_then(|subscription| subscription.registered.as_ref());
            let cancelled = cancelled.map(|registered| registered.token().clone());
            tokio::select! {
                changed = self.changes.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    if wants_tools {
                        return Some(self.change());
                    }
                }
                () = self.shutdown.cancelled() => break,
                () = cancelled_by(cancelled) => {
                    self.state = State::Over;
                    return None;
                }
            }
        }
        self.state = State::Over;
        self.subscription.as_ref().map(Subscription::end)
    }

    fn change(&self) -> Vec<u8> {
        match &self.subscription {
            Some(subscription) => notification(CHANGED, &Tagged { meta: subscription.tag(), agreed: None }),
            None => notification(CHANGED, &Value::Object(Map::new())),
        }
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
    #[serde(rename = "_meta")]
    meta: Tag<'s>,
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
        let agreed = if self.wants_tools { json!({ "toolsListChanged": true }) } else { json!({}) };
        notification("notifications/subscriptions/acknowledged", &Tagged { meta: self.tag(), agreed: Some(agreed) })
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
