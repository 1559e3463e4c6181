//! A response from the chunks of its stream, each of which has the form of a whole response: also the arguments of
//! a call that arrive in pieces.

use serde_json::{Map, Value};

use super::content::{
    BLOCK_REASON, BOOL_VALUE, FINISH_REASON, FUNCTION_CALL, JSON_PATH, NAME, NULL_VALUE, NUMBER_VALUE, PARTIAL_ARGS,
    PROMPT_FEEDBACK, STRING_VALUE, THOUGHT_SIGNATURE, WILL_CONTINUE, get, get_mut, position, stop_of, take, text,
};
use crate::reply::{Accumulate, Assembled, InvalidReply, ReplyEvent, stated};

/// The maximum number of items of arrays that a model skips in the arguments of all calls.
const MAX_GAPS: usize = 10_000;

/// A response of which some chunks have arrived.
#[derive(Debug)]
pub(super) struct Response {
    /// The response without its candidate.
    body: Map<String, Value>,
    /// The candidate without its content.
    candidate: Option<Map<String, Value>>,
    /// The content without its parts.
    content: Map<String, Value>,
    parts: Vec<Value>,
    /// The reason to stop.
    reason: Option<Value>,
    /// The arguments of the call in the last part, if more of them are expected.
    open: Option<PartialArgs>,
    n_calls: usize,
    gaps_left: usize,
    is_complete: bool,
}

impl Default for Response {
    fn default() -> Self {
        Self {
            body: Map::new(),
            candidate: None,
            content: Map::new(),
            parts: Vec::new(),
            reason: None,
            open: None,
            n_calls: 0,
            gaps_left: MAX_GAPS,
            is_complete: false,
        }
    }
}

impl Accumulate for Response {
    fn push(&mut self, mut chunk: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        if chunk.get("error").is_some() && self.candidate.is_none() {
            return Err(InvalidReply::unexpected(NAME, "`candidates`", &chunk));
        }
        self.is_complete |= get(&chunk, PROMPT_FEEDBACK).is_some_and(|feedback| text(feedback, BLOCK_REASON).is_some());
        let candidates = chunk.as_object_mut().and_then(|chunk| chunk.remove("candidates"));
        if let Some(Value::Array(mut candidates)) = candidates
            && let Some(position) = position(&candidates)
        {
            self.push_candidate(candidates.swap_remove(position), events)?;
        }
        merge(&mut self.body, chunk);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Assembled, InvalidReply> {
        self.close(&mut Vec::new());
        let mut body = self.body;
        if let Some(mut candidate) = self.candidate {
            candidate.extend(self.reason.map(|reason| (FINISH_REASON[0].to_owned(), reason)));
            self.content.insert("parts".to_owned(), self.parts.into());
            candidate.insert("content".to_owned(), self.content.into());
            body.insert("candidates".to_owned(), Value::Array(vec![candidate.into()]));
        }
        if body.is_empty() {
            return Err(InvalidReply::new(NAME, "the stream has no `candidates`"));
        }
        Ok(Assembled::new(body.into(), self.is_complete))
    }
}

impl Response {
    fn push_candidate(&mut self, mut candidate: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        self.push_reason(take(&mut candidate, FINISH_REASON));
        let mut content = candidate.as_object_mut().and_then(|fields| fields.remove("content")).unwrap_or_default();
        let parts = content.as_object_mut().and_then(|content| content.remove("parts"));
        if let Some(Value::Array(parts)) = parts {
            for part in parts {
                self.push_part(part, events)?;
            }
        }
        merge(&mut self.content, content);
        merge(self.candidate.get_or_insert_default(), candidate);
        Ok(())
    }

    /// Keeps the last reason to stop, but the first one after which no call runs. Some servers state one in each chunk.
    fn push_reason(&mut self, reason: Option<Value>) {
        let is_stated = !matches!(&*stated(reason.as_ref()), "" | "FINISH_REASON_UNSPECIFIED");
        self.is_complete |= is_stated;
        if is_stated && self.reason.as_ref().is_none_or(|before| stop_of(&stated(Some(before))).runs_calls()) {
            self.reason = reason;
        }
    }

