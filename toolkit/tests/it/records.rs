//! The record of a tool: built by hand, written as JSON and parsed, one by one and in lists.

mod backends;
mod built;
mod contract;
mod json;
mod manifests;
mod mixed;
mod texts;

use serde_json::{Value, json};
use test_support::ran;
use toolkit::tool::{Annotations, Icon, Literal, META_KEY, Metadata, Namespace, Requirements, Tool};
