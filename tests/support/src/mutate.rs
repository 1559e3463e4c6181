//! Mutations of JSON values, and different spellings of the same JSON.

use serde_json::{Map, Value, json};

/// A reproducible source of random choices.
pub struct Dice(u64);

impl Dice {
    /// Creates a source from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Dice {
        Dice(seed | 1)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        // xorshift64*, which is sufficient for choices.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    /// Returns true in one of `n` cases.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns one of the items.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Keys and strings that the schemas and types of these tests use, so that random values collide.
pub const WORDS: &[&str] = &[
    "a",
    "b",
    "c",
    "kind",
    "type",
    "value",
    "A",
    "B",
    "C",
    "Unit",
    "one",
    "two",
    "id",
    "name",
    "",
    "é",
    "x\"y",
    "a\nb",
    "1",
    "-1",
    "true",
    "inner",
    "next",
    "$serde_json::private::RawValue",
    "$serde_json::private::Number",
    "content",
    "t",
    "c",
    "left",
];

/// Returns a value that is not an array or object.
pub fn scalar(dice: &mut Dice) -> Value {
    match dice.below(12) {
        0 => Value::Null,
        1 => json!(dice.one_in(2)),
        2..=4 => json!(dice.below(12) as i64 - 4),
        5 => json!(*dice.pick(&[i64::MIN, i64::MAX, 1 << 53, 300, -200, 70_000])),
        6 => json!(u64::MAX - dice.below(2) as u64),
        7 => json!(*dice.pick(&[0.5, 1.0, -0.0, 2.5, 1e300, 1e-7, 0.3, 1e20])),
        _ => json!(dice.pick(WORDS)),
    }
}

/// Returns a value of at most `depth` levels.
pub fn anything(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 3 } else { 5 }) {
        0..3 => scalar(dice),
        3 => (0..dice.below(4)).map(|_| anything(dice, depth - 1)).collect(),
        _ => {
            let members = (0..dice.below(4)).map(|_| {
                let key = (*dice.pick(WORDS)).to_owned();
                (key, anything(dice, depth - 1))
            });
            Value::Object(members.collect::<Map<_, _>>())
        }
    }
}

/// Makes one to three changes somewhere inside.
pub fn mutate(value: &mut Value, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        mutate_once(value, dice);
    }
}

fn mutate_once(value: &mut Value, dice: &mut Dice) {
    let deeper = !dice.one_in(3);
    match value {
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = dice.below(items.len());
            match dice.below(4) {
                0 => drop(items.remove(at)),
                1 => items.push(anything(dice, 1)),
                _ => mutate_once(&mut items[at], dice),
            }
        }
        Value::Object(members) if deeper && !members.is_empty() => {
            let key = members.keys().nth(dice.below(members.len())).expect("not empty").clone();
            match dice.below(5) {
                0 => drop(members.shift_remove(&key)),
                1 => drop(members.insert((*dice.pick(WORDS)).to_owned(), anything(dice, 1))),
                2 => {
                    // The representation by serde of a struct or variant, in a form that the schema does not know.
                    let values: Vec<Value> = members.values().cloned().collect();
                    *value = Value::Array(values);
                }
                _ => mutate_once(members.get_mut(&key).expect("it is there"), dice),
            }
        }
        Value::String(text) if deeper => match dice.below(3) {
            0 => text.push_str(dice.pick::<&str>(WORDS)),
            1 => *value = json!({ text.as_str(): null }),
            _ => *text = (*dice.pick(WORDS)).to_owned(),
        },
        _ => *value = anything(dice, 2),
    }
}

/// Writes the JSON with random whitespace, escapes and order, sometimes with a duplicate key or trailing characters.
/// Returns true if a key is duplicated.
pub fn render(value: &Value, dice: &mut Dice) -> (String, bool) {
    let mut text = String::new();
    let mut repeats = false;
    write(value, dice, &mut text, &mut repeats);
    if dice.one_in(40) {
        text.push_str(dice.pick::<&str>(&["x", " 1", ",", "]", "}"]));
    }
    (text, repeats)
}

fn write(value: &Value, dice: &mut Dice, out: &mut String, repeats: &mut bool) {
    if dice.one_in(8) {
        out.push(' ');
    }
    match value {
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                write(item, dice, out, repeats);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            if members.len() > 1 && dice.one_in(3) {
                let from = dice.below(members.len());
                members.swap(0, from);
            }
            if !members.is_empty() && dice.one_in(30) {
                members.push(members[dice.below(members.len())]);
                *repeats = true;
            }
            out.push('{');
            for (n, (key, member)) in members.into_iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                string(key, dice, out);
                out.push(':');
                write(member, dice, out, repeats);
            }
            out.push('}');
        }
        Value::String(text) => string(text, dice, out),
        scalar => out.push_str(&scalar.to_string()),
    }
    if dice.one_in(8) {
        out.push('\n');
    }
}

fn string(text: &str, dice: &mut Dice, out: &mut String) {
    if !dice.one_in(5) {
        out.push_str(&Value::from(text).to_string());
        return;
    }
    out.push('"');
    for unit in text.encode_utf16() {
        out.push_str(&format!("\\u{unit:04x}"));
    }
    out.push('"');
}

/// Returns true if the value contains nothing that the plan leaves to the slow path: a number that is an integer to
/// JSON Schema and a float to serde, a tag that is not the first key, a key that `serde_json` reserves.
pub fn is_ordinary(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_f64() || number.as_f64().is_some_and(|f| f.fract() != 0.0),
        Value::Array(items) => items.iter().all(is_ordinary),
        Value::Object(members) => {
            let tag = members.keys().position(|key| key == "kind");
            let own = |key: &String| key.starts_with("$serde_json");
            tag.is_none_or(|at| at == 0) && !members.keys().any(own) && members.values().all(is_ordinary)
        }
        _ => true,
    }
}