    fn push_part(&mut self, part: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        if get(&part, FUNCTION_CALL).is_some_and(Value::is_object) {
            return self.push_call(part, events);
        }
        let text = part["text"].as_str().unwrap_or_default();
        let is_plain = is_plain_text(&part);
        if is_empty_text(&part) {
            return Ok(());
        }
        self.close(events);
        if !text.is_empty() {
            let is_thought = part["thought"] == true;
            let text = text.to_owned();
            events.push(if is_thought { ReplyEvent::Reasoning(text) } else { ReplyEvent::Text(text) });
        }
        // A signature is valid only for its own part, so other parts are not joined.
        match self.parts.last_mut() {
            Some(last) if is_plain && is_plain_text(last) && (last["thought"] == true) == (part["thought"] == true) => {
                if let Value::String(last) = &mut last["text"] {
                    last.push_str(text);
                }
            }
            _ => self.parts.push(part),
        }
        Ok(())
    }

    /// Adds a whole call, or a piece of one.
    fn push_call(&mut self, mut part: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        let Some(call) = get_mut(&mut part, FUNCTION_CALL) else { return Ok(()) };
        let name = call["name"].as_str().unwrap_or_default().to_owned();
        let pieces = take(call, PARTIAL_ARGS);
        let will_continue = take(call, WILL_CONTINUE) == Some(Value::Bool(true));
        let is_empty = call.as_object().is_none_or(Map::is_empty);
        if self.open.is_some() && continues(self.parts.last(), call, &name) {
            self.extend_call(&mut part);
        } else {
            self.close(events);
            let is_whole = pieces.is_none() && !will_continue;
            if is_whole && is_empty {
                // The end of a call that has ended already.
                return Ok(());
            }
            self.start_call(part, name, is_whole, events);
        }
        if let (Some(open), Some(Value::Array(pieces))) = (&mut self.open, pieces) {
            for piece in pieces {
                open.push(&piece, &mut self.gaps_left).map_err(invalid_path)?;
            }
        }
        if !will_continue {
            self.close(events);
        }
        Ok(())
    }

    fn start_call(&mut self, mut part: Value, name: String, is_whole: bool, events: &mut Vec<ReplyEvent>) {
        let index = self.n_calls;
        self.n_calls += 1;
        events.push(ReplyEvent::CallStarted { index, name });
        if let Some(call) = get_mut(&mut part, FUNCTION_CALL) {
            if is_whole {
                let json = call.get("args").map_or_else(|| "{}".to_owned(), Value::to_string);
                events.push(ReplyEvent::Arguments { index, json });
            } else {
                let mut open = PartialArgs::default();
                if let Some(Value::Object(args)) = call.as_object_mut().and_then(|call| call.remove("args")) {
                    open.extend(args);
                }
                self.open = Some(open);
            }
        }
        self.parts.push(part);
    }

    /// Adds the fields of a part to the call in the last part.
    fn extend_call(&mut self, part: &mut Value) {
        let (Some(last), Some(open)) = (self.parts.last_mut(), &mut self.open) else { return };
        let call = get_mut(part, FUNCTION_CALL);
        if let Some(Value::Object(args)) = call.and_then(|call| call.as_object_mut()?.remove("args")) {
            open.extend(args);
        }
        if let (None, Some(signature)) = (get(last, THOUGHT_SIGNATURE), take(part, THOUGHT_SIGNATURE)) {
            last["thoughtSignature"] = signature;
        }
    }

