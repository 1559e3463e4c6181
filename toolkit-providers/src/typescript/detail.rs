//! Levels of detail.

/// The amount of documentation in a declaration.
///
/// ```
/// use serde_json::json;
/// use toolkit::{Catalog, Tool};
/// use toolkit_providers::typescript::{Detail, declarations};
///
/// let input = json!({ "type": "object", "properties": { "city": { "type": "string", "description": "Its name." } } });
/// let tool = Tool::builder("forecast").description("Forecasts the weather. Slow.").input(input).build()?;
/// let catalog = Catalog::new([tool])?;
/// let signature = "function forecast(args?: { city?: string }): Promise<unknown>";
/// assert!(declarations(&catalog, Detail::Signatures).text.contains(&format!("{signature}\n")));
/// assert!(declarations(&catalog, Detail::Compact).text.contains(&format!("{signature} // Forecasts the weather.\n")));
/// assert!(declarations(&catalog, Detail::Full).text.contains(" city?: string // Its name.\n"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// All documentation, with each property on its own line.
    #[default]
    Full,
    /// The signature of a tool and the first sentence of its description, on one line.
    Compact,
    /// The signature of a tool on one line.
    Signatures,
}
