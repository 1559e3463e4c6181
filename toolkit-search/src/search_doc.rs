//! Tools as plain text.

use super::summary::{Summary, summary_text};
use toolkit::tool::Tool;

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
