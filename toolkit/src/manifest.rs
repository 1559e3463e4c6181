//! Manifests: lists of tools that another program published.
//!
//! A [`Manifest`] reads the list, and each [`Listing`] in it is a tool or the reasons why it cannot be used.
//!
//! ```
//! use toolkit::{Manifest, Tool};
//!
//! let tools_list = r#"{
//!     "tools": [
//!         {"name": "read", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}},
//!         {"name": "write", "inputSchema": {"type": "object", "properties": {"path": {"type": "text"}}}}
//!     ]
//! }"#;
//! let manifest = Manifest::from_mcp_json(tools_list)?;
//! assert_eq!(manifest.tools().map(Tool::name).collect::<Vec<_>>(), ["read"]);
//!
//! let write = manifest.listings().nth(1).unwrap();
//! assert!(write.diagnostics()[0].message().contains("/properties/path/type"));
//! # Ok::<(), toolkit::tool::ParseToolError>(())
//! ```

use std::collections::HashMap;
use std::fmt;

use serde_json::Value;

use crate::call::Arguments;
use crate::catalog::{Diagnostic, DiagnosticKind};
use crate::tool::diagnostic::validate_tool;
use crate::tool::{Namespace, Object, ParseToolError, Text, Tool, Unknown};
use toolkit_schema::is_too_deep;

/// A list of tools that another program published, such as the result of `tools/list` of MCP.
///
/// Each tool is validated like a tool of this program and has its own diagnostics, so an invalid tool does not affect
/// the others.
///
/// ```
/// # use toolkit::{Catalog, Manifest};
/// let manifest = Manifest::from_mcp_json(
///     r#"{"tools": [
///         {"name": "read", "inputSchema": {"type": "object"}},
///         {"name": "write", "inputSchema": {"type": "objekt"}},
///         {"title": "nobody"}
///     ]}"#,
/// )?;
/// let sound: Vec<&str> = manifest.tools().map(|tool| tool.name()).collect();
/// assert_eq!(sound, ["read"]);
/// for listing in manifest.listings().filter(|listing| !listing.is_sound()) {
///     eprintln!("{listing}");
/// }
/// let catalog = Catalog::new(manifest.tools().cloned())?;
/// assert_eq!(catalog.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Manifest {
    listings: Vec<Listing>,
    /// The other fields of the document; `None` if the document is the list itself.
    unknown: Option<Unknown>,
}

/// An entry of a [`Manifest`].
///
/// ```
/// use toolkit::Manifest;
///
/// let manifest = Manifest::from_mcp_json(r#"[{"name": "two words", "inputSchema": {"type": "object"}}]"#)?;
/// let listing = manifest.listings().next().unwrap();
/// assert!(!listing.is_sound());
/// assert_eq!(listing.name(), Some("two words"));
/// assert!(listing.diagnostics()[0].message().starts_with("the name must not contain ` `"));
/// # Ok::<(), toolkit::tool::ParseToolError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Listing {
    index: usize,
    read: Result<Tool, Value>,
    diagnostics: Vec<Diagnostic>,
}

/// The form of a tool in a document.
#[derive(Clone, Copy)]
enum ManifestForm {
    Canonical,
    Mcp,
}

/// The maximum number of diagnostics for each tool.
const MAX_DIAGNOSTICS: usize = 16;

impl Manifest {
    /// The maximum number of entries in a manifest.
    pub const MAX_TOOLS: usize = 100_000;