    /// Completes the call in the last part.
    fn close(&mut self, events: &mut Vec<ReplyEvent>) {
        let Some(open) = self.open.take() else { return };
        let (args, incomplete) = open.finish();
        let json = incomplete.clone().unwrap_or_else(|| args.to_string());
        events.push(ReplyEvent::Arguments { index: self.n_calls.saturating_sub(1), json });
        let call = self.parts.last_mut().and_then(|part| get_mut(part, FUNCTION_CALL)?.as_object_mut());
        call.and_then(|call| call.insert("args".to_owned(), incomplete.map_or(args, Value::from)));
    }
}

/// Returns true if a call is a piece of the one in the last part: it has no name, or repeats the id.
fn continues(last: Option<&Value>, call: &Value, name: &str) -> bool {
    let id = |call: &Value| call["id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
    let last = last.and_then(|last| get(last, FUNCTION_CALL)).and_then(id);
    name.is_empty() || last.is_some_and(|last| id(call) == Some(last))
}

/// Returns true if a part is a text that is empty and has no signature. A request must not contain it.
pub(super) fn is_empty_text(part: &Value) -> bool {
    is_plain_text(part) && part["text"] == ""
}

fn is_plain_text(part: &Value) -> bool {
    let fields = part.as_object();
    part["text"].is_string() && fields.is_some_and(|fields| fields.keys().all(|key| key == "text" || key == "thought"))
}

fn invalid_path(path: String) -> InvalidReply {
    let path: String = path.chars().filter(|c| !c.is_control()).take(100).collect();
    InvalidReply::new(NAME, format!("the path `{path}` of an argument is invalid or too long"))
}

/// Adds the fields of a later chunk.
fn merge(object: &mut Map<String, Value>, fields: Value) {
    let Value::Object(fields) = fields else { return };
    for (name, value) in fields {
        match (object.get_mut(&name), value) {
            (_, Value::Null) => {}
            (Some(Value::Object(old)), new @ Value::Object(_)) => merge(old, new),
            (_, value) => {
                object.insert(name, value);
            }
        }
    }
}

// Arguments of a call that arrive in pieces, each with its JSON path.

/// The maximum number of keys and indexes in a path.
const MAX_DEPTH: usize = 100;

/// The arguments so far.
#[derive(Debug, Default)]
pub(super) struct PartialArgs {
    args: Map<String, Value>,
    /// The path of a string whose end has not arrived yet.
    open: Option<String>,
}

/// A key or an index of a path.
#[derive(Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

impl PartialArgs {
    /// Adds arguments that arrive whole.
    pub(super) fn extend(&mut self, args: Map<String, Value>) {
        self.args.extend(args);
    }

    /// Adds a piece. Items of arrays that were skipped are null, and are subtracted from `gaps_left`, as an index may
    /// be any number.
    ///
    /// Returns the path if it is invalid, or leads too far.
    pub(super) fn push(&mut self, piece: &Value, gaps_left: &mut usize) -> Result<(), String> {
        let path = get(piece, JSON_PATH).and_then(Value::as_str).map(str::to_owned).or_else(|| self.open.clone());
        let Some((path, value)) = path.zip(value(piece)) else { return Ok(()) };
        let place = steps(&path).and_then(|steps| place(&mut self.args, &steps, gaps_left));
        let Some(place) = place else { return Err(path) };
        match (place, value) {
            (Value::String(text), Value::String(more)) if self.open.as_ref() == Some(&path) => text.push_str(&more),
            (place, value) => *place = value,
        }
        self.open = (get(piece, WILL_CONTINUE) == Some(&Value::Bool(true))).then_some(path);
        Ok(())
    }

    /// Returns the arguments, and the JSON text of incomplete arguments if the end of a string is missing.
    pub(super) fn finish(self) -> (Value, Option<String>) {
        let args = Value::Object(self.args);
        let incomplete = self.open.map(|_| args.to_string().trim_end_matches('}').to_owned());
        (args, incomplete)
    }
}

fn value(piece: &Value) -> Option<Value> {
    let null = get(piece, NULL_VALUE).map(|_| Value::Null);
    [STRING_VALUE, NUMBER_VALUE, BOOL_VALUE].into_iter().find_map(|field| get(piece, field).cloned()).or(null)
}

/// Parses a path such as `$.a.b[0]['c d']`.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() && steps.len() < MAX_DEPTH {
        let (step, after) = match rest.strip_prefix('.') {
            Some(name) => {
                let (name, after) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
                ((!name.is_empty()).then(|| Step::Key(name.to_owned()))?, after)
            }
            None => bracket(rest.strip_prefix('[')?)?,
        };
        steps.push(step);
        rest = after;
    }
    rest.is_empty().then_some(steps)
}

