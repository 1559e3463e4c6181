//! Summaries of tools and of schemas, and tools as plain text.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;
use toolkit::tool::Tool;
use toolkit_schema::types::Types;
use toolkit_schema::view::View;

/// The summary of a tool: enough to select it, without its schemas.
///
/// ```
/// # use toolkit::Tool;
/// # use toolkit_search::Summary;
/// let tool = Tool::builder("add").namespace("math").description("Adds two integers.").tags(["Sums"]).build()?;
/// let summary = Summary::new(&tool);
/// assert_eq!((&*summary.id, &*summary.short_description), ("math:add", "Adds two integers."));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Summary {
    /// The id of the tool.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The namespace of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// A description of at most [`Summary::MAX_SHORT_DESCRIPTION`] characters on one line.
    #[serde(flatten, serialize_with = "under_both_names")]
    pub short_description: String,
    /// The category of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The media types of the input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// The media types of the output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
    /// A summary of the required authorization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_summary: Option<String>,
    /// The normalized tags of the tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl Summary {
    /// The maximum length of a short description in characters.
    pub const MAX_SHORT_DESCRIPTION: usize = 120;

    /// Summarizes a tool.
    ///
    /// The short description is `_meta.summary` if it exists, or else the first paragraph of the description. The
    /// category, media types and security are from the tool's record, or else from its `_meta` (`category`,
    /// `inputModes`, `outputModes`, `securityRequirements`, `securitySchemes`).
    #[must_use]
    pub fn new(tool: &Tool) -> Self {
        let meta = tool.meta();
        let meta = meta.as_ref();
        Self {
            id: tool.id().to_string(),
            name: tool.name().to_owned(),
            namespace: tool.id().namespace().map(str::to_owned),
            short_description: cut(&line_of(tool, meta, Self::MAX_SHORT_DESCRIPTION), Self::MAX_SHORT_DESCRIPTION),
            category: tool.category().or_else(|| text(meta?.get("category")?)).map(str::to_owned),
            input_modes: modes(meta, "inputModes"),
            output_modes: modes(meta, "outputModes"),
            security_summary: security(tool, meta),
            tags: tool.tags().iter().map(|tag| tag.clone().into_owned()).collect(),
        }
    }
}

/// Writes the fields `shortDescription` and `summary`, which are the same.
fn under_both_names<S: Serializer>(text: &String, serializer: S) -> Result<S::Ok, S::Error> {
    let names = ["shortDescription", "summary"].into_iter().filter(|_| !text.is_empty());
    serializer.collect_map(names.map(|name| (name, text)))
}

/// Returns the summary of a tool on one line: `_meta.summary` or else the first paragraph of the description.
pub(super) fn summary_text(tool: &Tool, meta: Option<&Value>) -> String {
    line_of(tool, meta, usize::MAX)
}

/// Returns the summary up to the word that exceeds a number of characters.
fn line_of(tool: &Tool, meta: Option<&Value>, max_chars: usize) -> String {
    let attached = meta.and_then(|meta| text(meta.get("summary")?));
    let attached = attached.map(|summary| on_one_line(summary, max_chars)).filter(|summary| !summary.is_empty());
    attached.unwrap_or_else(|| on_one_line(tool.description().split("\n\n").next().unwrap_or_default(), max_chars))
}

fn on_one_line(text: &str, max_chars: usize) -> String {
    let mut line = String::with_capacity(text.len().min(max_chars.saturating_mul(2)));
    let mut n_chars = 0;
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
            n_chars += 1;
        }
        line.push_str(word);
        n_chars += word.chars().count();
        if n_chars > max_chars {
            break;
        }
    }
    line
}

/// Truncates text to a number of characters, with an ellipsis as the last one.
pub(super) fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some(_) => {
            let kept = text.chars().take(max_chars.saturating_sub(1));
            kept.chain(['…']).collect()
        }
    }
}

fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

fn modes(meta: Option<&Value>, key: &str) -> Vec<String> {
    let modes = meta.and_then(|meta| meta.get(key)?.as_array());
    modes.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the names of the required credentials in ascending order, separated by commas.
fn security(tool: &Tool, meta: Option<&Value>) -> Option<String> {
    let requirements = tool.requirements();
    let mut names: Vec<&str> = requirements.authorization.iter().map(|authorization| &*authorization.id).collect();
    names.extend(requirements.secrets.iter().map(|secret| &*secret.id));
    if names.is_empty() {
        let required = meta.and_then(|meta| meta.get("securityRequirements")?.as_array());
        names.extend(
            required.into_iter().flatten().filter_map(Value::as_object).flat_map(|one| one.keys()).map(|k| &**k),
        );
    }
    if names.is_empty() {
        let schemes = meta.and_then(|meta| meta.get("securitySchemes")?.as_object());
        names.extend(schemes.into_iter().flat_map(|schemes| schemes.keys()).map(|key| &**key));
    }
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| names.join(","))
}

