//! Requests to servers.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use toolkit_mcp::{LEGACY, json_bytes};
use toolkit_runtime::RequestTarget;

use super::caller::{FromCaller, Listener};
use super::meta::Meta;
use super::raw::raw_value;
use super::server_info::client_info;
use super::task_watch::TaskWatch;

/// A request to a server.
#[derive(Default)]
pub(super) struct Request {
    pub(super) method: &'static str,
    params: Vec<(&'static str, Box<RawValue>)>,
    /// The name of what the request is about: a tool, a prompt, a task or a URI.
    pub(super) name: Option<String>,
    /// The arguments that headers repeat.
    pub(super) param_headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) caller: FromCaller,
    /// Receives the progress and the log messages of a call.
    pub(super) listener: Option<Arc<Listener>>,
    /// The task that the request is about.
    pub(super) task: Option<Arc<TaskWatch>>,
}

impl Request {
    pub(super) fn new(method: &'static str) -> Self {
        Self { method, ..Self::default() }
    }

    /// Creates the first request up to revision 2025-11-25. `version` is the revision to use, by default the newest one.
    pub(super) fn initialize(version: Option<&str>, capabilities: &RawValue) -> Self {
        Self::new("initialize")
            .with("protocolVersion", version.unwrap_or(LEGACY[0]))
            .with("capabilities", capabilities)
            .with("clientInfo", &client_info())
    }

    /// Creates a request about what a parameter names.
    pub(super) fn about(method: &'static str, parameter: &'static str, name: &str) -> Self {
        let request = Self::new(method).with(parameter, name);
        Self { name: Some(name.to_owned()), ..request }
    }

    /// Creates a request for a page of a list.
    pub(super) fn page(method: &'static str, cursor: Option<&str>) -> Self {
        let request = Self::new(method);
        match cursor {
            Some(cursor) => request.with("cursor", cursor),
            None => request,
        }
    }

    /// Adds a parameter.
    pub(super) fn with(mut self, name: &'static str, value: &(impl Serialize + ?Sized)) -> Self {
        self.params.push((name, raw_value(value)));
        self
    }

    pub(super) fn from(self, caller: FromCaller) -> Self {
        Self { caller, ..self }
    }

    pub(super) fn listened(self, listener: &Arc<Listener>) -> Self {
        Self { listener: Some(Arc::clone(listener)), ..self }
    }

    /// Returns what spans are about.
    pub(super) fn target(&self) -> Option<RequestTarget<'_>> {
        let name = self.name.as_deref()?;
        Some(match self.method {
            "tools/call" => RequestTarget::Tool(name),
            "prompts/get" => RequestTarget::Prompt(name),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => RequestTarget::Resource(name),
            _ => return None,
        })
    }

    /// Writes the message. `meta` has the fields that all requests of the connection have.
    pub(super) fn message(&self, id: u64, mut meta: Meta) -> Vec<u8> {
        meta.extend(&self.caller.meta);
        if self.listener.is_some() {
            meta.set("progressToken", id.to_string());
        }
        let mut params = vec![b'{'];
        for (name, value) in &self.params {
            params.extend_from_slice(&json_bytes(name));
            params.push(b':');
            params.extend_from_slice(value.get().as_bytes());
            params.push(b',');
        }
        if !meta.is_empty() {
            params.extend_from_slice(br#""_meta":"#);
            meta.write(&mut params);
        } else if params.len() > 1 {
            params.pop();
        }
        params.push(b'}');
        toolkit_mcp::request(id, self.method, &params)
    }
}

/// Writes the notification that a request is cancelled.
pub(super) fn cancelled(id: u64) -> Vec<u8> {
    let params = json!({ "requestId": id, "reason": "the caller has canceled the request" });
    toolkit_mcp::notification("notifications/cancelled", &params)
}
