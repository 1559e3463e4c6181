//! Tools that another program published, read one by one: a bad one never hides the others.

use std::collections::HashMap;
use std::fmt;

use serde_json::Value;

use crate::call::Arguments;
use crate::catalog::{Diagnostic, DiagnosticKind};
use crate::tool::check::validate_tool;
use crate::tool::{InvalidTool, Namespace, Object, Text, Tool, Unknown};
use toolkit_schema::is_too_deep;

/// A list of tools that another program published, such as the result of MCP's `tools/list`.
///
/// Each tool is checked as one of this program is, and has its problems beside it.
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
    /// What stands beside the list; `None` where the document is the list itself.
    unknown: Option<Unknown>,
}

/// One entry of a [`Manifest`].
#[derive(Clone, Debug)]
pub struct Listing {
    index: usize,
    read: Result<Tool, Value>,
    diagnostics: Vec<Diagnostic>,
}

/// Which of its two forms a tool is in.
#[derive(Clone, Copy)]
enum Form {
    Canonical,
    Mcp,
}

/// How many problems of one tool are told.
const MAX_DIAGNOSTICS: usize = 16;

impl Manifest {
    /// How many entries a manifest may have.
    pub const MAX_TOOLS: usize = 100_000;

    /// Reads a list of tools in the form of MCP, from text or from a value: an array, or an object with the array
    /// under `tools`, as `tools/list` gives it.
    ///
    /// # Errors
    ///
    /// There is no such list, or one of more than [`Manifest::MAX_TOOLS`]. What is wrong with a tool is no error here;
    /// see [`Manifest::listings`].
    pub fn from_mcp_json<'j>(json: impl Into<Arguments<'j>>) -> Result<Self, InvalidManifest> {
        Self::read(json.into(), Form::Mcp)
    }

    /// Reads a list of tools in their canonical form; see [`Tool::to_json`].
    ///
    /// # Errors
    ///
    /// As for [`Manifest::from_mcp_json`].
    pub fn from_json<'j>(json: impl Into<Arguments<'j>>) -> Result<Self, InvalidManifest> {
        Self::read(json.into(), Form::Canonical)
    }

    fn read(json: Arguments<'_>, form: Form) -> Result<Self, InvalidManifest> {
        let invalid = |reason: &str| InvalidManifest::new(reason);
        if matches!(&json, Arguments::Value(value) if is_too_deep(value)) {
            return Err(invalid("it is nested deeper than 127 levels"));
        }
        let (tools, unknown) = match json.to_value().map_err(|error| invalid(error.message()))? {
            Value::Array(tools) => (tools, None),
            Value::Object(mut fields) => match fields.remove("tools") {
                Some(Value::Array(tools)) => (tools, Some(Unknown::from_iter(fields))),
                Some(_) => return Err(invalid("`tools` is no array")),
                None if fields.contains_key("result") => {
                    return Err(invalid("it has no `tools`; of a JSON-RPC response, give its `result`"));
                }
                None => return Err(invalid("it has no `tools`")),
            },
            _ => return Err(invalid("it is neither an array of tools nor an object with such an array")),
        };
        if tools.len() > Self::MAX_TOOLS {
            let n_tools = tools.len();
            return Err(InvalidManifest::new(format!("it has {n_tools} tools; at most {} are read", Self::MAX_TOOLS)));
        }
        let tools = tools.into_iter().enumerate();
        let mut listings: Vec<Listing> = tools.map(|(index, json)| Listing::read(index, json, form)).collect();
        find_doubles(&mut listings);
        Ok(Self { listings, unknown })
    }

    /// The entries, in their order.
    pub fn listings(&self) -> impl Iterator<Item = &Listing> {
        self.listings.iter()
    }

    /// The tools without a problem, in their order.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.listings().filter(|listing| listing.is_sound()).filter_map(Listing::tool)
    }

    /// The same tools in a namespace; see [`Tool::in_namespace`]. Whether two have one id is found anew.
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

    /// What stands beside the list, such as `nextCursor`.
    #[must_use]
    pub fn unknown(&self) -> &Unknown {
        self.unknown.as_ref().unwrap_or(&Unknown::NONE)
    }

    /// Everything that was read, in the form of MCP: what was read in that form comes back as it was.
    ///
    /// A tool that carried a record of its own is written under the name in the record, and without the record; see
    /// [`Tool::to_mcp_json_with_record`].
    #[must_use]
    pub fn to_mcp_json(&self) -> Value {
        self.write(Tool::to_mcp_json)
    }

    /// Everything that was read, tools in their canonical form.
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
    fn read(index: usize, json: Value, form: Form) -> Self {
        let read = match form {
            Form::Canonical => Tool::from_json(&json),
            Form::Mcp => Tool::from_mcp_json(&json),
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
                    InvalidTool::Form(violations) => violations
                        .iter()
                        .take(MAX_DIAGNOSTICS)
                        .map(|violation| diagnostic(violation.to_string()))
                        .collect(),
                    InvalidTool::Json(reason) => vec![diagnostic(reason)],
                };
                Self { index, read: Err(json), diagnostics }
            }
        }
    }

    /// Its place in the list, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Its name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.read {
            Ok(tool) => Some(tool.name()),
            Err(json) => json.get("name")?.as_str(),
        }
    }

    /// The tool, if the entry is one, problems or not.
    #[must_use]
    pub fn tool(&self) -> Option<&Tool> {
        self.read.as_ref().ok()
    }

    /// What is wrong with it; of very many things the first ones.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Whether nothing is wrong with it.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.diagnostics.is_empty()
    }
}

/// The first tool of an id has it.
fn find_doubles(listings: &mut [Listing]) {
    let mut first: HashMap<Text, usize> = HashMap::new();
    for listing in listings {
        let Ok(tool) = &listing.read else { continue };
        let earlier = *first.entry(tool.id_text()).or_insert(listing.index);
        if earlier != listing.index {
            let message = format!("its id is that of the tool at {earlier}");
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

/// A document without a list of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidManifest {
    reason: String,
}

impl InvalidManifest {
    pub(crate) fn new<R: Into<String>>(reason: R) -> Self {
        Self { reason: reason.into() }
    }
}

impl fmt::Display for InvalidManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a manifest: {}", self.reason)
    }
}

impl std::error::Error for InvalidManifest {}
