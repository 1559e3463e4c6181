//! The results of a reply's calls, their limits, and a reply together with its results.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

#[cfg(feature = "rmcp")]
use rmcp::model::CallToolResult;
use serde_json::Value;

use super::Reply;
use super::answer::{CallResult, ResultItem, ResultPart};
use super::parsed::ResultSlot;
use super::tool_call::ToolCall;
use super::truncate::{share, truncate_json, truncate_text};
use toolkit::mcp::{Revision, write_error, write_result};
use toolkit::{Dispatcher, RunResult, ToolError};

/// The results of the calls of a reply: exactly one for each call, in the order of the calls.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::ExportedNames;
/// use toolkit::{Catalog, Context, Dispatcher};
/// use toolkit_providers::anthropic::MESSAGES;
///
/// let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "erase", "input": {} });
/// let message = json!({ "content": [call], "stop_reason": "tool_use" });
/// let reply = MESSAGES.read(message, &ExportedNames::default())?;
/// let results = reply.run_sync(&Dispatcher::new(Catalog::new([])?)?, &Context::new());
/// for (call, result) in results.iter() {
///     assert_eq!((&*call.id, result.is_err()), ("toolu_1", true));
/// }
/// assert_eq!(results.messages()?[0]["content"][0]["content"], "no tool is named `erase`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ToolResults {
    reply: Reply,
    /// What ran the calls, with the catalog of their tools.
    dispatcher: Dispatcher,
    outcomes: Vec<Result<RunResult, ToolError>>,
    /// The results that the host wrote, by their place in the reply.
    by_host: BTreeMap<usize, Value>,
}

/// The error of results that lack one which only the host can write.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::ExportedNames;
/// use toolkit::{Catalog, Context, Dispatcher};
/// use toolkit_providers::openai::RESPONSES;
///
/// let call = json!({ "type": "computer_call", "call_id": "call_1", "action": { "type": "screenshot" } });
/// let reply = RESPONSES.read(json!({ "output": [call] }), &ExportedNames::default())?;
/// let mut results = reply.run_sync(&Dispatcher::new(Catalog::new([])?)?, &Context::new());
/// assert!(results.messages().is_err());
///
/// let screenshot = json!({ "type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw==" });
/// let result = json!({ "type": "computer_call_output", "call_id": "call_1", "output": screenshot });
/// assert!(results.set_host_result("call_1", result.clone()));
/// assert_eq!(results.messages()?, [result]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    kind: String,
    id: Option<String>,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id.as_deref().unwrap_or("without an id");
        write!(f, "the call `{}` ({id}) has no result; pass one to `ToolResults::set_host_result`", self.kind)
    }
}

impl std::error::Error for Unanswered {}

impl ToolResults {
    pub(super) fn new(reply: Reply, dispatcher: Dispatcher, outcomes: Vec<Result<RunResult, ToolError>>) -> Self {
        debug_assert_eq!(reply.calls().len(), outcomes.len(), "each call has one result");
        Self { reply, dispatcher, outcomes, by_host: BTreeMap::new() }
    }

    /// Returns each call with its result, in the order of the reply.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ToolCall, &Result<RunResult, ToolError>)> {
        self.reply.calls().iter().zip(&self.outcomes)
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Returns true if the reply has no calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// Sets the result of a call that only the host can make, such as a click on its screen, in the form that the
    /// provider defines for it. `id` is that of a [`ProviderCall`](super::ProviderCall), or of a call of a tool that the
    /// host declared beside the export.
    ///
    /// Returns false if the reply has no such call.
    pub fn set_host_result(&mut self, id: &str, json: Value) -> bool {
        let place = self.reply.slots().iter().position(|slot| self.id_of(slot) == Some(id));
        place.map(|place| self.by_host.insert(place, json)).is_some()
    }

    fn id_of<'s>(&'s self, slot: &'s ResultSlot) -> Option<&'s str> {
        match slot {
            ResultSlot::Call(idx) => Some(&self.reply.calls()[*idx].id),
            ResultSlot::Batch(wrapper, _) => Some(&wrapper.id),
            ResultSlot::Host(idx) => self.reply.provider_calls()[*idx].id.as_deref(),
        }
    }

