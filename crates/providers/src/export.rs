//! The JSON of an exported catalog, with the losses of each tool.

use std::collections::HashSet;

use serde_json::Value;
use toolkit::catalog::{Catalog, Diagnostics, ExportedName, ExportedNames, Naming};
use toolkit::tool::{Tool, ToolId};
use toolkit_schema::order;

use super::loss::{Effect, Loss, ToolExport};
use super::request_limits::{self, Member, RequestLimits, Usage};

/// A catalog in the format of a provider, with the losses of each tool.
///
/// ```
/// use toolkit_providers::gemini::{Options, tools};
/// use toolkit::catalog::Naming;
///
/// /// Adds two integers.
/// #[toolkit::tool(version = "1.0.0")]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let export = tools(&toolkit::catalog![add]?, Naming::Name, Options::default())?;
/// assert_eq!(export.json[0]["functionDeclarations"][0]["name"], "add");
///
/// let (tool, losses) = &export.losses[0];
/// assert_eq!(format!("{tool}: {}", losses[0]), "add: `version` is not supported");
/// assert!(export.usage.iter().all(|usage| !usage.is_over()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Export {
    /// The JSON in the format of the provider: properties in the order of their declaration, and all other keys sorted. A
    /// catalog has the same bytes in every build.
    pub json: Value,
    /// The names in the export, by which a model calls the tools.
    pub names: ExportedNames,
    /// The losses of each tool, in the order of the catalog.
    pub losses: Vec<(ToolId, Vec<Loss>)>,
    /// The tools for which strict mode was requested but is not possible, with the reasons.
    pub not_strict: Vec<(ToolId, Vec<Loss>)>,
    /// The use of the provider's limits. Where some tools gave up strict mode, it counts what all of them would need.
    pub usage: Vec<Usage>,
}

impl Export {
    /// Exports the highest version of each tool under its wire name, in the order of the ids.
    pub(super) fn new(
        catalog: &Catalog,
        naming: Naming,
        limits: &RequestLimits,
        describe: impl Fn(&Tool, &str) -> ToolExport,
    ) -> Result<Self, Diagnostics> {
        let names = catalog.listed(naming)?;
        Ok(Self::from_members(limits, Member::all(&names, describe)))
    }

    /// Creates an export of the given tools.
    pub(super) fn from_members(limits: &RequestLimits, members: Vec<Member<'_>>) -> Self {
        let mut export = Self { usage: request_limits::tool_usage(limits, &members), ..Self::default() };
        let tools = members.into_iter().map(|member| export.take(None, member)).collect();
        export.with_tools(tools)
    }

    /// Returns the tools that the provider rejects, with a reason each.
    pub fn rejected(&self) -> impl Iterator<Item = (&ToolId, &Loss)> {
        self.losses.iter().filter_map(|(id, losses)| {
            losses.iter().find(|loss| loss.effect == Effect::Rejected).map(|loss| (id, loss))
        })
    }

    /// Leaves out the tools that the provider rejects, each of which would cost the whole request. Their losses stay.
    ///
    /// ```
    /// use toolkit_providers::{Export, openai};
    /// use toolkit::{Catalog, Tool, catalog::Naming};
    ///
    /// let catalog = Catalog::new([Tool::builder("now").build()?])?;
    /// let export = openai::tools(&catalog, Naming::Name, openai::Options::responses())?;
    /// assert_eq!(export.clone().without_rejected(), export);
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn without_rejected(mut self) -> Self {
        let rejected: HashSet<ToolId> = self.rejected().map(|(id, _)| id.clone()).collect();
        let is_rejected = |name: &ExportedName| rejected.contains(name.id());
        let names: Vec<ExportedName> = self.names.iter().filter(|name| is_rejected(name)).cloned().collect();
        if names.is_empty() {
            return self;
        }
        self.names = self.names.iter().filter(|name| !is_rejected(name)).cloned().collect();
        retain(&mut self.json, None, &|namespace, name| {
            !names.iter().any(|rejected| (rejected.namespace(), rejected.name()) == (namespace, name))
        });
        self
    }

    /// Records the name and the losses of a tool, and returns its JSON.
    pub(super) fn take(&mut self, namespace: Option<&str>, Member { name, tool, export, .. }: Member<'_>) -> Value {
        let mut name = ExportedName::new(name, tool.id().clone());
        if let Some(namespace) = namespace {
            name = name.in_namespace(namespace);
        }
        if is_strict(&export.json) {
            name = name.strict();
        }
        self.names.extend([name]);
        self.losses.push((tool.id().clone(), export.losses));
        if !export.not_strict.is_empty() {
            self.not_strict.push((tool.id().clone(), export.not_strict));
        }
        export.json
    }

    /// Adds the tool of the provider that searches the deferred tools, if there are any. A request with deferred tools alone
    /// is rejected.
    pub(super) fn with_search_tool(mut self, search: Value) -> Self {
        if let Value::Array(tools) = &mut self.json
            && tools.iter().any(is_deferred)
        {
            tools.push(search);
        }
        self
    }

    /// Sets the JSON to the given tools, with [ordered](order::sort) keys.
    pub(super) fn with_tools(self, tools: Vec<Value>) -> Self {
        let mut json = Value::Array(tools);
        order::sort(&mut json);
        Self { json, ..self }
    }
}

/// Removes definitions from a list of them, and groups without any.
fn retain(list: &mut Value, namespace: Option<&str>, keep: &impl Fn(Option<&str>, &str) -> bool) {
    let Value::Array(items) = list else { return };
    items.retain_mut(|item| {
        let name = item["name"].as_str().map(str::to_owned);
        for group in ["tools", "functionDeclarations"] {
            if let Some(group) = item.get_mut(group) {
                retain(group, name.as_deref(), keep);
                return group.as_array().is_some_and(|left| !left.is_empty());
            }
        }
        let definition = item.get("function").or_else(|| item.get("toolSpec")).unwrap_or(item);
        keep(namespace, definition["name"].as_str().unwrap_or_default())
    });
}

/// Returns true if the model has to search for a tool, or for one of a namespace.
fn is_deferred(tool: &Value) -> bool {
    let in_namespace = tool["tools"].as_array().is_some_and(|tools| tools.iter().any(is_deferred));
    in_namespace || tool.get("defer_loading") == Some(&Value::Bool(true))
}

fn is_strict(tool: &Value) -> bool {
    let function = tool.get("function").unwrap_or(tool);
    function.get("strict") == Some(&Value::Bool(true))
}
