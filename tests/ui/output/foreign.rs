use std::sync::Arc;

use toolkit::{Content, tool};

/// Draws.
#[tool]
fn perhaps() -> Option<Content> { None }

/// Draws.
#[tool]
fn both() -> (String, Content) { (String::new(), Content::text("")) }

/// Reads.
#[tool]
fn shared() -> Arc<Vec<u8>> { Arc::default() }

/// Starts.
#[tool]
fn started(at: std::time::Instant) -> std::time::Instant { at }

impl toolkit::ShowError for std::fmt::Error {}

fn main() {}
