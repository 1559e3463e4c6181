//! The public fields of a tool.

use std::time::Duration;

use serde_json::Value;

use super::Tool;
use super::annotations::Annotations;
use super::entry::Location;
use super::execution::TaskSupport;
use super::icon::Icon;
use super::requirements::Requirements;
use super::text::Text;
use toolkit_schema::{Schema, Violations};

impl Tool {
    /// Returns the title for people, if the author provided one.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.metadata().title.as_deref()
    }

    /// Returns the name for people: the title, the title in the annotations, or the name, in the order of
    /// `BaseMetadata.title` of MCP.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Tool;
    ///
    /// let tool = Tool::builder("read_file");
    /// assert_eq!(tool.clone().build()?.display_name(), "read_file");
    /// assert_eq!(tool.title("Read a file").build()?.display_name(), "Read a file");
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn display_name(&self) -> &str {
        self.title().or(self.annotations().title.as_deref()).unwrap_or(self.name())
    }

    /// Returns the description, by which a model decides whether to call the tool.
    #[must_use]
    pub fn description(&self) -> &str {
        self.metadata().description.as_deref().unwrap_or_default()
    }

    /// Returns the description as a model reads it: with the deprecation notice, if any, as the last paragraph.
    ///
    /// ```
    /// use toolkit::Tool;
    ///
    /// let tool = Tool::builder("sum").description("Adds integers.").deprecated("use `add`").build()?;
    /// assert_eq!(tool.full_description(), "Adds integers.\n\nDeprecated: use `add`");
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn full_description(&self) -> String {
        let text = self.description();
        match self.deprecated() {
            Some(instead) => format!("{}\n\nDeprecated: {instead}", text.trim_end()),
            None => text.to_owned(),
        }
    }

    /// Returns the first paragraph of the description on one line.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Tool;
    ///
    /// let description = "Reads a text file,\nin any encoding.\n\nThe file is limited to 1 MiB.";
    /// let tool = Tool::builder("read").description(description).build()?;
    /// assert_eq!(tool.summary(), "Reads a text file, in any encoding.");
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn summary(&self) -> String {
        let paragraph = self.description().split("\n\n").next().unwrap_or_default();
        paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the category for listings.
    #[must_use]
    pub fn category(&self) -> Option<&str> {
        self.metadata().category.as_deref()
    }

    /// Returns the normalized tags in the author's order.
    #[must_use]
    pub fn tags(&self) -> &[Text] {
        &self.metadata().tags
    }

    /// Returns the hints about effects.
    #[must_use]
    pub fn annotations(&self) -> &Annotations {
        &self.metadata().annotations
    }

    /// Returns the aliases: earlier names and ids that still resolve to the tool.
    #[must_use]
    pub fn aliases(&self) -> &[Text] {
        &self.metadata().aliases
    }

    /// Returns the replacement of a deprecated tool.
    #[must_use]
    pub fn deprecated(&self) -> Option<&str> {
        self.metadata().deprecated.as_deref()
    }

    /// Returns the icons for clients.
    #[must_use]
    pub fn icons(&self) -> &[Icon] {
        &self.metadata().icons
    }

    /// Returns the `_meta` of the author. [`Catalog::check`](crate::Catalog::check) reports a value that is not an
    /// object.
    #[must_use]
    pub fn meta(&self) -> Option<Value> {
        self.metadata().meta.as_ref()?.parse().ok()
    }

    /// Returns the example arguments of the author.
    #[must_use]
    pub fn examples(&self) -> Vec<Value> {
        self.metadata().examples.iter().filter_map(|example| example.parse().ok()).collect()
    }

    /// Returns the credentials that the tool requires.
    #[must_use]
    pub fn requirements(&self) -> &Requirements {
        &self.metadata().requirements
    }

    /// Returns the timeout of a call, if the author set one.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        match self.entry {
            Some(entry) => entry.timeout,
            None => self.metadata().timeout,
        }
    }

    /// Returns the support for tasks: calls that a client starts, and whose result it collects later.
    #[must_use]
    pub fn task_support(&self) -> TaskSupport {
        self.metadata().execution.task_support.unwrap_or_default()
    }

    /// Returns the source location of a function of this program.
    #[must_use]
    pub fn location(&self) -> Option<Location> {
        self.entry().map(|entry| entry.location)
    }

    /// Returns the schema of the arguments.
    #[must_use]
    pub fn input(&self) -> &Schema {
        self.shared_input()
    }

    /// Returns the schema of the structured result, if the tool declares one.
    #[must_use]
    pub fn output(&self) -> Option<&Schema> {
        self.shared_output().map(|schema| &**schema)
    }

    /// Returns true if the tool is a function of this program that returns `()`. Other tools without an output schema
    /// may still return a result.
    #[must_use]
    pub fn returns_unit(&self) -> bool {
        self.entry.is_some_and(|entry| entry.returns_unit)
    }

    /// Validates arguments against the input schema.
    ///
    /// # Errors
    ///
    /// Returns the violations; see [`Schema::validate`].
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use serde_json::json;
    /// use toolkit::{catalog, tool};
    ///
    /// /// Repeats a text.
    /// #[tool]
    /// fn repeat(text: String, times: u8) -> String {
    ///     text.repeat(times.into())
    /// }
    ///
    /// let catalog = catalog![repeat]?;
    /// let violations = catalog.resolve("repeat")?.validate_input(&json!({ "times": 256 })).unwrap_err();
    /// assert_eq!(violations.to_string(), "/text is required\n/times must be at most 255, got 256");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn validate_input(&self, arguments: &Value) -> Result<(), Violations> {
        self.input().validate(arguments)
    }

    /// Validates a structured result against the output schema. Succeeds if there is none.
    ///
    /// # Errors
    ///
    /// Returns the violations; see [`Schema::validate`].
    pub fn validate_output(&self, result: &Value) -> Result<(), Violations> {
        self.output().map_or(Ok(()), |schema| schema.validate(result))
    }
}
