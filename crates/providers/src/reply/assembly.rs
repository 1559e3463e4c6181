//! A reply from the events of its stream: its fields, and its blocks from pieces.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::event::ReplyEvent;
use super::stop::{StopReason, keep_stop};

/// A reply of which some events have arrived.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    /// The reply without its blocks.
    pub(crate) body: Value,
    /// By their index, which is that of the events or the order in which they began.
    pub(crate) blocks: BTreeMap<u64, Block>,
    /// The indexes of blocks that events identify otherwise.
    keys: HashMap<BlockKey, u64>,
    /// What the events show, as long as it is not taken.
    pub(super) events: Vec<ReplyEvent>,
    n_calls: usize,
    /// The number of items of arrays that pieces of arguments have skipped.
    pub(crate) n_skipped: usize,
    /// True if an event of the API has arrived.
    pub(crate) has_started: bool,
    /// True if the last event has arrived.
    pub(crate) is_complete: bool,
    /// True if `[DONE]` has arrived.
    pub(super) is_done: bool,
}

/// An index and an id of an event.
pub(crate) type BlockKey = (Option<u64>, Option<String>);

/// A part of a reply of which some pieces have arrived, such as a text or a call.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The part, as a complete reply contains it.
    pub(crate) json: Value,
    /// The number of calls before this one, if it is one that has been shown.
    call: Option<usize>,
    arguments: Nesting,
    /// The path of a string in the arguments whose end has not arrived yet.
    pub(crate) open_string: Option<String>,
    /// True if no more pieces follow.
    pub(crate) is_done: bool,
}

/// The nesting of the arguments that have arrived, which is known without parsing them again for each piece.
#[derive(Clone, Copy, Debug, Default)]
struct Nesting {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    is_closed: bool,
}

impl Assembly {
    /// Begins a block, after the others if it has no index or that of another block, whose index is its own from then on. `call` is the name of the tool if this program answers it.
    pub(crate) fn start(&mut self, index: Option<u64>, json: Value, call: Option<Value>) -> u64 {
        let own = index.filter(|index| !self.blocks.contains_key(index));
        let place = own.unwrap_or_else(|| self.next_index());
        if let Some(index) = index {
            self.keys.insert((Some(index), None), place);
        }
        let index = place;
        self.blocks.insert(index, Block { json, ..Block::default() });
        if let Some(name) = call {
            self.show_call(index, &name);
        }
        index
    }

    /// Returns the index after that of all blocks.
    fn next_index(&self) -> u64 {
        self.blocks.last_key_value().map_or(0, |(index, _)| index.saturating_add(1))
    }

    /// Returns the place of the latest block with an index.
    fn place(&self, index: u64) -> u64 {
        self.keys.get(&(Some(index), None)).copied().unwrap_or(index)
    }

    /// Returns the place of a block that has begun: that with the index, or else the latest.
    pub(crate) fn known(&self, index: Option<u64>) -> Option<u64> {
        match index {
            Some(index) => Some(self.place(index)).filter(|place| self.blocks.contains_key(place)),
            None => self.blocks.last_key_value().map(|(index, _)| *index),
        }
    }

    /// Returns the index of the block with a key.
    pub(crate) fn with_key(&self, key: &BlockKey) -> Option<u64> {
        self.keys.get(key).copied()
    }

    /// Returns the index of the block with a key, which begins if there is none. `call` is that of [`start`](Self::start).
    pub(crate) fn find_or_start(&mut self, key: BlockKey, json: impl FnOnce() -> Value, call: Option<Value>) -> u64 {
        self.with_key(&key).unwrap_or_else(|| {
            let index = self.start(None, json(), call);
            self.set_key(key, index);
            index
        })
    }

    /// Returns the place of the block with an index. Without one, this is the latest block if the piece continues it, or
    /// else a new one.
    pub(crate) fn place_or_latest(&self, index: Option<u64>, continues: impl Fn(&Block) -> bool) -> u64 {
        let latest = || self.blocks.last_key_value().filter(|(_, block)| continues(block));
        let of_piece = || latest().map_or_else(|| self.next_index(), |(index, _)| *index);
        index.map_or_else(of_piece, |index| self.place(index))
    }

    /// Sets the key of a block.
    pub(crate) fn set_key(&mut self, key: BlockKey, index: u64) {
        self.keys.insert(key, index);
    }

    /// Returns a block, which begins if it has not yet.
    pub(crate) fn block(&mut self, index: u64) -> &mut Block {
        self.blocks.entry(index).or_default()
    }

    /// Returns the JSON of a block, which begins if it has not yet.
    pub(crate) fn json(&mut self, index: u64) -> &mut Value {
        &mut self.block(index).json
    }

    /// Returns the latest block.
    pub(crate) fn latest(&mut self) -> Option<&mut Block> {
        self.blocks.values_mut().next_back()
    }

    /// Sets a field of a block, unless the value is empty.
    pub(crate) fn set(&mut self, index: u64, field: &str, value: Value) {
        if !is_empty(&value) {
            *field_mut(self.json(index), &[field]) = value;
        }
    }

    /// Appends text to a field of a block, and shows it.
    pub(crate) fn append(&mut self, index: u64, field: &str, text: &Value, event: fn(String) -> ReplyEvent) {
        let text = text.as_str().unwrap_or_default();
        append(self.json(index), field, text);
        self.show(event, text);
    }