    /// Returns the messages with all results for the next request, within the default [`ResultLimits`]. Append them
    /// directly after those of the [reply](super::Reply::messages).
    ///
    /// # Errors
    ///
    /// Returns an error if a call that only the host can make has no result.
    pub fn messages(&self) -> Result<Vec<Value>, Unanswered> {
        self.messages_within(&ResultLimits::default())
    }

    /// Returns the messages with all results within the given limits.
    ///
    /// # Errors
    ///
    /// Returns the error of [`ToolResults::messages`].
    pub fn messages_within(&self, limits: &ResultLimits) -> Result<Vec<Value>, Unanswered> {
        let mut parts: Vec<(Vec<ResultPart>, bool)> = self.outcomes.iter().map(ResultPart::of).collect();
        bound(&mut parts, limits);
        let mut items = Vec::with_capacity(self.reply.slots().len());
        for (place, slot) in self.reply.slots().iter().enumerate() {
            if let Some(written) = self.by_host.get(&place) {
                items.push(ResultItem::Written(written));
                continue;
            }
            items.push(match slot {
                ResultSlot::Call(idx) => {
                    let (parts, is_error) = std::mem::take(&mut parts[*idx]);
                    ResultItem::CallResult(CallResult { call: &self.reply.calls()[*idx], parts, is_error })
                }
                ResultSlot::Batch(wrapper, range) => {
                    let parts = vec![self.batch(range, &parts)];
                    ResultItem::CallResult(CallResult { call: wrapper, parts, is_error: false })
                }
                ResultSlot::Host(idx) => {
                    let call = &self.reply.provider_calls()[*idx];
                    return Err(Unanswered { kind: call.kind.clone(), id: call.id.clone() });
                }
            });
        }
        if items.is_empty() { Ok(Vec::new()) } else { Ok(self.reply.format().write(&items)) }
    }

    /// Returns the results of several calls as a JSON array.
    fn batch(&self, range: &Range<usize>, parts: &[(Vec<ResultPart>, bool)]) -> ResultPart {
        let result = |idx: usize| {
            let (parts, is_error) = &parts[idx];
            CallResult { call: &self.reply.calls()[idx], parts: parts.clone(), is_error: *is_error }.to_text()
        };
        let results: Vec<Value> = range.clone().map(|idx| Value::from(result(idx))).collect();
        ResultPart::Json(Value::Array(results).to_string())
    }

    /// Returns the results in the format of MCP (`CallToolResult`), in the order of the calls.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use toolkit::catalog::ExportedNames;
    /// use toolkit::mcp::Revision;
    /// use toolkit::{Catalog, Context, Dispatcher};
    /// use toolkit_providers::anthropic::MESSAGES;
    ///
    /// let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "erase", "input": {} });
    /// let message = json!({ "content": [call], "stop_reason": "tool_use" });
    /// let reply = MESSAGES.read(message, &ExportedNames::default())?;
    /// let results = reply.run_sync(&Dispatcher::new(Catalog::new([])?)?, &Context::new());
    /// let result: Value = serde_json::from_slice(&results.to_mcp(Revision::V2025_11_25)[0])?;
    /// assert_eq!(result["isError"], true);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_mcp(&self, revision: Revision) -> Vec<Vec<u8>> {
        let catalog = self.dispatcher.catalog();
        let written = self.iter().map(|(call, outcome)| match outcome {
            Ok(result) => match call.tool.as_ref().and_then(|id| catalog.with_id(id)) {
                Some(tool) => write_result(tool, result, revision),
                None => write_error(&ToolError::failed("the tool is not in the catalog"), revision),
            },
            Err(error) => write_error(error, revision),
        });
        written.collect()
    }
}

