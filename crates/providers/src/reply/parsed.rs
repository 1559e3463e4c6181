//! A reply as the reader of an API takes it apart.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;

use super::stop::StopReason;
use super::tool_call::{CallArguments, ToolCall, WrittenCall};
use toolkit::catalog::ExportedNames;

/// The parts of a reply that all APIs have.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parsed {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<ToolCall>,
    /// The results that the next request needs, in order.
    pub(crate) slots: Vec<ResultSlot>,
    pub(crate) provider_calls: Vec<ProviderCall>,
    /// True if the arguments of a call end early, wherever the call is: then no call runs.
    pub(crate) has_cut_call: bool,
    /// True if the stream ended before its last event.
    pub(crate) ended_early: bool,
    pub(crate) stop: StopReason,
    /// The messages that repeat the reply in the next request.
    pub(crate) messages: Vec<Value>,
    /// The other fields of the reply.
    pub(crate) metadata: Value,
    /// The reply's own id, from which the ids of calls without one are derived.
    seed: String,
    used_ids: HashSet<String>,
}

/// A place for a result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ResultSlot {
    /// The result of a call.
    Call(usize),
    /// The results of calls that the model wrapped in one.
    Batch(Box<ToolCall>, Range<usize>),
    /// The result of a call that only the host can make.
    Host(usize),
}

/// A call of a tool of the provider.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::ExportedNames;
/// use toolkit_providers::openai::RESPONSES;
///
/// let search = json!({ "type": "web_search_call", "id": "ws_1", "status": "completed" });
/// let click = json!({ "type": "computer_call", "call_id": "call_1", "action": { "type": "click" } });
/// let reply = RESPONSES.read(json!({ "output": [search, click] }), &ExportedNames::default())?;
/// let needs_result: Vec<bool> = reply.provider_calls().iter().map(|call| call.needs_result).collect();
/// assert_eq!(needs_result, [false, true]);
/// # Ok::<(), toolkit_providers::reply::InvalidReply>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderCall {
    /// The type of the call, such as `web_search_call` or `computer_call`.
    pub kind: String,
    /// The id that a result repeats.
    pub id: Option<String>,
    /// True if this program has to make the call, such as a click on its screen. The provider makes the others.
    pub needs_result: bool,
}

impl Parsed {
    /// Creates an empty reply with its id.
    pub(crate) fn new(id: &Value) -> Self {
        // A stream leaves out an empty id.
        let seed = if id == "" { Value::Null.to_string() } else { id.to_string() };
        Self {
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            slots: Vec::new(),
            provider_calls: Vec::new(),
            has_cut_call: false,
            ended_early: false,
            stop: StopReason::End,
            messages: Vec::new(),
            metadata: Value::Null,
            seed,
            used_ids: HashSet::new(),
        }
    }

    /// Adds a call and returns its id, which is new if the call has none or that of another call.
    pub(crate) fn push(&mut self, call: WrittenCall<'_>, names: &ExportedNames) -> &ToolCall {
        let call = self.resolve(call, names);
        self.slots.push(ResultSlot::Call(self.calls.len()));
        self.calls.push(call);
        &self.calls[self.calls.len() - 1]
    }

    /// Adds the calls inside `wrapper`, which has one result for all of them.
    pub(crate) fn push_batch(
        &mut self,
        wrapper: WrittenCall<'_>,
        calls: Vec<WrittenCall<'_>>,
        names: &ExportedNames,
    ) -> &ToolCall {
        let wrapper = self.resolve(wrapper, names);
        let start = self.calls.len();
        for call in calls {
            let call = self.resolve(call, names);
            self.calls.push(call);
        }
        let batch = ResultSlot::Batch(Box::new(wrapper), start..self.calls.len());
        self.slots.push(batch);
        match self.slots.last() {
            Some(ResultSlot::Batch(wrapper, _)) => wrapper,
            _ => &self.calls[start],
        }
    }

    /// Adds a call of a tool of the provider.
    pub(crate) fn push_provider_call(&mut self, kind: &str, id: Option<&str>, needs_result: bool) {
        if needs_result {
            self.slots.push(ResultSlot::Host(self.provider_calls.len()));
        }
        let id = id.map(str::to_owned);
        self.provider_calls.push(ProviderCall { kind: kind.to_owned(), id, needs_result });
    }

    /// Adds a call that only the host can make, with its arguments.
    pub(crate) fn push_host_call(&mut self, kind: &str, id: Option<&str>, arguments: &CallArguments) {
        self.has_cut_call |= arguments.is_cut();
        self.push_provider_call(kind, id, true);
    }

    /// Sets the reason why the model stopped. The calls decide, since some providers report the end of a reply
    /// that has calls, or calls of a reply that has none.
    pub(crate) fn stop(&mut self, stop: StopReason) {
        self.stop = match stop {
            StopReason::End | StopReason::ToolCalls if self.slots.is_empty() => StopReason::End,
            StopReason::End | StopReason::ToolCalls => StopReason::ToolCalls,
            stop => stop,
        };
    }

    /// Sets the reason to stop to that of a truncated reply, unless the provider stated another one after which no call
    /// runs.
    pub(crate) fn truncate(&mut self) {
        if self.stop.runs_calls() || self.stop == StopReason::Paused {
            self.stop = StopReason::Truncated;
        }
    }

    /// Sets the metadata to the body of a reply without the field that has its content.
    pub(crate) fn with_metadata(mut self, mut body: Value, content: &str) -> Self {
        if let Value::Object(fields) = &mut body {
            fields.shift_remove(content);
        }
        self.metadata = body;
        self
    }

    fn resolve(&mut self, call: WrittenCall<'_>, names: &ExportedNames) -> ToolCall {
        self.has_cut_call |= call.arguments.is_cut();
        // Mistral's client reads an absent id as this text.
        let id = call.id.filter(|id| !matches!(*id, "" | "null"));
        let is_own = id.is_some_and(|id| self.used_ids.insert(id.to_owned()));
        match id {
            Some(id) if is_own => call.resolve(id.to_owned(), true, names),
            _ => {
                let id = self.mint(call.name, &call.arguments);
                call.resolve(id, false, names)
            }
        }
    }

    /// Derives an id from the reply, the call and the number of calls before it: 9 letters and digits, as Mistral requires.
    /// The same reply always has the same ids.
    fn mint(&mut self, name: &str, arguments: &CallArguments) -> String {
        const LETTERS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let (CallArguments::Json(arguments) | CallArguments::Text(arguments)) = arguments;
        let mut n = self.used_ids.len();
        loop {
            let place = format!("{n} {} {}", self.text.len(), self.reasoning.len());
            let mut rest = stable_hash(&[&self.seed, name, arguments, &place]);
            let letter = |_| {
                let letter = LETTERS[usize::try_from(rest % 62).unwrap_or_default()];
                rest /= 62;
                char::from(letter)
            };
            let id: String = (0..9).map(letter).collect();
            if self.used_ids.insert(id.clone()) {
                return id;
            }
            n += 1;
        }
    }
}

/// Returns a hash (FNV-1a), which is the same in every release of Rust.
fn stable_hash(parts: &[&str]) -> u64 {
    // No text contains the byte between them.
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
