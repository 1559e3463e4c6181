//! The names under which tools were exported, and the tools that they refer to.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::wire::WireNames;
use crate::call::{ErrorKind, ToolError};
use crate::tool::ToolId;
use toolkit_schema::{quoted, suggest};

/// The names of an export, which a model uses in its calls.
///
/// Clones share the names. An export of `toolkit-providers` contains them. [`Dispatcher::with_names`](crate::Dispatcher::with_names) accepts
/// them instead of ids.
///
/// ```
/// use toolkit::catalog::{ExportedName, ExportedNames};
///
/// let names = ExportedNames::from_iter([
///     ExportedName::new("mail_send", "mail:send:1.0.0".parse()?),
///     ExportedName::new("list", "mail:list:1.0.0".parse()?).in_namespace("mail"),
/// ]);
/// assert_eq!(names.get(None, "mail_send").unwrap().id().name(), "send");
/// assert_eq!(names.get(Some("mail"), "list").unwrap().id().name(), "list");
/// assert!(names.get(None, "list").is_none());
/// # Ok::<(), toolkit::tool::NameError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportedNames {
    /// By namespace, which is empty if there is none, and name.
    names: Arc<BTreeMap<String, BTreeMap<String, ExportedName>>>,
}

/// A name in an export, with the tool that it refers to.
///
/// ```
/// use toolkit::catalog::ExportedName;
///
/// let name = ExportedName::new("mail_send", "mail:send:1.0.0".parse()?).strict();
/// assert_eq!((name.name(), name.is_strict()), ("mail_send", true));
/// # Ok::<(), toolkit::tool::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedName {
    namespace: Option<String>,
    name: String,
    id: ToolId,
    is_strict: bool,
}

impl ExportedName {
    /// Creates a name for a tool.
    #[must_use]
    pub fn new(name: impl Into<String>, id: ToolId) -> Self {
        Self { namespace: None, name: name.into(), id, is_strict: false }
    }

    /// Sets the namespace that a call repeats beside the name.
    #[must_use]
    pub fn in_namespace(self, namespace: impl Into<String>) -> Self {
        Self { namespace: Some(namespace.into()), ..self }
    }

    /// Marks the tool as exported in strict mode, in which a model sends null for an absent argument.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { is_strict: true, ..self }
    }

    /// Returns the name without the namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the namespace that a call repeats beside the name.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Returns the id of the tool.
    #[must_use]
    pub fn id(&self) -> &ToolId {
        &self.id
    }

    /// Returns true if the tool was exported in strict mode.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.is_strict
    }
}

/// Formats as in `mail_send`, or `mail.send` with a namespace.
impl fmt::Display for ExportedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl ExportedNames {
    /// Returns the tool of a name in a namespace.
    #[must_use]
    pub fn get(&self, namespace: Option<&str>, name: &str) -> Option<&ExportedName> {
        self.names.get(namespace.unwrap_or_default())?.get(name)
    }

    /// Returns the tool of a name that is written in one piece, as in `mail_send` or `mail.send`, or of the id of an
    /// exported tool.
    ///
    /// ```
    /// use toolkit::catalog::{ExportedName, ExportedNames};
    ///
    /// let send = ExportedName::new("send", "mail:send:1.0.0".parse()?).in_namespace("mail");
    /// let names = ExportedNames::from_iter([send]);
    /// assert!(names.resolve("mail.send").is_ok() && names.resolve("mail:send").is_ok());
    /// let error = names.resolve("mail.sent").unwrap_err();
    /// assert_eq!(error.to_string(), "no tool is named `mail.sent`; did you mean `mail.send`?");
    /// # Ok::<(), toolkit::tool::NameError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error with the nearest name if no tool was exported under the name.
    pub fn resolve(&self, name: &str) -> Result<&ExportedName, ToolError> {
        let in_namespace = |(namespace, name)| self.get(Some(namespace), name);
        let found = self.get(None, name).or_else(|| name.rsplit_once('.').and_then(in_namespace));
        found.or_else(|| self.with_id(name)).ok_or_else(|| self.unknown(name))
    }

    /// Returns the error of a name that no tool has, with the nearest name.
    #[must_use]
    pub fn unknown(&self, name: &str) -> ToolError {
        if self.len() > suggest::MAX_NAMES {
            let message = format!("no tool is named {}; {}", quoted(name), suggest::TOO_MANY_NAMES);
            return ToolError::new(ErrorKind::UnknownTool, message);
        }
        let names: Vec<String> = self.iter().map(ToString::to_string).collect();
        let near = suggest::nearest(name, names.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; did you mean {}?", quoted(near)));
        ToolError::new(ErrorKind::UnknownTool, format!("no tool is named {}{near}", quoted(name)))
    }

    fn with_id(&self, text: &str) -> Option<&ExportedName> {
        let id: ToolId = text.parse().ok()?;
        let is_meant = |name: &&ExportedName| {
            let same_tool = (name.id.namespace(), name.id.name()) == (id.namespace(), id.name());
            same_tool && (id.version().is_none() || id.version() == name.id.version())
        };
        self.iter().find(is_meant)
    }

    /// Returns all names, sorted by namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = &ExportedName> {
        self.names.values().flat_map(BTreeMap::values)
    }

    /// Returns the number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.values().map(BTreeMap::len).sum()
    }

    /// Returns true if nothing was exported.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Collects names. If two are equal, the later one is kept.
impl FromIterator<ExportedName> for ExportedNames {
    fn from_iter<I: IntoIterator<Item = ExportedName>>(names: I) -> Self {
        let mut all = Self::default();
        all.extend(names);
        all
    }
}

impl Extend<ExportedName> for ExportedNames {
    fn extend<I: IntoIterator<Item = ExportedName>>(&mut self, names: I) {
        let all = Arc::make_mut(&mut self.names);
        for name in names {
            let namespace = all.entry(name.namespace.clone().unwrap_or_default()).or_default();
            namespace.insert(name.name.clone(), name);
        }
    }
}

impl From<&WireNames<'_>> for ExportedNames {
    fn from(names: &WireNames<'_>) -> Self {
        names.iter().map(|(name, tool)| ExportedName::new(name, tool.id().clone())).collect()
    }
}
