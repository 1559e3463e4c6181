//! Diagnostics of tools and catalogs, and the checks of a single tool: its id, schemas, examples and `_meta`.

use std::fmt;

use serde_json::Value;

use super::entry::Location;
use super::{Literal, META_KEY, Tool, check_alias, check_name};
use toolkit_schema::contradiction::contradictions;
use toolkit_schema::{SchemaError, quoted, shown_id, values};

/// A defect of a catalog, a manifest, a dispatcher or a set of backends.
///
/// ```
/// use toolkit::Tool;
/// use toolkit::catalog::DiagnosticKind;
///
/// let error = Tool::builder("a b").build().unwrap_err();
/// let diagnostic = error.iter().next().unwrap();
/// assert_eq!(diagnostic.kind(), DiagnosticKind::InvalidName);
/// assert!(diagnostic.message().starts_with("the name must not contain ` `"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    kind: DiagnosticKind,
    message: String,
    tools: Vec<(String, Option<Location>)>,
}

/// The kind of a [`Diagnostic`].
///
/// # Examples
///
/// A host that collects tools of several sources decides by the kind which defects it tolerates:
///
/// ```
/// use toolkit::catalog::DiagnosticKind;
/// use toolkit::{Catalog, Tool};
///
/// let read = |alias: &str| Tool::builder("read").namespace(alias.to_owned()).aliases(["cat"]).build();
/// let diagnostics = Catalog::new([read("files")?, read("mail")?]).unwrap_err();
/// let kinds: Vec<DiagnosticKind> = diagnostics.iter().map(|diagnostic| diagnostic.kind()).collect();
/// assert_eq!(kinds, [DiagnosticKind::AliasTaken]);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// Two tools have the same id.
    DuplicateId,
    /// An alias is a name of another tool.
    AliasTaken,
    /// An input schema accepts values other than objects.
    NotAnObject,
    /// A schema is invalid.
    InvalidSchema,
    /// The keys of a map cannot be deserialized from strings.
    ImpossibleKey,
    /// An example is not JSON, or does not match the input schema.
    InvalidExample,
    /// A default does not match the schema of its argument.
    InvalidDefault,
    /// `meta` is not a JSON object.
    InvalidMeta,
    /// A text of the tool is deceptive, by the lint rules of `toolkit-contract`.
    Deceptive,
    /// A document is not a tool: fields are missing or have the wrong type.
    Malformed,
    /// A name, a namespace or an alias contains invalid characters or is too long.
    InvalidName,
    /// A version is not a semantic version.
    InvalidVersion,
    /// Two tools have the same wire name, or clients reject a wire name.
    WireName,
    /// State that a tool borrows is missing.
    MissingState,
    /// The host passed two values of one type of state.
    DuplicateState,
    /// The namespace of an instance is invalid, or no tool uses the instance.
    InvalidInstance,
    /// The tool needs a disabled feature.
    MissingFeature,
    /// A setting of the dispatcher prevents every call.
    InvalidSetting,
    /// The catalog differs from an expectation.
    Unexpected,
    /// A change breaks callers without a corresponding version.
    Broken,
    /// A tool of a backend is in a namespace of the program.
    NamespaceTaken,
    /// The contract of a tool of a backend differs from the lock.
    NotReviewed,
    /// A text, a schema or the record of a foreign tool exceeds a limit.
    TooLong,
}

impl Diagnostic {
    /// Creates a diagnostic of tools, or of a document that is not a tool.
    pub fn new<'t>(
        kind: DiagnosticKind,
        message: impl Into<String>,
        tools: impl IntoIterator<Item = &'t Tool>,
    ) -> Self {
        let tools = tools.into_iter();
        Self {
            kind,
            message: message.into(),
            tools: tools.map(|tool| (tool.id().to_string(), tool.location())).collect(),
        }
    }

    pub(crate) fn duplicate_id(a: &Tool, b: &Tool) -> Self {
        let kind = if a.is_prompt() { "prompts" } else { "tools" };
        let message = format!("two {kind} have the id `{}`", shown_id(a.id()));
        Self::new(DiagnosticKind::DuplicateId, message, [a, b])
    }

    pub(crate) fn alias_taken(alias: &str, tool: &Tool, other: &Tool) -> Self {
        let message = format!("the alias {} is taken", quoted(alias));
        Self::new(DiagnosticKind::AliasTaken, message, [tool, other])
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> DiagnosticKind {
        self.kind
    }

    /// Returns the message without the locations.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the tools concerned: their ids, and their locations if they are functions of this program.
    pub fn tools(&self) -> impl Iterator<Item = (&str, Option<Location>)> {
        self.tools.iter().map(|(id, location)| (&**id, *location))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for (id, location) in &self.tools {
            write!(f, "\n  {}", shown_id(id))?;
            if let Some(location) = location {
                write!(f, " at {location}")?;
            }
        }
        Ok(())
    }
}

/// The maximum number of tools that a message lists.
const MAX_NAMED: usize = 8;

/// Returns the ids of tools for a message: the first few, and the number of the others.
pub(crate) fn ids_of<'t>(tools: impl ExactSizeIterator<Item = &'t Tool>, between: &str) -> String {
    let n_more = tools.len().saturating_sub(MAX_NAMED);
    let mut ids: Vec<String> = tools.take(MAX_NAMED).map(|tool| format!("`{}`", shown_id(tool.id()))).collect();
    if n_more > 0 {
        ids.push(format!("{n_more} more"));
    }
    ids.join(between)
}

