//! What a tool says of itself, its identity and its schemas aside.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Annotations, Icon, Literal, Requirements, Text, Unknown, limit};

/// What a tool says of itself, its identity and its schemas aside.
///
/// Its JSON is part of the canonical form of a tool, [`Tool::to_json`](super::Tool::to_json).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Metadata {
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// What a model reads to decide whether to call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// A broad grouping for listings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Text>,
    /// Normalised tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Text>,
    /// Hints about effects.
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// Former names and ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Text>,
    /// What to use instead, where the tool is on its way out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Text>,
    /// Pictures for clients.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// `_meta`: what others attach, a JSON object.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub meta: Option<Literal>,
    /// Argument objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Literal>,
    /// What the host must hold.
    #[serde(default, skip_serializing_if = "Requirements::is_empty")]
    pub requirements: Requirements,
    /// How long one call may take, in milliseconds.
    #[serde(rename = "timeoutMs", default, with = "limit", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u64>")]
    pub timeout: Option<Duration>,
    /// What else was read of the tool.
    #[serde(skip)]
    pub unknown: Unknown,
}

impl Metadata {
    /// Nothing said.
    pub const NONE: Self = Self {
        title: None,
        description: None,
        category: None,
        tags: Vec::new(),
        annotations: Annotations::NONE,
        aliases: Vec::new(),
        deprecated: None,
        icons: Vec::new(),
        meta: None,
        examples: Vec::new(),
        requirements: Requirements::NONE,
        timeout: None,
        unknown: Unknown::NONE,
    };
}
