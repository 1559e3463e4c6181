//! How large a result may be.

use std::io;

use serde::Serialize;

use super::Policy;
use crate::call::{Content, ErrorKind, ToolError};

impl Policy {
    /// Checks the size of a result.
    #[inline]
    pub(super) fn check_size(&self, n_bytes: usize) -> Result<(), ToolError> {
        if n_bytes > self.max_result_bytes { Err(self.result_too_large()) } else { Ok(()) }
    }

    /// Checks the size of blocks of content, as far as it is theirs.
    pub(super) fn check_content(&self, content: &[Content]) -> Result<(), ToolError> {
        self.check_size(content.iter().map(size).sum())
    }

    /// Writes a value as JSON, and stops at the limit.
    #[cold]
    pub(super) fn encode(&self, output: &impl Serialize) -> Result<Vec<u8>, ToolError> {
        let mut json = Limited { json: Vec::with_capacity(128), max_bytes: self.max_result_bytes, is_exceeded: false };
        match serde_json::to_writer(&mut json, output) {
            Ok(()) => Ok(json.json),
            Err(_) if json.is_exceeded => Err(self.result_too_large()),
            Err(error) => Err(ToolError::internal(error)),
        }
    }

    #[cold]
    fn result_too_large(&self) -> ToolError {
        let message = format!("the result exceeds the limit of {} bytes (`max_result_bytes`)", self.max_result_bytes);
        ToolError::new(ErrorKind::ResultTooLarge, message)
    }
}

fn size(content: &Content) -> usize {
    match content {
        Content::Text { text } => text.len(),
        Content::Image { data, .. } | Content::Audio { data, .. } => data.len(),
        Content::ResourceLink { uri, name, .. } => uri.len() + name.len(),
        Content::Resource { resource } | Content::Other(resource) => {
            resource.values().filter_map(|value| value.as_str()).map(str::len).sum()
        }
    }
}

/// JSON that may become so long and no longer.
struct Limited {
    json: Vec<u8>,
    max_bytes: usize,
    is_exceeded: bool,
}

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.max_bytes.saturating_sub(self.json.len()) {
            self.is_exceeded = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.json.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