    /// Adds the fields of an event to the reply. The first reason to stop after which no call runs stays.
    pub(crate) fn merge_end(&mut self, mut event: Value, reason: &str, read: fn(&str) -> StopReason) {
        if let Value::Object(fields) = &mut event {
            keep_stop(self.body.get(reason), fields, reason, read);
        }
        merge(&mut self.body, event);
    }

    /// Shows a piece of text, unless it is empty.
    pub(crate) fn show(&mut self, event: fn(String) -> ReplyEvent, text: &str) {
        if !text.is_empty() {
            self.events.push(event(text.to_owned()));
        }
    }

    /// Shows that a block is a call, unless it has been shown.
    pub(crate) fn show_call(&mut self, index: u64, name: &Value) {
        let n_calls = self.n_calls;
        let block = self.block(index);
        if block.call.is_none() {
            block.call = Some(n_calls);
            self.n_calls += 1;
            let name = name.as_str().unwrap_or_default().to_owned();
            self.events.push(ReplyEvent::CallStarted { index: n_calls, name });
        }
    }

    /// Shows a piece of the arguments of a call, unless it is empty or the call has not been shown.
    pub(crate) fn show_arguments(&mut self, index: u64, json: &str) {
        if let Some(index) = self.block(index).call.filter(|_| !json.is_empty()) {
            self.events.push(ReplyEvent::Arguments { index, json: json.to_owned() });
        }
    }

    /// Adds a piece of the arguments of a call to a field of its block, and shows it. Text replaces a value that a block
    /// has at its start.
    pub(crate) fn add_arguments(&mut self, index: u64, path: &[&str], piece: Value) {
        match &piece {
            Value::Null => return,
            Value::String(text) => self.show_arguments(index, text),
            value => self.show_arguments(index, &value.to_string()),
        }
        let block = self.block(index);
        // Only a call may have no arguments.
        if block.call.is_none() && piece == "" {
            return;
        }
        let before = field_mut(&mut block.json, path);
        match (&mut *before, piece) {
            (Value::String(text), Value::String(piece)) => {
                block.arguments.add(&piece);
                text.push_str(&piece);
            }
            // A mixture is not JSON, and becomes an error that the model can read.
            (Value::String(text), piece) if !text.is_empty() => text.push_str(&piece.to_string()),
            (before, Value::String(piece)) if !before.is_null() && piece.trim_ascii().is_empty() => {}
            (_, piece) => {
                block.arguments = Nesting { is_closed: !piece.is_string(), ..Nesting::default() };
                block.arguments.add(piece.as_str().unwrap_or_default());
                *before = piece;
            }
        }
    }

    /// Returns the blocks in the order of their indexes.
    pub(crate) fn take_blocks(&mut self) -> impl Iterator<Item = Value> + use<> {
        std::mem::take(&mut self.blocks).into_values().map(|block| block.json)
    }
}

impl Block {
    /// Returns true if the arguments are complete.
    pub(crate) fn has_all_arguments(&self) -> bool {
        self.arguments.is_closed
    }
}

impl Nesting {
    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_in_string => self.is_escaped = true,
                b'"' => self.is_in_string = !self.is_in_string,
                _ if self.is_in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_closed |= self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

/// Returns a field of a value. What is on the way to it becomes an object if it is not one.
pub(crate) fn field_mut<'v>(mut json: &'v mut Value, path: &[&str]) -> &'v mut Value {
    for field in path {
        if !json.is_object() {
            *json = Value::Object(Map::new());
        }
        json = &mut json[*field];
    }
    json
}

/// Returns true if a value has no content: it is null, or an empty text, list or object.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Returns true if a part, or each part of a list, has no content beside its type.
pub(crate) fn is_empty_part(part: &Value) -> bool {
    match part {
        Value::Object(fields) => fields.iter().all(|(field, value)| field == "type" || is_empty(value)),
        Value::Array(parts) => parts.iter().all(is_empty_part),
        part => is_empty(part),
    }
}

/// Appends text to a field of an object, or sets it.
pub(crate) fn append(object: &mut Value, field: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    match field_mut(object, &[field]) {
        Value::String(before) => before.push_str(text),
        before => *before = text.into(),
    }
}

/// Adds an item to a list in a field of an object, unless it is empty.
pub(crate) fn push(object: &mut Value, list: &str, item: Value) {
    if is_empty_part(&item) {
        return;
    }
    match field_mut(object, &[list]) {
        Value::Array(items) => items.push(item),
        none => *none = Value::Array(vec![item]),
    }
}

/// Adds a part to a list in a field of an object. Its text in `field` continues that of the last part if that has the
/// same type.
pub(crate) fn add_part(object: &mut Value, list: &str, part: Value, field: &str) {
    if is_empty_part(&part) {
        return;
    }
    let last = field_mut(object, &[list]).as_array_mut().and_then(|parts| parts.last_mut());
    let last = last.filter(|last| last["type"] == part["type"]).and_then(|last| last.get_mut(field));
    match (last, &part[field]) {
        (Some(Value::String(before)), Value::String(text)) => before.push_str(text),
        _ => push(object, list, part),
    }
}

/// Adds the fields of an object to another one, also to objects in it. Later values replace earlier ones, except for
/// null.
pub(crate) fn merge(object: &mut Value, fields: Value) {
    let Value::Object(fields) = fields else { return };
    for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
        match (field_mut(object, &[&name]), value) {
            (before @ Value::Object(_), value @ Value::Object(_)) => merge(before, value),
            (before, value) => *before = value,
        }
    }
}
