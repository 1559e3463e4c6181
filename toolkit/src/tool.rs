//! The canonical record of a tool.

mod annotations;
mod id;
mod name;
mod requirements;
mod tags;

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

pub use self::annotations::{Annotations, Icon};
pub use self::id::{InvalidToolId, ToolId};
pub use self::name::{MAX_NAME_LEN, check_name};
pub use self::requirements::{Authorization, OAuth2, Requirements, Secret};
pub use self::tags::{MAX_TAG_LEN, MAX_TAGS, normalize_tag, normalize_tags};
use crate::catalog::{Entry, Location};
use crate::schema::Schema;

/// The key of `_meta` under which a tool's own record is published, by every adapter that has room for one.
///
/// MCP asks for reverse DNS before the slash (`_meta` in the General fields of both revisions).
pub const META_KEY: &str = "rs.toolkit/tool";

/// A tool: what it is called, what it takes, what it gives, and what it says of itself.
///
/// Its schemas are built when they are first asked for, once.
#[derive(Debug)]
pub struct Tool {
    id: ToolId,
    entry: &'static Entry,
    input: OnceLock<Schema>,
    output: OnceLock<Option<Schema>>,
    sample: OnceLock<Option<String>>,
}

impl Tool {
    pub(crate) const fn linked(entry: &'static Entry) -> Self {
        Self {
            id: ToolId::from_static(entry.namespace, entry.name, entry.version),
            entry,
            input: OnceLock::new(),
            output: OnceLock::new(),
            sample: OnceLock::new(),
        }
    }

    /// Its identity.
    #[must_use]
    pub fn id(&self) -> &ToolId {
        &self.id
    }

    /// Its name within its namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        self.entry.name
    }

    /// A name for people, where the author gave one.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.entry.title
    }

    /// What a model reads to decide whether to call it.
    #[must_use]
    pub fn description(&self) -> &str {
        self.entry.description
    }

    /// The first paragraph of the description, on one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let paragraph = self.description().split("\n\n").next().unwrap_or_default();
        paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A broad grouping for listings.
    #[must_use]
    pub fn category(&self) -> Option<&str> {
        self.entry.category
    }

    /// Normalised tags, in the author's order.
    #[must_use]
    pub fn tags(&self) -> &[&'static str] {
        self.entry.tags
    }

    /// Hints about effects.
    #[must_use]
    pub fn annotations(&self) -> Annotations {
        self.entry.annotations
    }

    /// Former names and ids under which it still answers.
    #[must_use]
    pub fn aliases(&self) -> &[&'static str] {
        self.entry.aliases
    }

    /// What to use instead, where the tool is on its way out.
    #[must_use]
    pub fn deprecated(&self) -> Option<&str> {
        self.entry.deprecated
    }

    /// Pictures for clients.
    #[must_use]
    pub fn icons(&self) -> &[Icon] {
        self.entry.icons
    }

    /// The author's `_meta`; anything but an object is a problem that [`Catalog::check`](crate::Catalog::check) reports.
    #[must_use]
    pub fn meta(&self) -> Option<Value> {
        self.entry.meta.and_then(|text| serde_json::from_str(text).ok())
    }

    /// Arguments that the author gives as examples.
    #[must_use]
    pub fn examples(&self) -> Vec<Value> {
        let parsed = self.entry.examples.iter();
        parsed.filter_map(|text| serde_json::from_str(text).ok()).collect()
    }

    /// What the host must hold.
    #[must_use]
    pub fn requirements(&self) -> Requirements {
        self.entry.requirements
    }

    /// How long one call may take, where the author set a limit.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.entry.timeout
    }

    /// Where it was written.
    #[must_use]
    pub fn location(&self) -> Location {
        self.entry.location
    }

    /// The contract for its arguments.
    #[must_use]
    pub fn input(&self) -> &Schema {
        self.input.get_or_init(|| Schema::generated((self.entry.input)()))
    }

    /// The contract for its structured result, where it promises one.
    #[must_use]
    pub fn output(&self) -> Option<&Schema> {
        let built = self.output.get_or_init(|| (self.entry.output)().map(Schema::generated));
        built.as_ref()
    }

    /// Arguments that fit, as JSON, for a caller that sent some that do not: the author's example or one made up.
    pub(crate) fn sample(&self) -> Option<&str> {
        let sample = self.sample.get_or_init(|| {
            let given = self.examples().into_iter().find(|example| self.input().is_valid(example));
            given.or_else(|| self.input().example()).map(|sample| sample.to_string())
        });
        sample.as_deref()
    }

    pub(crate) fn entry(&self) -> &'static Entry {
        self.entry
    }
}
