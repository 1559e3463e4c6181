//! The catalog: all tools of a program, validated, sorted, and found by name.
//!
//! [`Catalog::linked`] collects the tools of all linked crates, [`catalog!`](crate::catalog!) those of a list, and
//! [`Catalog::new`] tools that were built or parsed. All defects are reported together as [`Diagnostics`]. A test
//! checks the rest, which is too expensive for every start of a program:
//!
//! ```standalone_crate
//! use toolkit::catalog::Naming;
//! use toolkit::{Catalog, tool};
//!
//! /// Returns the capital of a country.
//! #[tool(namespace = "geo", version = "1.0.0", aliases = ["seat_of_government"])]
//! fn capital(country: String) -> String {
//!     format!("the capital of {country}")
//! }
//!
//! let catalog = Catalog::linked()?.expect_ids(["geo:capital:1.0.0"])?;
//! catalog.check(Naming::default())?;
//! assert_eq!(catalog.resolve("seat_of_government")?.name(), "capital");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | part |
//! |---|---|
//! | `names` | the index from every name of a tool to the tool, and the nearest name for the error `no tool is named …` |
//! | `wire` | [`WireNames`]: the names under which a protocol lists the tools |
//! | `exported` | [`ExportedNames`]: names of an export that a dispatcher accepts |
//! | `instances` | [`Instances`]: several instances of a toolset |

mod exported;
mod instances;
pub(crate) mod names;
mod wire;

use std::collections::BTreeSet;

pub use self::exported::{ExportedName, ExportedNames};
pub use self::instances::Instances;
use self::instances::multiplied;
pub(crate) use self::instances::namespaces_with;
pub(crate) use self::names::Names;
pub use self::wire::{Naming, WireNames};
use crate::call::{ErrorKind, ToolError};
use crate::prompt::Prompt;
use crate::state::States;
pub use crate::tool::Location;
pub use crate::tool::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};
use crate::tool::diagnostic::{check_contradictions, check_meta, check_object, check_tool, ids_of};
use crate::tool::entry::Entry;
use crate::tool::{Tool, ToolId};
use crate::version::VersionReq;
use toolkit_schema::{quoted, shown_id, suggest};

/// The tools of a program, sorted by id, and its prompts.
///
/// Collecting takes a few machine words for each tool; schemas are built on first use.
///
/// ```
/// use toolkit::{catalog, tool};
///
/// /// Adds two numbers.
/// #[tool(namespace = "math")]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let catalog = catalog![add]?;
/// assert_eq!(catalog.len(), 1);
/// assert_eq!(catalog.resolve("add")?.id().to_string(), "math:add");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Catalog {
    tools: Vec<Tool>,
    names: Names,
    /// Sorted by id.
    prompts: Vec<Prompt>,
    prompt_names: Names,
}

/// The maximum number of versions that a message lists.
const MAX_VERSIONS: usize = 16;

impl Catalog {
    /// Creates a catalog of every tool that is linked into this program, from all crates.
    ///
    /// The linker drops a dependency that nothing refers to, with its tools. Name such crates in
    /// [`link!`](crate::link).
    ///
    /// # Errors
    ///
    /// Returns every defect, with the locations of the tools concerned: duplicate ids, aliases that are taken, and
    /// conflicting versions.
    pub fn linked() -> Result<Self, Diagnostics> {
        let entries: Vec<&'static Entry> = inventory::iter::<&'static Entry>().copied().collect();
        Self::from_entries(&entries)
    }

