//! The scopes that operations need.

use std::sync::Arc;

use toolkit::Tool;

use crate::proxy_uri::decode;
use crate::request::Caller;
use crate::state::ServerState;

/// Returns the scopes that a call of a tool needs.
type OfTool = dyn Fn(&Tool) -> Vec<String> + Send + Sync;

/// Returns the scopes that reading a resource needs, by its URI.
type OfResource = dyn Fn(&str) -> Vec<String> + Send + Sync;

/// Returns true if the first scope, which was granted, covers the second one.
type Covers = dyn Fn(&str, &str) -> bool + Send + Sync;

/// A scope that a client adds itself if it wants refresh tokens. No operation needs it.
const OFFLINE_ACCESS: &str = "offline_access";

/// The rules of a server about scopes.
#[derive(Clone, Default)]
pub(in super::super) struct Scopes {
    /// The scopes that every request needs.
    pub(super) base: Vec<String>,
    /// The scopes that reading the metrics and the status needs, if they are set.
    operator: Option<Vec<String>>,
    pub(in super::super) of_tool: Option<Arc<OfTool>>,
    pub(in super::super) of_resource: Option<Arc<OfResource>>,
    pub(in super::super) covers: Option<Arc<Covers>>,
}

impl Scopes {
    pub(in super::super) fn set_base(&mut self, scopes: impl Iterator<Item = String>) {
        self.base = scopes.filter(|scope| scope != OFFLINE_ACCESS).collect();
    }

    pub(in super::super) fn set_operator(&mut self, scopes: impl Iterator<Item = String>) {
        self.operator = Some(scopes.filter(|scope| scope != OFFLINE_ACCESS).collect());
    }

    /// Returns the scopes that reading the metrics and the status needs, or `None` if they are not set.
    pub(super) fn operator(&self) -> Option<&[String]> {
        self.operator.as_deref()
    }

    /// Returns all scopes that a call of these tools needs, without duplicates.
    pub(super) fn of_calls<'t>(&self, tools: impl Iterator<Item = &'t Tool>) -> Vec<String> {
        let of_tool = |tool: &Tool| match &self.of_tool {
            Some(of_tool) => of_tool(tool),
            None => tool.requirements().scopes.iter().map(ToString::to_string).collect(),
        };
        self.with_base(tools.flat_map(of_tool))
    }

    /// Returns the scopes that reading a resource needs. A token has to grant those of one of the alternatives: by
    /// default, a caller of a tool of a backend may read the resources of the backend. There is no alternative if the tools
    /// of the backend have never been known.
    pub(super) fn of_resource(&self, uri: &str, shared: &Arc<ServerState>) -> Vec<Vec<String>> {
        if let Some(of_resource) = &self.of_resource {
            return vec![self.with_base(of_resource(uri).into_iter())];
        }
        let Some(backend) = self.backend_of(uri, shared) else { return vec![self.base.clone()] };
        match shared.tools_of(backend) {
            Some(tools) if tools.is_empty() => vec![self.base.clone()],
            Some(tools) => tools.iter().map(|tool| self.of_calls(std::iter::once(tool))).collect(),
            None => Vec::new(),
        }
    }

    /// Returns the backend whose tools decide about a resource.
    pub(super) fn backend_of<'u>(&self, uri: &'u str, shared: &Arc<ServerState>) -> Option<&'u str> {
        let (backend, _) = decode(uri).filter(|_| self.of_resource.is_none())?;
        shared.has_backend(backend).then_some(backend)
    }

    fn with_base(&self, own: impl Iterator<Item = String>) -> Vec<String> {
        let mut needed = self.base.clone();
        for scope in own {
            if scope != OFFLINE_ACCESS && !needed.contains(&scope) {
                needed.push(scope);
            }
        }
        needed
    }

    /// Returns true if the token of the caller grants all of these scopes.
    pub(super) fn are_granted(&self, needed: &[String], caller: &Caller) -> bool {
        let covers = |granted: &String, needed: &String| {
            granted == needed || self.covers.as_ref().is_some_and(|covers| covers(granted, needed))
        };
        caller.has_all_scopes
            || needed.iter().all(|needed| caller.scopes().iter().any(|granted| covers(granted, needed)))
    }
}

toolkit::debug_fields!(Scopes { base });
