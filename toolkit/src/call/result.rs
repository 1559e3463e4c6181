//! What a call gives back.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

use super::coerce::Change;
use super::content::Content;
use crate::tool::ToolBackend;
use toolkit_schema::tree::held;

/// What a successful call gives back.
#[derive(Clone)]
pub struct RunResult {
    /// The function's id; `None` where something else ran, which `beside` names.
    function: Option<&'static str>,
    structured: Option<Vec<u8>>,
    /// On the heap, since most results have nothing there and are moved a few times.
    beside: Option<Box<Beside>>,
}

/// What goes along with a structured result.
#[derive(Clone, Default)]
struct Beside {
    content: Vec<Content>,
    changes: Vec<Change>,
    ran_on: Option<RanOn>,
}

/// What ran where it was no function of this program.
#[derive(Clone)]
struct RanOn {
    tool: String,
    backend: ToolBackend,
    mcp: Option<Map<String, Value>>,
}

// The bytes are text, and a reader of a failed test wants to read them.
impl fmt::Debug for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunResult")
            .field("tool", &self.tool())
            .field("structured", &self.json().map(String::from_utf8_lossy))
            .field("content", &self.own_content())
            .field("changes", &self.changes())
            .finish()
    }
}

impl RunResult {
    /// The result of a tool that has returned nothing yet, and what was changed in its arguments.
    #[inline]
    pub(crate) fn of_function(tool: &'static str, changes: Vec<Change>) -> Self {
        let beside = if changes.is_empty() { None } else { Some(Box::new(Beside { changes, ..Beside::default() })) };
        Self { function: Some(tool), structured: None, beside }
    }

    /// The result of a tool that ran on a backend.
    pub(crate) fn of_backend(
        tool: String,
        backend: ToolBackend,
        mcp: Option<Map<String, Value>>,
        changes: Vec<Change>,
    ) -> Self {
        let ran_on = Some(RanOn { tool, backend, mcp });
        Self {
            function: None,
            structured: None,
            beside: Some(Box::new(Beside { changes, ran_on, ..Beside::default() })),
        }
    }

    #[inline]
    pub(crate) fn with_json(mut self, json: Vec<u8>) -> Self {
        self.structured = Some(json);
        self
    }

    pub(crate) fn with_content(mut self, content: Vec<Content>) -> Self {
        if !content.is_empty() {
            self.beside_mut().content = content;
        }
        self
    }

    #[cold]
    fn beside_mut(&mut self) -> &mut Beside {
        self.beside.get_or_insert_default()
    }

    /// The tool's own content.
    pub(crate) fn own_content(&self) -> &[Content] {
        self.beside.as_ref().map_or(&[], |beside| &beside.content)
    }

    /// The id of the tool that ran.
    #[must_use]
    pub fn tool(&self) -> &str {
        match self.ran_on() {
            Some(ran_on) => &ran_on.tool,
            None => self.function.unwrap_or_default(),
        }
    }

    /// What the tool ran on; for a function of this program that is `local`, with the function's id.
    #[must_use]
    pub fn backend(&self) -> ToolBackend {
        match self.ran_on() {
            Some(ran_on) => ran_on.backend.clone(),
            None => ToolBackend::named(self.tool().to_owned()),
        }
    }

    /// The result as an MCP server gave it (`CallToolResult`), where the tool ran on one.
    #[must_use]
    pub fn mcp_result(&self) -> Option<&Map<String, Value>> {
        self.ran_on()?.mcp.as_ref()
    }

    fn ran_on(&self) -> Option<&RanOn> {
        self.beside.as_ref()?.ran_on.as_ref()
    }

    /// The structured result as JSON text; `None` where the tool returns nothing or only content.
    ///
    /// A [`Value`] that the tool returns is written as `serde_json` writes it. If any crate of the program enables
    /// `serde_json/arbitrary_precision`, a number that was read as `1.50` is written as `1.50`, and else as `1.5`;
    /// [`RunResult::value`] is the same in both.
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
        parsed.and_then(Result::ok).map_or(Value::Null, held)
    }

    /// What a model reads: the tool's own content or, where it has none, its structured result as text.
    #[must_use]
    pub fn content(&self) -> Cow<'_, [Content]> {
        if !self.own_content().is_empty() {
            return Cow::Borrowed(self.own_content());
        }
        let Some(json) = &self.structured else {
            return Cow::Borrowed(&[]);
        };
        // A text is shown as it is; its quotes and escapes would only cost the model attention.
        let text = json.starts_with(b"\"").then(|| serde_json::from_slice::<String>(json).ok()).flatten();
        let text = text.unwrap_or_else(|| String::from_utf8_lossy(json).into_owned());
        Cow::Owned(vec![Content::Text { text }])
    }

    /// What was changed in the arguments to make them fit the input schema; usually nothing.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        self.beside.as_ref().map_or(&[], |beside| &beside.changes)
    }
}