    /// Creates a catalog of the given tools, such as those of a [`Manifest`](crate::Manifest).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Catalog::linked`].
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Catalog, Manifest};
    ///
    /// let manifest = Manifest::from_mcp_json(
    ///     r#"{"tools": [
    ///         {"name": "write", "inputSchema": {"type": "object"}},
    ///         {"name": "read", "inputSchema": {"type": "object"}}
    ///     ]}"#,
    /// )?;
    /// let catalog = Catalog::new(manifest.tools().cloned())?;
    /// let names: Vec<&str> = catalog.iter().map(|tool| tool.name()).collect();
    /// assert_eq!(names, ["read", "write"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(tools: impl IntoIterator<Item = Tool>) -> Result<Self, Diagnostics> {
        let mut tools: Vec<Tool> = tools.into_iter().collect();
        let prompts: Vec<Tool> = tools.extract_if(.., |tool| tool.is_prompt()).collect();
        Self::of_tools(tools)?.with_prompts(prompts.into_iter().map(Prompt::linked))
    }

    /// Creates a catalog of tools, or of prompts as its tools.
    fn of_tools(mut tools: Vec<Tool>) -> Result<Self, Diagnostics> {
        tools.sort_by(|a, b| (a.id(), a.location()).cmp(&(b.id(), b.location())));
        // A crate whose dev-dependency depends on it is linked twice into its own tests, so its tools occur twice.
        tools.dedup_by(|a, b| a.is_copy_of(b));

        let mut diagnostics = Vec::new();
        for pair in tools.windows(2) {
            if pair[0].id().prints_as(pair[1].id()) {
                diagnostics.push(Diagnostic::duplicate_id(&pair[0], &pair[1]));
            } else {
                diagnostics.extend(versions_of_one(&pair[0], &pair[1]));
            }
        }
        let names = Names::new(&tools, &mut diagnostics);
        Diagnostics::none_or(diagnostics)?;
        Ok(Self { tools, names, prompts: Vec::new(), prompt_names: Names::default() })
    }

    /// Adds prompts to the catalog, such as those of another server.
    ///
    /// # Errors
    ///
    /// Returns every defect: duplicate ids, and conflicting versions.
    pub fn with_prompts(mut self, prompts: impl IntoIterator<Item = Prompt>) -> Result<Self, Diagnostics> {
        self.prompts.extend(prompts);
        if self.prompts.is_empty() {
            return Ok(self);
        }
        self.prompts.sort_by(|a, b| (a.id(), a.tool().location()).cmp(&(b.id(), b.tool().location())));
        self.prompts.dedup_by(|a, b| a.tool().is_copy_of(b.tool()));
        self.prompt_names = Self::of_tools(self.prompts.iter().map(|prompt| prompt.tool().clone()).collect())?.names;
        Ok(self)
    }

    /// Returns an iterator over the prompts, sorted by id, with all versions of each.
    pub fn prompts(&self) -> std::slice::Iter<'_, Prompt> {
        self.prompts.iter()
    }

    /// Returns an iterator over the latest version of each prompt, sorted by id.
    pub fn latest_prompts(&self) -> impl Iterator<Item = &Prompt> {
        self.prompt_names.latest.iter().map(|&idx| &self.prompts[idx])
    }

    /// Returns the prompt that a name refers to: an id, an id without a version, or a name without a namespace if it is
    /// unambiguous.
    #[must_use]
    pub fn prompt(&self, name: &str) -> Option<&Prompt> {
        self.prompt_names.get(name).map(|idx| &self.prompts[idx])
    }

    /// Returns an iterator over the records of the tools and the prompts.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().chain(self.prompts.iter().map(Prompt::tool))
    }

    /// Adds tools to the catalog.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Catalog::linked`].
    pub fn with(self, tools: impl IntoIterator<Item = Tool>) -> Result<Self, Diagnostics> {
        Self::new(self.tools.into_iter().chain(tools))?.with_prompts(self.prompts)
    }

    /// Keeps the tools for which `keeps` returns true, and all prompts.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Catalog, Tool};
    ///
    /// let catalog = Catalog::new([Tool::builder("read").build()?, Tool::builder("write").build()?])?;
    /// let catalog = catalog.retain(|tool| tool.name() != "write");
    /// assert!(catalog.get("read").is_some() && catalog.get("write").is_none());
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn retain(mut self, keeps: impl FnMut(&Tool) -> bool) -> Self {
        self.tools.retain(keeps);
        // A part of a catalog without defects has none.
        self.names = Names::new(&self.tools, &mut Vec::new());
        self
    }

    /// Replaces the tools that borrow state which has instances with one tool for each instance; see [`Instances`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Catalog::linked`], and an error for an invalid namespace, for an instance with two
    /// values of the same type, and for an instance that no tool uses if the catalog has functions or no tools.
    pub fn with_instances(self, instances: Instances) -> Result<Self, Diagnostics> {
        self.with_instances_beside(instances, &States::default())
    }

    /// Enforces the formats in the arguments of all tools; see [`enforce_formats`](crate::schema::enforce_formats).
    ///
    /// The schemas of the tools are built and changed, so that callers see the rule.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// /// Invites a person.
    /// #[tool]
    /// fn invite(#[schemars(email)] to: String) -> String {
    ///     format!("{to} is invited")
    /// }
    ///
    /// let dispatcher = Dispatcher::new(catalog![invite]?.enforcing_formats())?;
    /// let error = dispatcher.call_sync("invite", r#"{"to": "bob"}"#).unwrap_err();
    /// assert!(error.message().contains("/to must be an email address, as in `ada@example.com`"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn enforcing_formats(mut self) -> Self {
        self.tools = self.tools.into_iter().map(Tool::enforcing_formats).collect();
        self
    }

    /// Returns an iterator over all tools, sorted by id, with all versions of each.
    pub fn iter(&self) -> std::slice::Iter<'_, Tool> {
        self.tools.iter()
    }

    /// Returns an iterator over the latest version of each tool, sorted by id: its highest release, or its highest
    /// pre-release if there is no release.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Catalog, Tool};
    ///
    /// let tool = |version: &'static str| Tool::builder("read").namespace("files").version(version).build();
    /// let catalog = Catalog::new([tool("1.4.0")?, tool("2.0.0")?, tool("3.0.0-beta")?])?;
    /// let latest: Vec<String> = catalog.latest().map(|tool| tool.id().to_string()).collect();
    /// assert_eq!(latest, ["files:read:2.0.0"]);
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    pub fn latest(&self) -> impl Iterator<Item = &Tool> {
        self.names.latest.iter().map(|&idx| &self.tools[idx])
    }

    /// Returns the number of tools, counting each version.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Returns true if the catalog has no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Returns the tool that `name` resolves to, or `None`; see [`Catalog::resolve`].
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.names.get(name).map(|idx| &self.tools[idx])
    }

    /// Returns the tool with exactly this id, including its version.
    ///
    /// ```
    /// use toolkit::{Catalog, Tool};
    ///
    /// let catalog = Catalog::new([Tool::builder("add").namespace("math").build()?])?;
    /// assert!(catalog.with_id(&"math:add".parse()?).is_some());
    /// assert!(catalog.with_id(&"math:add:1.0.0".parse()?).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_id(&self, id: &ToolId) -> Option<&Tool> {
        let position = self.tools.binary_search_by(|tool| tool.id().cmp(id)).ok()?;
        self.tools.get(position)
    }

    /// Returns the tool that `name` resolves to. `name` is an id, an id without a version (the highest release), a
    /// name without a namespace if it is unambiguous, or an alias.
    ///
    /// # Errors
    ///
    /// Returns an error if no tool has the name, with the nearest name as a suggestion, or if several tools have it.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Catalog, Tool};
    ///
    /// let read = Tool::builder("read").namespace("files").version("1.0.0").aliases(["cat"]).build()?;
    /// let catalog = Catalog::new([read])?;
    /// for name in ["files:read:1.0.0", "files:read", "read", "cat"] {
    ///     assert_eq!(catalog.resolve(name)?.id().to_string(), "files:read:1.0.0");
    /// }
    /// let error = catalog.resolve("files:raed").unwrap_err();
    /// assert_eq!(error.message(), "no tool is named `files:raed`; did you mean `files:read`?");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn resolve(&self, name: &str) -> Result<&Tool, ToolError> {
        self.get(name).ok_or_else(|| self.unresolved(name))
    }

    /// Returns the highest version of a tool that meets a version requirement in Cargo's syntax.
    ///
    /// `name` is any name of the tool; its version is ignored.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Catalog::resolve`], and an error with the existing versions if none meets the
    /// requirement.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::version::parse_req;
    /// use toolkit::{Catalog, Tool};
    ///
    /// let tool = |version: &'static str| Tool::builder("read").namespace("files").version(version).build();
    /// let catalog = Catalog::new([tool("1.0.0")?, tool("1.4.0")?, tool("2.0.0")?])?;
    /// assert_eq!(catalog.resolve("files:read")?.id().version(), Some("2.0.0"));
    /// assert_eq!(catalog.matching("files:read", &parse_req("^1")?)?.id().version(), Some("1.4.0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn matching(&self, name: &str, wanted: &VersionReq) -> Result<&Tool, ToolError> {
        let id = self.resolve(name)?.id().unversioned();
        let versions = self.versions_of(&id);
        let meets = |tool: &&Tool| tool.id().semver().is_some_and(|version| wanted.matches(&version));
        versions.clone().filter(meets).last().ok_or_else(|| {
            let mut versions = versions.filter_map(|tool| tool.id().version());
            let there: Vec<String> = versions.by_ref().take(MAX_VERSIONS).map(shown_id).collect();
            let more = if versions.next().is_some() { ", …" } else { "" };
            let there = match &there[..] {
                [] => "the tool has no version".to_owned(),
                there => format!("available: {}{more}", there.join(", ")),
            };
            let message = format!("no version of `{}` meets `{wanted}`; {there}", shown_id(&id));
            ToolError::new(ErrorKind::UnknownTool, message)
        })
    }

    /// Returns all versions of a tool, in ascending order. `unversioned` is an id without a version.
    ///
    /// ```
    /// use toolkit::{Catalog, Tool, ToolId};
    ///
    /// let tool = |version| Tool::builder("add").namespace("math").version(version).build();
    /// let catalog = Catalog::new([tool("2.0.0")?, tool("1.0.0")?])?;
    /// let versions: Vec<_> = catalog.versions_of(&"math:add".parse().unwrap()).map(|tool| tool.id().to_string()).collect();
    /// assert_eq!(versions, ["math:add:1.0.0", "math:add:2.0.0"]);
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    pub fn versions_of(&self, unversioned: &ToolId) -> impl Iterator<Item = &Tool> + Clone {
        let start = self.tools.partition_point(|tool| tool.id() < unversioned);
        self.tools[start..].iter().take_while(move |tool| tool.id().unversioned() == *unversioned)
    }

    /// Returns an error unless the catalog has exactly `n_tools` tools, counting each version.
    ///
    /// The linker silently drops a crate that nothing refers to; this check detects it.
    ///
    /// ```standalone_crate
    /// use toolkit::{Catalog, tool};
    ///
    /// /// Adds two integers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let catalog = Catalog::linked()?.expect_count(1)?;
    /// assert!(catalog.expect_count(2).unwrap_err().to_string().starts_with("expected 2 tools, found 1"));
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the number differs.
    pub fn expect_count(self, n_tools: usize) -> Result<Self, Diagnostics> {
        if self.len() == n_tools {
            return Ok(self);
        }
        let message = format!("expected {n_tools} tools, found {}", self.len());
        Err(Diagnostics::from(Diagnostic::new(DiagnosticKind::Unexpected, message, &self)))
    }

    /// Returns an error unless the tools have exactly these ids.
    ///
    /// ```standalone_crate
    /// use toolkit::{Catalog, tool};
    ///
    /// /// Reads a file.
    /// #[tool(namespace = "files")]
    /// fn read(path: String) -> String {
    ///     path
    /// }
    ///
    /// let catalog = Catalog::linked()?.expect_ids(["files:read"])?;
    /// let diagnostics = catalog.expect_ids(["files:read", "files:write"]).unwrap_err();
    /// assert_eq!(
    ///     diagnostics.to_string(),
    ///     "`files:write` is missing; is its crate linked? see `toolkit::link!`"
    /// );
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns every missing id and every unexpected tool.
    pub fn expect_ids<'i>(self, ids: impl IntoIterator<Item = &'i str>) -> Result<Self, Diagnostics> {
        let expected: BTreeSet<&str> = ids.into_iter().collect();
        let ids_of: Vec<String> = self.iter().map(|tool| tool.id().to_string()).collect();
        let found: BTreeSet<&str> = ids_of.iter().map(|id| &**id).collect();
        let missing = expected.difference(&found).map(|id| {
            let message = format!("`{id}` is missing; is its crate linked? see `toolkit::link!`");
            Diagnostic::new(DiagnosticKind::Unexpected, message, [])
        });
        let is_new = |tool: &&Tool| !expected.contains(&*tool.id().to_string());
        let new = self.iter().filter(is_new).map(|tool| {
            let message = format!("`{}` is unexpected", tool.id());
            Diagnostic::new(DiagnosticKind::Unexpected, message, [tool])
        });
        let diagnostics: Vec<Diagnostic> = missing.chain(new).collect();
        Diagnostics::none_or(diagnostics).map(|()| self)
    }

    /// Validates all tools and prompts: ids, schemas, examples, defaults, bounds, `meta` (an object without the key
    /// [`META_KEY`](crate::tool::META_KEY)), and unique wire names.
    ///
    /// This builds every schema, so call it in a test:
    ///
    /// ```standalone_crate
    /// #[test]
    /// fn the_catalogue_is_sound() {
    ///     toolkit::Catalog::linked().and_then(|catalog| catalog.check(Default::default())).unwrap();
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns every defect, with the location of its tool.
    #[expect(clippy::test_attr_in_doctest, reason = "the example is a test, and stands where a user puts it")]
    pub fn check(&self, naming: Naming) -> Result<(), Diagnostics> {
        let mut diagnostics = Vec::new();
        for tool in self.records() {
            check_tool(tool, &mut diagnostics);
            check_contradictions(tool, &mut diagnostics);
        }
        WireNames::collect(self, naming, &|tool| Some(naming.wire_name(tool.id())), &mut diagnostics);
        Diagnostics::none_or(diagnostics)
    }

    /// Returns the tools to publish: the latest version of every tool, under its wire name.
    ///
    /// # Errors
    ///
    /// Returns the defects that no adapter can represent, for all tools: an invalid wire name, an input schema that
    /// does not describe an object, a `meta` that is not an object. [`Catalog::check`] validates the schemas, which
    /// takes a validator for each.
    pub fn listed(&self, naming: Naming) -> Result<WireNames<'_>, Diagnostics> {
        self.wire_names(naming, &|tool| Some(naming.wire_name(tool.id())), |tool, diagnostics| {
            check_object(tool, tool.input().as_value(), diagnostics);
        })
    }

    /// Does the same as [`Catalog::listed`] without building schemas, for the tools that `name` gives a name. The caller
    /// checks that the schemas describe objects.
    pub fn named(&self, naming: Naming, name: impl Fn(&Tool) -> Option<String>) -> Result<WireNames<'_>, Diagnostics> {
        // An error contains the defects of all parts.
        self.wire_names(naming, &name, |_, _| {}).or_else(|_| {
            self.wire_names(naming, &name, |tool, diagnostics| {
                check_object(tool, tool.input().as_value(), diagnostics);
            })
        })
    }

    fn wire_names(
        &self,
        naming: Naming,
        name: &dyn Fn(&Tool) -> Option<String>,
        check: impl Fn(&Tool, &mut Vec<Diagnostic>),
    ) -> Result<WireNames<'_>, Diagnostics> {
        let mut diagnostics = Vec::new();
        for tool in self.latest() {
            check(tool, &mut diagnostics);
            check_meta(tool, &mut diagnostics);
        }
        let names = WireNames::collect(self, naming, name, &mut diagnostics);
        Diagnostics::none_or(diagnostics).map(|()| names)
    }

    /// Behaves like [`Catalog::with_instances`]. A tool additionally stays in its own namespace if `shared` has all
    /// state that it borrows.
    pub(crate) fn with_instances_beside(self, instances: Instances, shared: &States) -> Result<Self, Diagnostics> {
        let (own, foreign): (Vec<_>, Vec<_>) = self.prompts.into_iter().partition(|prompt| prompt.tool().is_prompt());
        let tools = self.tools.into_iter().chain(own.into_iter().map(|prompt| prompt.tool)).collect();
        Self::new(multiplied(tools, instances, shared)?)?.with_prompts(foreign)
    }

    /// Creates the catalog of an explicit list; see [`catalog!`](crate::catalog!).
    pub(crate) fn from_entries(entries: &[&'static Entry]) -> Result<Self, Diagnostics> {
        Self::new(entries.iter().map(|entry| Tool::linked(entry)))
    }

    /// Returns the tool of this entry. If it has several instances, `namespace` selects one.
    pub(crate) fn linked_as(&self, entry: &'static Entry, namespace: Option<&str>) -> Result<&Tool, ToolError> {
        let is_found = |tool: &&Tool| namespace.is_none() && tool.instance().is_none() && is_of(tool, entry);
        self.get(entry.id).filter(is_found).map_or_else(|| self.instance_of(entry, namespace), Ok)
    }

    #[cold]
    fn instance_of(&self, entry: &'static Entry, namespace: Option<&str>) -> Result<&Tool, ToolError> {
        let is_wanted = |tool: &&Tool| namespace.is_none() || tool.id().namespace() == namespace;
        let found: Vec<&Tool> = self.tools.iter().filter(|tool| is_of(tool, entry)).filter(is_wanted).collect();
        match (&found[..], namespace) {
            ([tool], _) => Ok(tool),
            ([], None) => {
                let message = format!("the tool `{}` is not in this catalog", entry.id);
                Err(ToolError::new(ErrorKind::UnknownTool, message))
            }
            ([], Some(namespace)) => {
                let message = format!("`{}` has no instance in the namespace {}", entry.id, quoted(namespace));
                Err(ToolError::new(ErrorKind::UnknownTool, message))
            }
            (several, _) => {
                let ids = ids_of(several.iter().copied(), ", ");
                let message =
                    format!("`{}` has several instances: {ids}; choose one with `Handle::instance`", entry.id);
                Err(ToolError::new(ErrorKind::AmbiguousTool, message))
            }
        }
    }

    #[cold]
    fn unresolved(&self, name: &str) -> ToolError {
        match self.names.several(name) {
            Some(idxs) => {
                let ids = ids_of(idxs.iter().map(|&idx| &self.tools[idx]), ", ");
                let message = format!("several tools are named {}: {ids}", quoted(name));
                ToolError::new(ErrorKind::AmbiguousTool, message)
            }
            None => ToolError::new(ErrorKind::UnknownTool, self.not_found(name)),
        }
    }

    /// Returns the position of a tool of this catalog in [`Catalog::iter`], for owners of the catalog that cannot borrow
    /// from it.
    pub(crate) fn position(&self, tool: &Tool) -> usize {
        // `element_offset` of the standard library is as new as Rust 1.94.
        let offset = std::ptr::from_ref(tool).addr().wrapping_sub(self.tools.as_ptr().addr()) / size_of::<Tool>();
        match self.tools.get(offset) {
            Some(found) if std::ptr::eq(found, tool) => offset,
            _ => self.tools.partition_point(|other| other.id() < tool.id()),
        }
    }

    /// Returns the tool at a position from [`Catalog::position`].
    pub(crate) fn at(&self, position: usize) -> &Tool {
        &self.tools[position]
    }

    fn not_found(&self, name: &str) -> String {
        let shown: String = name.chars().take(120).collect();
        let shown = shown.escape_debug();
        if let Err(invalid) = name.parse::<ToolId>() {
            return format!("no tool is named `{shown}`: {invalid}");
        }
        let names = self.names.iter();
        let n_names = names.len();
        match suggest::nearest(name, names) {
            Some(near) => format!("no tool is named `{shown}`; did you mean {}?", quoted(near)),
            None if self.is_empty() => format!(
                "no tool is named `{shown}`, and the catalog is empty; name the crates with tools in `toolkit::link!(…)`"
            ),
            None if n_names > suggest::MAX_NAMES => format!("no tool is named `{shown}`; {}", suggest::TOO_MANY_NAMES),
            None => format!("no tool is named `{shown}`"),
        }
    }
}

