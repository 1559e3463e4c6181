//! Arguments as a tree, with the text of numbers that the tree cannot represent.
//!
//! A tree holds 64-bit integers and floats. If that rounds a number (a wider integer, an integer written as a float, a
//! fraction that a float makes whole), the text of the number is kept beside the tree. A type that requests an integer
//! then receives exactly the integer that was sent, or an error.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Number, Value};

use super::json;
use super::plan::{HeldNumber, Whole, read_located, read_tree};
use super::pointer::{child, push_child};

/// A JSON value, with the texts of its numbers that a tree cannot hold.
#[derive(Debug)]
pub struct Tree {
    /// The value, with the numbers as a tree stores them.
    pub value: Value,
    /// The texts of numbers that would be read differently from the tree, by pointer.
    number_texts: BTreeMap<String, NumberText>,
}

#[derive(Clone, Debug)]
struct NumberText {
    text: String,
    is_rounded: bool,
}

impl Tree {
    /// Parses JSON text.
    ///
    /// # Errors
    ///
    /// Returns a message with the position of a syntax error, the duplicate key, or the nesting limit, and for text with many
    /// numbers of more than 64 bits below long keys.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let mut is_plain = true;
        let value = read_tree(text, &mut |number| is_plain &= !number.held.needs_text());
        let value = value.map_err(|_| json::syntax_error(text))?;
        Ok(Self { value, number_texts: if is_plain { BTreeMap::new() } else { number_texts(text)? } })
    }

    /// Creates a tree from a value of the host. Every number is stored as a parser of its text would store it.
    ///
    /// # Errors
    ///
    /// Returns an error if a number is too large for a float.
    pub fn from_value(value: Value) -> Result<Self, String> {
        let mut tree = Self::plain(value);
        if *ARBITRARY_PRECISION {
            hold(&mut tree.value, "", &mut tree.number_texts)?;
        }
        Ok(tree)
    }

    /// Wraps a value in which no number needs its text.
    pub fn plain(value: Value) -> Self {
        Self { value, number_texts: BTreeMap::new() }
    }

    /// Returns the text of the number at `pointer` if the tree rounds it.
    pub fn rounded(&self, pointer: &str) -> Option<&str> {
        self.number_texts.get(pointer).filter(|number| number.is_rounded).map(|number| &*number.text)
    }

    /// Returns the pointers of all rounded numbers.
    pub fn all_rounded(&self) -> Vec<String> {
        self.number_texts.iter().filter(|(_, number)| number.is_rounded).map(|(pointer, _)| pointer.clone()).collect()
    }

    /// Returns true if the number at `pointer` is written as an integer and is a float only because of its size.
    pub fn is_wide(&self, pointer: &str) -> bool {
        self.number_texts.get(pointer).is_some_and(|number| !number.text.contains(['.', 'e', 'E']))
    }

    /// Returns the number at `pointer` if it is a 64-bit integer, in any notation.
    pub fn integer(&self, pointer: &str) -> Option<Number> {
        self.whole(pointer)?.to_number()
    }

    /// Returns true if the number at `pointer` is an integer of up to 128 bits, in any notation.
    pub fn is_integer(&self, pointer: &str) -> bool {
        self.whole(pointer).is_some()
    }

    fn whole(&self, pointer: &str) -> Option<Whole> {
        match (self.number_texts.get(pointer), self.value.pointer(pointer)) {
            (Some(number), _) => Whole::read(&number.text),
            (None, Some(Value::Number(number))) => Whole::read(&number.to_string()),
            _ => None,
        }
    }

    /// Replaces the value at `pointer` with a tree.
    pub fn put(&mut self, pointer: &str, tree: Self) {
        if let Some(slot) = self.value.pointer_mut(pointer) {
            *slot = tree.value;
            self.number_texts.retain(|place, _| !is_within(place, pointer));
            self.number_texts
                .extend(tree.number_texts.into_iter().map(|(place, number)| ([pointer, &place].concat(), number)));
        }
    }

    /// Wraps the value at `pointer` in an array.
    pub fn wrap(&mut self, pointer: &str) {
        if let Some(slot) = self.value.pointer_mut(pointer) {
            *slot = Value::Array(vec![slot.take()]);
            let moved = |place: String| match place.strip_prefix(pointer) {
                Some(rest) if is_within(&place, pointer) => [&child(pointer, "0"), rest].concat(),
                _ => place,
            };
            self.number_texts = std::mem::take(&mut self.number_texts)
                .into_iter()
                .map(|(place, number)| (moved(place), number))
                .collect();
        }
    }

    /// Replaces the array at `pointer` with its first item, the inverse of [`wrap`](Self::wrap).
    pub fn unwrap(&mut self, pointer: &str) {
        if let Some(slot) = self.value.pointer_mut(pointer)
            && let Some(item) = slot.get_mut(0).map(Value::take)
        {
            let item_pointer = child(pointer, "0");
            *slot = item;
            self.number_texts = std::mem::take(&mut self.number_texts)
                .into_iter()
                .map(|(place, number)| match place.strip_prefix(&item_pointer) {
                    Some(rest) if is_within(&place, &item_pointer) => ([pointer, rest].concat(), number),
                    _ => (place, number),
                })
                .collect();
        }
    }

    /// Serializes the tree to JSON text, with the original text of rounded numbers.
    pub fn to_text(&self) -> Vec<u8> {
        self.text_of(&self.value)
    }

    /// Serializes a copy of the tree in which integers may replace floats.
    pub fn text_of(&self, value: &Value) -> Vec<u8> {
        let mut text = Vec::new();
        self.write(value, &mut String::new(), &mut text);
        text
    }

    /// Returns true if the tree rounds a number.
    pub fn is_rounded(&self) -> bool {
        self.number_texts.values().any(|number| number.is_rounded)
    }

    fn write(&self, value: &Value, pointer: &mut String, out: &mut Vec<u8>) {
        let end = pointer.len();
        match value {
            Value::Array(items) if !self.number_texts.is_empty() => {
                out.push(b'[');
                for (idx, item) in items.iter().enumerate() {
                    if idx > 0 {
                        out.push(b',');
                    }
                    push_child(pointer, &idx.to_string());
                    self.write(item, pointer, out);
                    pointer.truncate(end);
                }
                out.push(b']');
            }
            Value::Object(object) if !self.number_texts.is_empty() => {
                out.push(b'{');
                for (idx, (key, value)) in object.iter().enumerate() {
                    if idx > 0 {
                        out.push(b',');
                    }
                    write(out, &Value::from(&**key));
                    out.push(b':');
                    push_child(pointer, key);
                    self.write(value, pointer, out);
                    pointer.truncate(end);
                }
                out.push(b'}');
            }
            Value::Number(float) if float.is_f64() => match self.number_texts.get(pointer.as_str()) {
                Some(number) => out.extend_from_slice(number.text.as_bytes()),
                None => write(out, value),
            },
            value => write(out, value),
        }
    }
}

