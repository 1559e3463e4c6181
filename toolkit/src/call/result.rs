//! What a call gives back.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::coerce::Change;
use super::content::Content;

/// What a successful call gives back.
#[derive(Clone)]
pub struct RunResult {
    pub(crate) tool: &'static str,
    pub(crate) structured: Option<Vec<u8>>,
    pub(crate) content: Vec<Content>,
    pub(crate) changes: Vec<Change>,
}

// The bytes are text, and a reader of a failed test wants to read them.
impl fmt::Debug for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunResult")
            .field("tool", &self.tool)
            .field("structured", &self.json().map(String::from_utf8_lossy))
            .field("content", &self.content)
            .field("changes", &self.changes)
            .finish()
    }
}

impl RunResult {
    /// The tool's own content.
    pub(crate) fn own_content(&self) -> &[Content] {
        &self.content
    }

    /// The id of the tool that ran.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// The structured result as JSON text; `None` where the tool returns nothing or only content.
    #[must_use]
    pub fn json(&self) -> Option<&[u8]> {
        self.structured.as_deref()
    }

    /// The structured result as JSON text, or `null` where there is none.
    #[must_use]
    pub fn into_json(self) -> Vec<u8> {
        self.structured.unwrap_or_else(|| b"null".to_vec())
    }

    /// The structured result as a tree, or `null` where there is none.
    #[must_use]
    pub fn value(&self) -> Value {
        let parsed = self.json().map(serde_json::from_slice);
        parsed.and_then(Result::ok).unwrap_or(Value::Null)
    }

    /// What a model reads: the tool's own content or, where it has none, its structured result as text.
    #[must_use]
    pub fn content(&self) -> Cow<'_, [Content]> {
        if !self.content.is_empty() {
            return Cow::Borrowed(&self.content);
        }
        let Some(json) = &self.structured else {
            return Cow::Borrowed(&[]);
        };
        // A text is shown as it is; its quotes and escapes would only cost the model attention.
        let text =
            serde_json::from_slice::<String>(json).unwrap_or_else(|_| String::from_utf8_lossy(json).into_owned());
        Cow::Owned(vec![Content::Text { text }])
    }

    /// What was changed in the arguments to make them fit the input schema; usually nothing.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}