/// A tool as plain text, for search engines without fields.
///
/// The text depends on nothing but the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchDoc {
    /// The id of the tool.
    pub id: String,
    /// The name, namespace, description, summary if it differs, category, security, media types and tags, in lowercase
    /// and separated by single spaces.
    pub text: String,
    /// The summary of the tool.
    pub summary: Summary,
}

impl SearchDoc {
    /// Converts a tool to text.
    ///
    /// ```
    /// # use toolkit::Tool;
    /// # use toolkit_search::SearchDoc;
    /// let tool = Tool::builder("Add").namespace("math").description("Adds  two integers.").tags(["sums"]).build()?;
    /// assert_eq!(SearchDoc::new(&tool).text, "add math adds two integers. sums");
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn new(tool: &Tool) -> Self {
        let summary = Summary::new(tool);
        let meta = tool.meta();
        let attached = Some(summary_text(tool, meta.as_ref())).filter(|summary| *summary != tool.summary());
        let mut parts = vec![&*summary.name, summary.namespace.as_deref().unwrap_or_default(), tool.description()];
        parts.extend(attached.as_deref());
        parts.extend(summary.category.as_deref());
        parts.extend(summary.security_summary.as_deref());
        parts.extend(summary.input_modes.iter().chain(&summary.output_modes).chain(&summary.tags).map(String::as_str));
        let words: Vec<&str> = parts.into_iter().flat_map(str::split_whitespace).collect();
        let text = words.join(" ").to_lowercase();
        Self { id: summary.id.clone(), text, summary }
    }
}

/// A summary of an input schema: required arguments, defaults and types.
///
/// Arguments are named by their path: `options.depth` is a property of the object `options`, and `names[].first` one of
/// the objects in the list `names`. References are followed; recursive schemas are expanded to
/// [`SchemaInfo::MAX_DEPTH`] levels.
///
/// ```
/// # use serde_json::json;
/// # use toolkit_search::SchemaInfo;
/// let info = SchemaInfo::from_schema(&json!({
///     "properties": { "to": { "$ref": "#/$defs/Person" } },
///     "required": ["to"],
///     "$defs": { "Person": { "type": "object", "properties": { "age": { "type": "integer", "default": 1 } } } },
/// }));
/// let info = info.unwrap();
/// assert_eq!(info.required, ["to"]);
/// assert_eq!(info.types["to.age"], ["integer"]);
/// assert_eq!(info.defaults["to.age"], 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SchemaInfo {
    /// The required arguments. Nested ones are only required if their parent is present.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// The defaults of optional arguments.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, Value>,
    /// The types of each argument.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, Vec<String>>,
}

/// The maximum number of arguments, since nested references can grow exponentially.
const MAX_ARGUMENTS: usize = 512;

impl SchemaInfo {
    /// The maximum depth of objects and lists.
    pub const MAX_DEPTH: usize = 5;

    /// Summarizes a schema; `None` if the summary would be empty.
    #[must_use]
    pub fn from_schema(schema: &Value) -> Option<Self> {
        let mut info = Self::default();
        info.add_fields(&View::new(schema), "", 0, &mut 0);
        Some(info).filter(|info| *info != Self::default())
    }

    fn add_fields(&mut self, view: &View<'_>, path: &str, depth: usize, n_arguments: &mut usize) {
        if depth > Self::MAX_DEPTH {
            return;
        }
        for field in view.fields() {
            *n_arguments += 1;
            if *n_arguments > MAX_ARGUMENTS {
                return;
            }
            let path = if path.is_empty() { field.name.to_owned() } else { format!("{path}.{}", field.name) };
            if field.is_required {
                self.required.push(path.clone());
            }
            self.defaults.extend(field.view.default().map(|default| (path.clone(), default.clone())));
            let types = Some(field.view.types()).filter(|types| *types != Types::ALL);
            let names = types.map(|types| types.names().into_iter().map(str::to_owned).collect());
            self.types.extend(names.map(|names| (path.clone(), names)));
            self.add_fields(&field.view, &path, depth + 1, n_arguments);
            if let Some(items) = field.view.part("items") {
                self.add_fields(&items, &format!("{path}[]"), depth + 1, n_arguments);
            }
        }
    }
}