/// Truncates texts, and replaces media by notes, so that the limits hold.
fn bound(results: &mut [(Vec<ResultPart>, bool)], limits: &ResultLimits) {
    let mut n_media = 0;
    for part in results.iter_mut().flat_map(|(parts, _)| parts) {
        let Some((_, _, data)) = part.media() else { continue };
        n_media += 1;
        let is_base64 = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        let is_whole = !data.is_empty() && data.len().is_multiple_of(4) && is_base64;
        if n_media > limits.media_count || data.len() / 4 * 3 > limits.media_bytes || !is_whole {
            *part = ResultPart::Text(part.to_text());
        }
    }
    let length = |(parts, _): &(Vec<ResultPart>, bool)| -> usize { parts.iter().map(text_bytes).sum() };
    let lengths: Vec<usize> = results.iter().map(|result| length(result).min(limits.result_bytes)).collect();
    let max_bytes = limits.result_bytes.min(share(lengths, limits.total_bytes));
    for (parts, _) in results {
        let part_bytes = share(parts.iter().map(text_bytes).collect(), max_bytes);
        for part in parts.iter_mut().filter(|part| text_bytes(part) > part_bytes) {
            // Truncated JSON no longer matches the schema of the result, so it is sent as text.
            let text = match &*part {
                ResultPart::Json(json) => truncate_json(json, part_bytes),
                other => truncate_text(&other.to_text(), part_bytes),
            };
            *part = ResultPart::Text(text);
        }
    }
}

fn text_bytes(part: &ResultPart) -> usize {
    match part {
        ResultPart::Text(text) | ResultPart::Json(text) => text.len(),
        _ => 0,
    }
}

/// Limits of the results of one reply.
///
/// A result that exceeds a limit is truncated, and its text states what is missing. The [`RunResult`] stays complete.
///
/// [`RunResult`]: toolkit::RunResult
///
/// ```
/// use toolkit_providers::reply::ResultLimits;
///
/// let mut limits = ResultLimits::default();
/// assert_eq!((limits.result_bytes, limits.total_bytes), (64 << 10, 256 << 10));
/// limits.result_bytes = 4096;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultLimits {
    /// The maximum length of the text of one result in bytes. The default is 64 KiB, about 16,000 tokens.
    pub result_bytes: usize,
    /// The maximum length of the texts of all results in bytes, which is shared fairly. The default is 256 KiB.
    pub total_bytes: usize,
    /// The maximum size of an image, a sound or a file in bytes. A larger one becomes a note. The default is 5 MB.
    pub media_bytes: usize,
    /// The maximum number of images, sounds and files of all results. The default is 20.
    pub media_count: usize,
}

impl Default for ResultLimits {
    fn default() -> Self {
        Self { result_bytes: 64 << 10, total_bytes: 256 << 10, media_bytes: 5_000_000, media_count: 20 }
    }
}

#[cfg(feature = "rmcp")]
/// Converts the results, in the order of the calls.
impl TryFrom<&ToolResults> for Vec<CallToolResult> {
    type Error = serde_json::Error;

    fn try_from(results: &ToolResults) -> Result<Self, Self::Error> {
        results.to_mcp(Revision::V2025_11_25).iter().map(|json| serde_json::from_slice(json)).collect()
    }
}

/// A reply together with the results of its calls.
///
/// ```
/// use serde_json::{Value, json};
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit::catalog::Naming;
/// use toolkit_providers::openai::{Options, RESPONSES, tools};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(Catalog::new([])?)?;
/// let export = tools(dispatcher.catalog(), Naming::default(), Options::responses())?;
/// let mut input: Vec<Value> = vec![json!({ "role": "user", "content": "Hello?" })];
///
/// let text = json!({ "type": "output_text", "text": "Hello!" });
/// let body = json!({ "output": [{ "type": "message", "role": "assistant", "content": [text] }] });
/// let turn = RESPONSES.respond(&dispatcher, &export, &body).await?;
/// input.extend(turn.messages()?);
/// assert!(turn.is_final());
/// assert_eq!((turn.reply.text(), input.len()), ("Hello!", 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Turn {
    /// The reply.
    pub reply: Reply,
    /// The results of its calls.
    pub results: ToolResults,
}

impl Turn {
    /// Returns the messages to append to the next request: the reply, and the results of its calls.
    ///
    /// # Errors
    ///
    /// Returns an error if a call that only the host can make has no result.
    pub fn messages(&self) -> Result<Vec<Value>, Unanswered> {
        let mut messages = self.reply.messages().to_vec();
        messages.extend(self.results.messages()?);
        Ok(messages)
    }

    /// Returns true if the model waits for no results: its text is the answer, unless its
    /// [stop reason](Reply::stop_reason) gives another reason.
    #[must_use]
    pub fn is_final(&self) -> bool {
        !self.reply.needs_results()
    }
}
