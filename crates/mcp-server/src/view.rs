//! Views: the parts of a proxy that its callers see.

use serde_json::Value;
use toolkit::{Catalog, Tool};
use toolkit_runtime::matches_wildcard;

use super::filter::{Filter, Rule};
use super::request::Caller;

/// The path of the MCP endpoint.
pub(super) const ENDPOINT: &str = "/mcp";

/// A part of a proxy for some of its callers; see [`Proxy::set_views`](super::Proxy::set_views).
///
/// A view applies to requests for its path whose caller has all of its claims. A caller sees the union of the views that
/// apply.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_server::{Filter, View};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let view = View::new("finance")
///     .claim("groups", ["finance", "audit"])
///     .servers(["ledger", "bank_*"])
///     .filter(Filter::all().deny("*:delete_*".parse()?));
/// # drop(view);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct View {
    name: String,
    path: String,
    claims: Vec<(String, Vec<String>)>,
    /// Patterns of the servers, or none for all of them and the program itself.
    servers: Vec<String>,
    filter: Filter,
}

impl View {
    /// Creates a view of everything, for all callers of `/mcp`. Two views of a proxy have different names.
    pub fn new(name: impl Into<String>) -> Self {
        let (name, path) = (name.into(), ENDPOINT.to_owned());
        Self { name, path, claims: Vec::new(), servers: Vec::new(), filter: Filter::all() }
    }

    /// Sets the path of the endpoint at which the view applies, such as `/finance/mcp`. Default: `/mcp`, and in a
    /// [service of a router](crate::Http::into_service) all paths that are not those of other views.
    pub fn path(self, path: impl Into<String>) -> Self {
        Self { path: path.into(), ..self }
    }

    /// Requires a claim of the caller's token: a text that is one of `values`, or a list that contains one of them.
    pub fn claim(mut self, name: impl Into<String>, values: impl IntoIterator<Item: Into<String>>) -> Self {
        self.claims.push((name.into(), values.into_iter().map(Into::into).collect()));
        self
    }

    /// Sets the servers of the view, by their names; `*` matches any characters. Default: all, and the tools and the
    /// resources of the program itself, which a view with servers does not contain.
    pub fn servers(mut self, patterns: impl IntoIterator<Item: Into<String>>) -> Self {
        self.servers = patterns.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the filter of the tools and prompts. The resources of a server belong to the view if one of its tools does.
    pub fn filter(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    /// Returns true if the view has the endpoint with this path.
    pub(super) fn is_at(&self, path: &str) -> bool {
        self.path == path
    }

    /// Returns true if a caller has the claims of the view.
    pub(super) fn applies_to(&self, caller: Option<&Caller>) -> bool {
        let has = |claim: Option<&Value>, values: &[String]| match claim {
            Some(Value::String(text)) => values.contains(text),
            Some(Value::Array(items)) => items.iter().any(|item| values.iter().any(|value| item == value)),
            _ => false,
        };
        self.claims.iter().all(|(name, values)| caller.is_some_and(|caller| has(caller.claim(name), values)))
    }

    /// Returns true for a view of everything.
    pub(super) fn is_unrestricted(&self) -> bool {
        self.has_program() && self.filter == Filter::all()
    }

    /// Returns true if the view contains the program itself.
    pub(super) fn has_program(&self) -> bool {
        self.servers.is_empty()
    }

    pub(super) fn has_server(&self, name: &str) -> bool {
        self.servers.is_empty() || self.servers.iter().any(|pattern| matches_wildcard(pattern, name))
    }

    /// Returns the rules of the filter that match none of these tools, as messages.
    pub(super) fn rules_without_effect(&self, tools: &[Tool], servers: &[String]) -> Vec<String> {
        let is_server = |rule: &Rule| servers.iter().any(|name| rule.matches_namespace(name));
        let rules = self.filter.unmatched(tools).filter(|rule| !is_server(rule));
        let shown = rules.map(|rule| {
            let (rule, view) = (rule.to_string(), self.name.escape_debug());
            format!("no tool matches the rule `{}` of the view `{view}`", rule.escape_debug())
        });
        shown.collect()
    }

    /// Returns true if the view contains a tool of a server, or of the program itself.
    pub(super) fn admits(&self, tool: &Tool, owner: Option<&str>, catalog: &Catalog) -> bool {
        owner.map_or(self.has_program(), |owner| self.has_server(owner)) && self.filter.admits_among(tool, catalog)
    }

    /// Returns true if the view contains a tool that calls the tools of the view, such as one that runs programs. It is of
    /// no server.
    pub(super) fn admits_caller_of_tools(&self, tool: &Tool) -> bool {
        !self.filter.denies(tool)
    }

    /// Returns true if the view contains the resources of a server with these tools. Without tools, `before` if they are
    /// not known at the moment.
    pub(super) fn admits_resources_of(&self, server: &str, tools: &[&Tool], before: Option<bool>) -> bool {
        self.has_server(server)
            && match (tools.is_empty(), before) {
                _ if self.filter == Filter::all() => true,
                (true, Some(before)) => before,
                _ => self.filter.admits_resources_of(server, tools.iter().copied()),
            }
    }
}
