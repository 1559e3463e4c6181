//! The subscription of a client, and the messages that refer to it.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolkit_mcp::{json_bytes, notification, response};

use super::TaskUpdates;
use crate::peer::Registered;

/// The subscription of a client since revision 2026-07-28.
pub(super) struct Subscription {
    pub(super) id: Box<RawValue>,
    pub(super) wants_tools: bool,
    pub(super) wants_prompts: bool,
    pub(super) wants_resources: bool,
    pub(super) uris: Vec<String>,
    pub(super) registered: Option<Registered>,
}

/// Parameters with the id of their subscription.
#[derive(Serialize)]
pub(super) struct Tagged<'s> {
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub(super) meta: Option<Tag<'s>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uri: Option<&'s str>,
    #[serde(rename = "notifications", skip_serializing_if = "Option::is_none")]
    pub(super) agreed: Option<Value>,
}

#[derive(Serialize)]
pub(super) struct Tag<'s> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    pub(super) id: &'s RawValue,
}

impl Subscription {
    pub(super) fn tag(&self) -> Tag<'_> {
        Tag { id: &self.id }
    }

    /// Returns the first message, which lists what the client has subscribed to.
    pub(super) fn acknowledgement(&self, tasks: Option<&TaskUpdates>) -> Vec<u8> {
        let mut agreed = json!({});
        if self.wants_tools {
            agreed["toolsListChanged"] = true.into();
        }
        if self.wants_prompts {
            agreed["promptsListChanged"] = true.into();
        }
        if self.wants_resources {
            agreed["resourcesListChanged"] = true.into();
        }
        if !self.uris.is_empty() {
            agreed["resourceSubscriptions"] = json!(self.uris);
        }
        if let Some(tasks) = tasks {
            agreed["taskIds"] = json!(tasks.ids());
        }
        let params = Tagged { meta: Some(self.tag()), uri: None, agreed: Some(agreed) };
        notification("notifications/subscriptions/acknowledged", &params)
    }

    /// Returns the final response.
    pub(super) fn end(&self) -> Vec<u8> {
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
