//! Locations of values that JSON cannot represent: non-finite floats, and keys that are not strings.

use serde::Serialize;

use toolkit_schema::child;
use toolkit_schema::plan::Plan;

/// The parts of a result that JSON cannot represent.
pub(super) struct Unwritable {
    /// The first few non-finite floats, which `serde_json` writes as `null`.
    pub(super) floats: Vec<(String, f64)>,
    /// The first map with a key that JSON cannot represent, where serialization stops.
    pub(super) map: Option<String>,
}

/// Finds the values by serializing the result again.
#[cold]
pub(super) fn unwritable(output: &impl Serialize) -> Unwritable {
    let (json, notes) = Plan::note_unwritable(output);
    Unwritable {
        floats: notes.floats.iter().map(|(place, float)| (pointer_at(&json, *place), *float)).collect(),
        map: notes.key.map(|place| pointer_at(&json, place)),
    }
}

/// Returns the name of a non-finite float for messages.
pub(super) fn name(float: f64) -> &'static str {
    match float {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

/// An array or object that is open at a location, with the last key or the number of items before it.
enum Open {
    Object(Option<String>),
    Array(usize),
}

/// Returns the JSON Pointer of the value that begins at the byte offset `place`, or of the object that has a key
/// there. The text must be well-formed up to that offset.
fn pointer_at(json: &[u8], place: usize) -> String {
    let mut open: Vec<Open> = Vec::new();
    let mut idx = 0;
    while idx < place.min(json.len()) {
        let start = idx;
        idx += 1;
        match json[start] {
            b'{' => open.push(Open::Object(None)),
            b'[' => open.push(Open::Array(0)),
            b'}' | b']' => drop(open.pop()),
            b',' => match open.last_mut() {
                Some(Open::Array(n_before)) => *n_before += 1,
                Some(Open::Object(key)) => *key = None,
                None => {}
            },
            b'"' => {
                idx = end_of_string(json, start);
                if let (Some(Open::Object(key @ None)), Some(b':')) = (open.last_mut(), json.get(idx)) {
                    *key = json.get(start..idx).and_then(|text| serde_json::from_slice(text).ok());
                }
            }
            _ => {}
        }
    }
    let tokens = open.iter().filter_map(|open| match open {
        Open::Object(key) => key.clone(),
        Open::Array(n_before) => Some(n_before.to_string()),
    });
    tokens.fold(String::new(), |pointer, token| child(&pointer, &token))
}

fn end_of_string(json: &[u8], start: usize) -> usize {
    let mut idx = start + 1;
    while let Some(byte) = json.get(idx) {
        match byte {
            b'"' => return idx + 1,
            b'\\' => idx += 2,
            _ => idx += 1,
        }
    }
    json.len()
}
