//! Size limits of results.

use serde::Serialize;

use super::policy::Policy;
use crate::call::{Content, ErrorKind, ToolError};
use toolkit_schema::plan::{EncodeError, Limited, Plan};

impl Policy {
    /// Checks the size of a result.
    #[inline]
    pub(super) fn check_size(&self, n_bytes: usize) -> Result<(), ToolError> {
        if n_bytes > self.max_result_bytes { Err(self.result_too_large()) } else { Ok(()) }
    }

    /// Checks the size of content blocks, counting the parts of variable size.
    pub(super) fn check_content(&self, content: &[Content]) -> Result<(), ToolError> {
        self.check_size(content.iter().map(size).sum())
    }

    /// Serializes a value as JSON and stops at the limit.
    #[cold]
    pub(super) fn encode(&self, output: &impl Serialize) -> Result<Vec<u8>, ToolError> {
        let mut json = Vec::with_capacity(128);
        // `serde_json` reads a whole string before it writes any of it.
        match Plan::anything().encode_at_most(output, &mut json, self.max_result_bytes) {
            Ok(()) => return self.check_size(json.len()).map(|()| json),
            Err(EncodeError::TooLong) => return Err(self.result_too_large()),
            Err(EncodeError::Uncertain) => json.clear(),
        }
        let mut limited = Limited::new(&mut json, self.max_result_bytes);
        match serde_json::to_writer(&mut limited, output) {
            _ if limited.is_exceeded() => Err(self.result_too_large()),
            Ok(()) => Ok(json),
            Err(error) => Err(ToolError::internal(error)),
        }
    }

    #[cold]
    pub(super) fn result_too_large(&self) -> ToolError {
        let message = format!("the result exceeds the limit of {} bytes (`max_result_bytes`)", self.max_result_bytes);
        ToolError::new(ErrorKind::ResultTooLarge, message)
    }
}

fn size(content: &Content) -> usize {
    match content {
        Content::Text { text } => text.len(),
        Content::Image { data, .. } | Content::Audio { data, .. } => data.len(),
        Content::ResourceLink { uri, name, title, description, .. } => {
            let texts = [title, description].into_iter().flatten();
            uri.len() + name.len() + texts.map(String::len).sum::<usize>()
        }
        Content::Resource { resource } | Content::Other(resource) => {
            resource.values().filter_map(|value| value.as_str()).map(str::len).sum()
        }
    }
}
