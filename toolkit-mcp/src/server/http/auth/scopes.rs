//! The scopes that operations need.

use std::fmt;
use std::sync::Arc;

use toolkit::Tool;

use crate::server::request::Caller;

/// Returns the scopes that a call of a tool needs.
type OfTool = dyn Fn(&Tool) -> Vec<String> + Send + Sync;

/// Returns true if the first scope, which was granted, covers the second one.
type Covers = dyn Fn(&str, &str) -> bool + Send + Sync;

/// A scope that a client adds itself if it wants refresh tokens. No operation needs it.
const OFFLINE_ACCESS: &str = "offline_access";

/// The rules of a server about scopes.
#[derive(Clone, Default)]
pub(in super::super) struct Scopes {
    /// The scopes that every request needs.
    base: Vec<String>,
    of_tool: Option<Arc<OfTool>>,
    covers: Option<Arc<Covers>>,
}

impl Scopes {
    pub(in super::super) fn set_base(&mut self, scopes: impl Iterator<Item = String>) {
        self.base = scopes.filter(|scope| scope != OFFLINE_ACCESS).collect();
    }

    pub(in super::super) fn set_of_tool(&mut self, of_tool: impl Fn(&Tool) -> Vec<String> + Send + Sync + 'static) {
        self.of_tool = Some(Arc::new(of_tool));
    }

    pub(in super::super) fn set_covers(&mut self, covers: impl Fn(&str, &str) -> bool + Send + Sync + 'static) {
        self.covers = Some(Arc::new(covers));
    }

    /// Returns the scopes that every request needs.
    pub(super) fn base(&self) -> &[String] {
        &self.base
    }

    /// Returns all scopes that a call of these tools needs, without duplicates.
    pub(super) fn of_calls<'t>(&self, tools: impl Iterator<Item = &'t Tool>) -> Vec<String> {
        let mut needed = self.base.clone();
        for tool in tools {
            let own: Vec<String> = match &self.of_tool {
                Some(of_tool) => of_tool(tool),
                None => tool.requirements().scopes.iter().map(ToString::to_string).collect(),
            };
            for scope in own {
                if scope != OFFLINE_ACCESS && !needed.contains(&scope) {
                    needed.push(scope);
                }
            }
        }
        needed
    }

    /// Returns true if the token of the caller grants all of these scopes.
    pub(super) fn are_granted(&self, needed: &[String], caller: &Caller) -> bool {
        let covers = |granted: &String, needed: &String| {
            granted == needed || self.covers.as_ref().is_some_and(|covers| covers(granted, needed))
        };
        caller.has_all_scopes()
            || needed.iter().all(|needed| caller.scopes().iter().any(|granted| covers(granted, needed)))
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scopes").field("base", &self.base).finish_non_exhaustive()
    }
}