    /// Parses a list of MCP tools from text or a value: an array, or an object with the array under `tools`, as
    /// returned by `tools/list`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such list, or if it has more than [`Manifest::MAX_TOOLS`] entries. An invalid
    /// tool is not an error; see [`Manifest::listings`].
    pub fn from_mcp_json<'j>(json: impl Into<Arguments<'j>>) -> Result<Self, ParseToolError> {
        Self::read(json.into(), ManifestForm::Mcp)
    }

    /// Parses a list of tools in their canonical form; see [`Tool::to_json`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Manifest::from_mcp_json`].
    pub fn from_json<'j>(json: impl Into<Arguments<'j>>) -> Result<Self, ParseToolError> {
        Self::read(json.into(), ManifestForm::Canonical)
    }

    fn read(json: Arguments<'_>, form: ManifestForm) -> Result<Self, ParseToolError> {
        let invalid = |reason: &str| ParseToolError::Manifest(reason.to_owned());
        if matches!(&json, Arguments::Value(value) if is_too_deep(value)) {
            return Err(invalid("it is nested deeper than 127 levels"));
        }
        let (tools, unknown) = match json.to_value().map_err(|error| invalid(error.message()))? {
            Value::Array(tools) => (tools, None),
            Value::Object(mut fields) => match fields.shift_remove("tools") {
                Some(Value::Array(tools)) => (tools, Some(Unknown::from_iter(fields))),
                Some(_) => return Err(invalid("`tools` is not an array")),
                None if fields.contains_key("result") => {
                    return Err(invalid("it has no `tools`; for a JSON-RPC response, pass its `result`"));
                }
                None => return Err(invalid("it has no `tools`")),
            },
            _ => return Err(invalid("it is neither an array of tools nor an object with such an array")),
        };
        if tools.len() > Self::MAX_TOOLS {
            let n_tools = tools.len();
            return Err(invalid(&format!("it has {n_tools} tools; the limit is {}", Self::MAX_TOOLS)));
        }
        let tools = tools.into_iter().enumerate();
        let mut listings: Vec<Listing> = tools.map(|(index, json)| Listing::read(index, json, form)).collect();
        find_doubles(&mut listings);
        Ok(Self { listings, unknown })
    }

    /// Returns an iterator over the entries in their order.
    pub fn listings(&self) -> impl Iterator<Item = &Listing> {
        self.listings.iter()
    }

    /// Returns an iterator over the tools without diagnostics, in their order.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.listings().filter(|listing| listing.is_sound()).filter_map(Listing::tool)
    }

    /// Moves the tools into a namespace; see [`Tool::in_namespace`]. Duplicate ids are determined again.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::tool::Namespace;
    /// use toolkit::{Catalog, Manifest};
    ///
    /// let manifest = |namespace: &'static str| {
    ///     let manifest = Manifest::from_mcp_json(r#"[{"name": "search", "inputSchema": {"type": "object"}}]"#)?;
    ///     Ok::<_, Box<dyn std::error::Error>>(manifest.in_namespace(&Namespace::new(namespace)?))
    /// };
    /// let (docs, mail) = (manifest("docs")?, manifest("mail")?);
    /// let catalog = Catalog::new(docs.tools().chain(mail.tools()).cloned())?;
    /// assert_eq!(catalog.resolve("mail:search")?.id().namespace(), Some("mail"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_namespace(mut self, namespace: &Namespace) -> Self {
        for listing in &mut self.listings {
            if let Ok(tool) = &mut listing.read {
                *tool = tool.in_namespace(namespace.clone());
            }
            listing.diagnostics.retain(|diagnostic| diagnostic.kind() != DiagnosticKind::DuplicateId);
        }
        find_doubles(&mut self.listings);
        self
    }

    /// Returns the fields beside the list, such as `nextCursor`.
    #[must_use]
    pub fn unknown(&self) -> &Unknown {
        self.unknown.as_ref().unwrap_or(&Unknown::NONE)
    }

    /// Serializes the manifest in the form of MCP. A manifest that was parsed in that form is reproduced unchanged.
    ///
    /// A tool that carried its own record is written under the name in the record, and without the record; see
    /// [`Tool::to_mcp_json_with_record`].
    #[must_use]
    pub fn to_mcp_json(&self) -> Value {
        self.write(Tool::to_mcp_json)
    }

    /// Serializes the manifest with tools in their canonical form.
    #[must_use]
    pub fn to_json(&self) -> Value {
        self.write(Tool::to_json)
    }

    fn write(&self, write: impl Fn(&Tool) -> Value) -> Value {
        let tools: Vec<Value> =
            self.listings().map(|listing| listing.read.as_ref().map_or_else(Value::clone, &write)).collect();
        let Some(unknown) = &self.unknown else {
            return tools.into();
        };
        let mut fields: Object = unknown.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        fields.insert("tools".to_owned(), tools.into());
        fields.into()
    }
}

impl Listing {
    fn read(index: usize, mut json: Value, form: ManifestForm) -> Self {
        let read = match (form, &mut json) {
            (ManifestForm::Mcp, Value::Object(fields)) => Tool::from_mcp_fields(fields),
            (ManifestForm::Canonical, Value::Object(fields)) => Tool::from_fields(fields),
            (_, other) => Tool::from_json(&*other),
        };
        match read {
            Ok(tool) => {
                let diagnostics = validate_tool(&tool).err();
                let diagnostics = diagnostics
                    .iter()
                    .flat_map(|diagnostics| diagnostics.iter().cloned())
                    .take(MAX_DIAGNOSTICS)
                    .collect();
                Self { index, read: Ok(tool), diagnostics }
            }
            Err(error) => {
                let diagnostic = |message: String| Diagnostic::new(DiagnosticKind::Malformed, message, []);
                let diagnostics = match error {
                    ParseToolError::Form(violations) => violations
                        .iter()
                        .take(MAX_DIAGNOSTICS)
                        .map(|violation| diagnostic(violation.to_string()))
                        .collect(),
                    ParseToolError::Json(reason) | ParseToolError::Manifest(reason) => vec![diagnostic(reason)],
                };
                Self { index, read: Err(json), diagnostics }
            }
        }
    }

    /// Returns the index in the list, starting at 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the name, if there is one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.read {
            Ok(tool) => Some(tool.name()),
            Err(json) => json.get("name")?.as_str(),
        }
    }

    /// Returns the tool, if the entry could be parsed, with or without diagnostics.
    #[must_use]
    pub fn tool(&self) -> Option<&Tool> {
        self.read.as_ref().ok()
    }

    /// Returns the diagnostics of the entry, at most 16 of them.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns true if there are no diagnostics.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.diagnostics.is_empty()
    }
}

/// Reports duplicate ids. The first tool keeps the id.
fn find_doubles(listings: &mut [Listing]) {
    let mut first: HashMap<Text, usize> = HashMap::new();
    for listing in listings {
        let Ok(tool) = &listing.read else { continue };
        let earlier = *first.entry(tool.id_text()).or_insert(listing.index);
        if earlier != listing.index {
            let message = format!("the tool at index {earlier} has the same id");
            listing.diagnostics.push(Diagnostic::new(DiagnosticKind::DuplicateId, message, []));
        }
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name: String = self.name().unwrap_or_default().chars().take(128).collect();
        write!(f, "{} `{}`", self.index, name.escape_debug())?;
        for diagnostic in &self.diagnostics {
            write!(f, "\n  {}", diagnostic.message().replace('\n', "\n  "))?;
        }
        Ok(())
    }
}