/// Parses what follows a `[`, and returns the rest.
fn bracket(text: &str) -> Option<(Step, &str)> {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        let (index, after) = text.split_once(']')?;
        return Some((Step::Index(index.parse().ok()?), after));
    };
    // The name, as a JSON string.
    let mut json = String::from('"');
    let mut chars = text.char_indices().skip(1);
    loop {
        match chars.next()?.1 {
            '\\' => match chars.next()?.1 {
                '\'' => json.push('\''),
                escaped => json.extend(['\\', escaped]),
            },
            c if c == quote => break,
            '"' => json.push_str("\\\""),
            c => json.push(c),
        }
    }
    json.push('"');
    let (bracket, end) = chars.next().map(|(position, c)| (c, position + 1))?;
    let key = serde_json::from_str(&json).ok().filter(|_| bracket == ']')?;
    Some((Step::Key(key), &text[end..]))
}

/// Returns the place of a path, which is created if there is none.
fn place<'v>(args: &'v mut Map<String, Value>, steps: &[Step], gaps_left: &mut usize) -> Option<&'v mut Value> {
    let (Step::Key(first), steps) = steps.split_first()? else { return None };
    let mut place = args.entry(first.as_str()).or_insert(Value::Null);
    for step in steps {
        place = match step {
            Step::Key(key) => {
                if !place.is_object() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut()?.entry(key.as_str()).or_insert(Value::Null)
            }
            Step::Index(index) => {
                if !place.is_array() {
                    *place = Value::Array(Vec::new());
                }
                let items = place.as_array_mut()?;
                if let Some(n_gaps) = index.checked_sub(items.len()) {
                    *gaps_left = gaps_left.checked_sub(n_gaps)?;
                    items.resize(index + 1, Value::Null);
                }
                items.get_mut(*index)?
            }
        };
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{PartialArgs, Step, steps};

    #[test]
    fn a_path_has_names_indexes_and_quoted_names() {
        let key = |key: &str| Step::Key(key.to_owned());
        assert_eq!(steps("$.a.b[12].c"), Some(vec![key("a"), key("b"), Step::Index(12), key("c")]));
        assert_eq!(steps(r#"$['a.b']["c]"]['d\'"\u00e4']"#), Some(vec![key("a.b"), key("c]"), key("d'\"ä")]));
        for invalid in ["a", "$a", "$..a", "$.a[", "$.a[-1]", "$.a[*]", "$['a'", "$['a'x", "$['", "$.a[1e3]"] {
            assert_eq!(steps(invalid), None, "{invalid}");
        }
        assert_eq!(steps(&format!("${}", ".a".repeat(101))), None);
    }

    #[test]
    fn the_number_of_skipped_items_is_bounded() {
        let mut gaps_left = 10;
        let mut args = PartialArgs::default();
        let mut push = |path: &str| args.push(&json!({ "jsonPath": path, "numberValue": 1 }), &mut gaps_left);
        push("$.a[4]").unwrap();
        push("$.b[6]").unwrap();
        push("$.c[0]").unwrap();
        for path in ["$.d[1]", "$.a[999999999]", "$.a[18446744073709551615]", "$[0]", "$"] {
            assert_eq!(push(path), Err(path.to_owned()));
        }
        let (args, incomplete) = args.finish();
        assert_eq!(args["a"], json!([Value::Null, Value::Null, Value::Null, Value::Null, 1]));
        assert_eq!(incomplete, None);
    }
}
