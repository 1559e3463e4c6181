//! The arguments of a call from the fragments of a stream.

use serde_json::Value;

/// The arguments of a call of which some fragments have arrived.
#[derive(Debug, Default)]
pub(super) enum Arguments {
    #[default]
    Absent,
    Text(String, Nesting),
    /// A value instead of JSON text.
    Value(Value),
}

/// The nesting of the JSON text that has arrived, which is known without parsing it again for each fragment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nesting {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    is_closed: bool,
}

impl Arguments {
    /// Adds a fragment.
    pub(super) fn add(&mut self, piece: Value) {
        match (&mut *self, piece) {
            (Self::Text(text, nesting), Value::String(piece)) => {
                text.push_str(&piece);
                piece.bytes().for_each(|byte| nesting.add(byte));
            }
            (Self::Absent, Value::String(piece)) => {
                let mut nesting = Nesting::default();
                piece.bytes().for_each(|byte| nesting.add(byte));
                *self = Self::Text(piece, nesting);
            }
            (Self::Value(_), Value::String(piece)) if piece.is_empty() => {}
            (Self::Absent, value) => *self = Self::Value(value),
            (Self::Text(text, _), value) if text.is_empty() => *self = Self::Value(value),
            // A mixture is not JSON, and becomes an error that the model can read.
            (Self::Text(text, _), value) => text.push_str(&value.to_string()),
            (Self::Value(value), piece) => {
                let mixture = value.to_string() + piece.as_str().unwrap_or("{}");
                *self = Self::Text(mixture, Nesting::default());
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Absent => true,
            Self::Text(text, _) => text.is_empty(),
            Self::Value(_) => false,
        }
    }

    /// Returns true if the arguments are complete.
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Absent => false,
            Self::Text(_, nesting) => nesting.is_closed,
            Self::Value(_) => true,
        }
    }

    /// Returns true if a fragment repeats the arguments.
    pub(super) fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Self::Text(text, _), Value::String(other)) => text == other,
            (Self::Value(value), other) => value == other,
            _ => false,
        }
    }
}

impl Nesting {
    fn add(&mut self, byte: u8) {
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