impl<'a> IntoIterator for &'a Catalog {
    type Item = &'a Tool;
    type IntoIter = std::slice::Iter<'a, Tool>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Returns true if the tool is the function with this entry. A crate that is linked twice into its own tests has two
/// entries of each tool, and the catalog keeps one.
fn is_of(tool: &Tool, entry: &'static Entry) -> bool {
    let is_same =
        |other: &Entry| std::ptr::eq(other, entry) || (other.id, other.location) == (entry.id, entry.location);
    tool.entry().is_some_and(is_same)
}

/// Reports two tools with adjacent ids that cannot be versions of one tool, because no name would resolve to one of
/// them.
fn versions_of_one(a: &Tool, b: &Tool) -> Option<Diagnostic> {
    let (one, other) = (a.id(), b.id());
    if (one.namespace(), one.name()) != (other.namespace(), other.name()) {
        return None;
    }
    let message = match (one.version(), other.version()) {
        (None, Some(_)) => {
            "one has no version, so its id would resolve to the highest version of the other; give both a version"
                .to_owned()
        }
        (Some(written), Some(otherwise)) if one.semver().is_some() && one.semver() == other.semver() => {
            format!(
                "{} and {} are the same version; remove one or change its version",
                quoted(written),
                quoted(otherwise)
            )
        }
        _ => return None,
    };
    Some(Diagnostic::new(DiagnosticKind::DuplicateId, message, [a, b]))
}
