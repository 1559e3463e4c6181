//! The names of tools in protocols, and the diagnostics of names that collide or that not every client accepts.

use std::collections::{BTreeMap, HashMap};

use super::Catalog;
use crate::tool::diagnostic::ids_of;
use crate::tool::{Diagnostic, DiagnosticKind, Diagnostics, Tool, ToolId};
use toolkit_schema::quoted;

/// The policy that maps the id of a tool to the single name that a protocol supports.
///
/// One policy applies to the whole catalog, so that adding a tool never changes the name of another.
///
/// # Examples
///
/// ```
/// use toolkit::Catalog;
/// use toolkit::Tool;
/// use toolkit::catalog::{Naming, WireNames};
///
/// let read = |namespace: &'static str| Tool::builder("read").namespace(namespace).build();
/// let catalog = Catalog::new([read("files")?, read("mail")?])?;
/// assert!(WireNames::new(&catalog, Naming::NamespaceName)?.get("mail_read").is_some());
/// assert!(WireNames::new(&catalog, Naming::Name).is_err(), "two tools would have the name `read`");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Naming {
    /// The bare name. Two tools with the same name in different namespaces cannot be served together.
    Name,
    /// `namespace_name`, or the bare name if there is no namespace. This is the default.
    #[default]
    NamespaceName,
}

/// The maximum length of a name that every client and provider accepts.
const MAX_WIRE_NAME_LEN: usize = 64;

/// The reason why a tool must be renamed.
const NO_OTHER: &str = "because no naming policy fits the whole catalog";

/// The advice for a long `namespace_name`.
const SHORTEN: &str = "shorten its namespace or its name";

impl Naming {
    const ALL: [Self; 2] = [Naming::Name, Naming::NamespaceName];

    /// Returns the name of `id` on the wire; `.` becomes `_`.
    ///
    /// ```
    /// # use toolkit::catalog::Naming;
    /// let id = "cloud.files:read".parse()?;
    /// assert_eq!(Naming::default().wire_name(&id), "cloud_files_read");
    /// assert_eq!(Naming::Name.wire_name(&id), "read");
    /// # Ok::<(), toolkit::tool::NameError>(())
    /// ```
    #[must_use]
    pub fn wire_name(self, id: &ToolId) -> String {
        let name = match (self, id.namespace()) {
            (Naming::NamespaceName, Some(namespace)) => format!("{namespace}_{}", id.name()),
            _ => id.name().to_owned(),
        };
        name.replace('.', "_")
    }
}

/// The wire name of each tool of a catalog, and the reverse map.
///
/// ```
/// use toolkit::catalog::{Naming, WireNames};
/// use toolkit::{catalog, tool};
///
/// /// Adds two numbers.
/// #[tool(namespace = "math")]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let catalog = catalog![add]?;
/// let names = WireNames::new(&catalog, Naming::default())?;
/// assert_eq!(names.get("math_add").unwrap().id().to_string(), "math:add");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug)]
pub struct WireNames<'c> {
    /// In the order of the catalog.
    tools: Vec<(String, &'c Tool)>,
    by_name: HashMap<String, usize>,
}

impl<'c> WireNames<'c> {
    /// Names the latest version of each tool.
    ///
    /// # Errors
    ///
    /// Returns an error for every name that several tools share, and for every name that does not match
    /// `[A-Za-z_][A-Za-z0-9_-]{0,63}`, the pattern that all known clients and providers accept. OpenAI and the MCP
    /// conformance suite limit names to 64 characters, OpenAI and Anthropic reject the dots that MCP allows, and
    /// Gemini rejects a digit or `-` at the start.
    pub fn new(catalog: &'c Catalog, naming: Naming) -> Result<Self, Diagnostics> {
        let mut diagnostics = Vec::new();
        let names = Self::collect(catalog, naming, &|tool| Some(naming.wire_name(tool.id())), &mut diagnostics);
        Diagnostics::none_or(diagnostics).map(|()| names)
    }

    /// Behaves like [`WireNames::new`], for the tools that `name` gives a name. The names may be used only if no diagnostic was
    /// added.
    pub(super) fn collect(
        catalog: &'c Catalog,
        naming: Naming,
        name: &dyn Fn(&Tool) -> Option<String>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let tools = named(catalog, name);
        let faults = faults(&tools);
        if !faults.is_empty() {
            let fits =
                |other: &Naming| self::faults(&named(catalog, &|tool| Some(other.wire_name(tool.id())))).is_empty();
            let other = Naming::ALL.into_iter().find(fits);
            diagnostics.extend(faults.into_iter().map(|(fault, tools)| {
                let is_joined = naming == Naming::NamespaceName && tools[0].id().namespace().is_some();
                let is_long = naming.wire_name(tools[0].id()).len() > MAX_WIRE_NAME_LEN;
                let shorten = is_joined && is_long && tools.len() == 1;
                let way_out = match other {
                    Some(other) if shorten => {
                        format!("{SHORTEN}, or use `Naming::{other:?}`, which gives every tool a valid name")
                    }
                    Some(other) => format!("use `Naming::{other:?}`, which gives every tool a valid name"),
                    None if shorten => SHORTEN.to_owned(),
                    None if tools.len() > 1 => format!("rename one, {NO_OTHER}"),
                    None => format!("rename it, {NO_OTHER}"),
                };
                Diagnostic::new(DiagnosticKind::WireName, format!("{fault}; {way_out}"), tools)
            }));
        }
        let names = tools.iter().enumerate();
        let by_name = names.map(|(idx, (name, _))| (name.clone(), idx)).collect();
        Self { tools, by_name }
    }

    /// Returns the tool with the wire name `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'c Tool> {
        self.by_name.get(name).map(|&idx| self.tools[idx].1)
    }

    /// Returns the names and tools in the order of the catalog.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'c Tool)> {
        self.tools.iter().map(|(name, tool)| (&**name, *tool))
    }
}

fn named<'c>(catalog: &'c Catalog, name: &dyn Fn(&Tool) -> Option<String>) -> Vec<(String, &'c Tool)> {
    catalog.latest().filter_map(|tool| Some((name(tool)?, tool))).collect()
}

/// Returns the defects of the names, with the tools concerned, sorted by name.
fn faults<'c>(tools: &[(String, &'c Tool)]) -> Vec<(String, Vec<&'c Tool>)> {
    let mut by_name: BTreeMap<&str, Vec<&Tool>> = BTreeMap::new();
    for (name, tool) in tools {
        by_name.entry(name).or_default().push(tool);
    }
    let mut faults = Vec::new();
    for (name, tools) in by_name {
        if tools.len() == 1 && is_portable(name) {
            continue;
        }
        let ids = ids_of(tools.iter().copied(), " and ");
        let shown = quoted(name);
        if tools.len() > 1 {
            faults.push((format!("{ids} would share the name {shown}"), tools.clone()));
        }
        if !is_portable(name) {
            let fault = format!(
                "{ids} would have the name {shown}, which some clients reject; a name starts with a letter or `_`, \
                 continues with letters, digits, `_` and `-`, and has at most {MAX_WIRE_NAME_LEN} characters (this has {})",
                name.len()
            );
            faults.push((fault, tools));
        }
    }
    faults
}

fn is_portable(name: &str) -> bool {
    name.len() <= MAX_WIRE_NAME_LEN
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}