/// Returns the texts of the numbers of a JSON text that a tree would change, by pointer. The text is read again for the
/// pointers, since few texts have such a number.
///
/// # Errors
///
/// Returns a message if the pointers are longer than [`MAX_POINTER`] and [`MAX_POINTERS`] allow.
#[cold]
fn number_texts(text: &[u8]) -> Result<BTreeMap<String, NumberText>, String> {
    let (mut number_texts, mut left) = (BTreeMap::new(), Some(MAX_POINTERS));
    // The text was read without an error.
    let _ = read_located(text, &mut |number| {
        if number.held.needs_text() {
            let length = number.pointer.len();
            left = left.filter(|_| length <= MAX_POINTER).and_then(|left: usize| left.checked_sub(length));
            if left.is_none() {
                return;
            }
            let text = number.text.to_owned();
            number_texts.insert(number.pointer.to_owned(), NumberText { text, is_rounded: number.held.is_rounded });
        }
    });
    match left {
        Some(_) => Ok(number_texts),
        None => Err("there are too many numbers of more than 64 bits below long keys".to_owned()),
    }
}

/// The maximum length of a pointer to a number of more than 64 bits, and of all such pointers, in bytes. A short text could
/// repeat a long key in each.
const MAX_POINTER: usize = 4 << 10;
const MAX_POINTERS: usize = 16 << 20;

/// Returns the pointers of the numbers that start at these offsets of a JSON text.
pub fn pointers(text: &[u8], mut starts: Vec<usize>) -> Vec<String> {
    let mut pointers = Vec::new();
    starts.sort_unstable();
    if !starts.is_empty() {
        let _ = read_located(text, &mut |number| {
            if starts.binary_search(&number.start).is_ok() {
                pointers.push(number.pointer.to_owned());
            }
        });
    }
    pointers
}

/// Returns the value with every number stored as a parser of its text would store it. Numbers that are too large for a
/// float are not changed, nor is a value that is nested too deep to be walked.
pub fn held(mut value: Value) -> Value {
    if *ARBITRARY_PRECISION && !json::is_too_deep(&value) {
        // Numbers that are too large are not changed.
        let _ = hold(&mut value, "", &mut BTreeMap::new());
    }
    value
}

/// Does the same as [`held`] for a borrowed value.
pub(crate) fn held_copy(value: &Value) -> Cow<'_, Value> {
    match *ARBITRARY_PRECISION && !json::is_too_deep(value) {
        true => Cow::Owned(held(value.clone())),
        false => Cow::Borrowed(value),
    }
}

/// True if any crate of the program enables `serde_json/arbitrary_precision`, where `1.0` and `1e0` are different
/// numbers.
static ARBITRARY_PRECISION: LazyLock<bool> = LazyLock::new(|| {
    let number = serde_json::from_str::<Number>("1.50");
    number.is_ok_and(|number| number.to_string() == "1.50")
});

fn hold(value: &mut Value, pointer: &str, number_texts: &mut BTreeMap<String, NumberText>) -> Result<(), String> {
    match value {
        Value::Number(number) => {
            let text = number.to_string();
            let Some(held) = HeldNumber::read(&text) else {
                return Err(format!("the number at `{pointer}` is out of range"));
            };
            if held.needs_text() {
                number_texts.insert(pointer.to_owned(), NumberText { text, is_rounded: held.is_rounded });
            }
            *number = held.number;
            Ok(())
        }
        Value::Array(items) => {
            let mut items = items.iter_mut().enumerate();
            items.try_for_each(|(idx, item)| hold(item, &child(pointer, &idx.to_string()), number_texts))
        }
        Value::Object(object) => {
            object.iter_mut().try_for_each(|(key, value)| hold(value, &child(pointer, key), number_texts))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

/// Returns true if `place` is the place of `pointer`, or within it.
pub fn is_within(place: &str, pointer: &str) -> bool {
    place.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn write(out: &mut Vec<u8>, value: &Value) {
    serde_json::to_writer(out, value).expect("a tree has only keys that are text");
}