/// The diagnostics of a catalog, at least one.
///
/// `Display` prints one paragraph for each diagnostic: the message, then the tools concerned with their locations.
///
/// # Examples
///
/// ```
/// use toolkit::{Catalog, Tool};
///
/// let add = || Tool::builder("add").namespace("math").version("1.0.0").build();
/// let error = Catalog::new([add()?, add()?]).unwrap_err();
/// assert_eq!(error.iter().count(), 1);
/// assert_eq!(
///     error.to_string(),
///     "two tools have the id `math:add:1.0.0`
///   math:add:1.0.0
///   math:add:1.0.0"
/// );
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Returns an error if there are diagnostics.
    pub fn none_or(diagnostics: Vec<Diagnostic>) -> Result<(), Self> {
        if diagnostics.is_empty() { Ok(()) } else { Err(Self(diagnostics)) }
    }

    /// Appends other diagnostics.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Returns an iterator over the diagnostics.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, diagnostic) in self.0.iter().enumerate() {
            let separator = if idx == 0 { "" } else { "\n" };
            write!(f, "{separator}{diagnostic}")?;
        }
        Ok(())
    }
}

// `unwrap` in a test prints the `Debug` form.
impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Diagnostics {}

/// Checks a single tool.
///
/// # Errors
///
/// Returns every defect.
pub(crate) fn validate_tool(tool: &Tool) -> Result<(), Diagnostics> {
    let mut diagnostics = Vec::new();
    check_tool(tool, &mut diagnostics);
    Diagnostics::none_or(diagnostics)
}

pub(crate) fn check_tool(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    check_id(tool, diagnostics);
    check_schemas(tool, diagnostics);
    check_keys(tool, diagnostics);
    check_object(tool, tool.input().as_value(), diagnostics);
    check_examples(tool, diagnostics);
    check_meta(tool, diagnostics);
}

/// Checks the names and the version. The macro has checked those of functions; those of parsed tools are unchecked.
fn check_id(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    let id = tool.id();
    let names = [("name", Some(id.name())), ("namespace", id.namespace())];
    for (what, name) in names {
        if let Some(Err(reason)) = name.map(check_name) {
            diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidName, format!("the {what} {reason}"), [tool]));
        }
    }
    for alias in tool.aliases() {
        if let Err(reason) = check_alias(alias) {
            let message = format!("the alias {} {reason}", quoted(alias));
            diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidName, message, [tool]));
        }
    }
    if let (Some(version), None) = (id.version(), id.semver()) {
        let message = format!("the version must be a semantic version such as `1.0.0`, got {}", quoted(version));
        diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidVersion, message, [tool]));
    }
}

fn check_schemas(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    let mut invalid = |which: &str, error: SchemaError| {
        diagnostics.extend(error.diagnostics().iter().map(|diagnostic| {
            let message = format!("the {which} schema is invalid: {diagnostic}");
            Diagnostic::new(DiagnosticKind::InvalidSchema, message, [tool])
        }));
    };
    if let Err(error) = tool.input().check_alone() {
        invalid("input", error);
    }
    if let Some(Err(error)) = tool.output().map(|schema| schema.check_alone()) {
        invalid("output", error);
    }
    if !values::has_finite_value(tool.input().as_value()) {
        let message =
            "no arguments match the input schema: a required field accepts no value, or contains its own type";
        diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidSchema, message, [tool]));
    }
}

/// Reports defaults that their schemas reject, and bounds that exclude every value.
pub(crate) fn check_contradictions(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.extend(contradictions(tool.input().as_value()).into_iter().map(|found| {
        let kind = match found.is_default {
            true => DiagnosticKind::InvalidDefault,
            false => DiagnosticKind::InvalidSchema,
        };
        Diagnostic::new(kind, found.message, [tool])
    }));
}

/// Reports maps whose keys cannot be deserialized from a string: the schema accepts values that no call can use.
fn check_keys(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    for place in tool.explored().impossible_maps {
        let message = format!(
            "{} is a map whose keys are not strings in JSON, so that no call can send an entry; use a list of pairs, \
             such as `Vec<(K, V)>`, or a key that serde reads from a string",
            match &*place {
                "" => "the input".to_owned(),
                place => format!("the argument {}", quoted(place)),
            },
        );
        diagnostics.push(Diagnostic::new(DiagnosticKind::ImpossibleKey, message, [tool]));
    }
}

/// Checks that the input schema of a tool describes an object.
pub fn check_object(tool: &Tool, input: &Value, diagnostics: &mut Vec<Diagnostic>) {
    if !values::is_object(input) {
        let message = "the arguments are not an object: the root of the input schema must have `\"type\": \"object\"`";
        diagnostics.push(Diagnostic::new(DiagnosticKind::NotAnObject, message, [tool]));
    }
}

pub(crate) fn check_meta(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    let message = match tool.metadata().meta.as_ref().map(Literal::parse) {
        None => return,
        Some(Ok(Value::Object(meta))) if !meta.contains_key(META_KEY) => return,
        Some(Ok(Value::Object(_))) => {
            format!("`meta` must not have the key `{META_KEY}`, under which the tool's own record is published")
        }
        Some(_) => "`meta` must be a JSON object".to_owned(),
    };
    diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidMeta, message, [tool]));
}

fn check_examples(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    for (idx, example) in tool.metadata().examples.iter().enumerate() {
        let wrong = match example.parse() {
            Err(error) => error.to_string(),
            Ok(example) => match tool.input().validate(&example) {
                Err(violations) => violations.to_string().replace('\n', "; "),
                Ok(()) => continue,
            },
        };
        let message = format!("example {} is invalid: {wrong}", idx + 1);
        diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidExample, message, [tool]));
    }
}
