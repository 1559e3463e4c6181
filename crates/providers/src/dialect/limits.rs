//! The limits on the size of a schema, and its size.

use serde_json::{Map, Value};

use toolkit_schema::walk;

/// Enums with more values than this have a separate limit (OpenAI's guide to structured outputs).
const LONG_ENUM: usize = 250;

/// Limits on the size of a schema.
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::{Dialect, SchemaLimits, Side, lower};
///
/// // An endpoint that accepts few properties.
/// let mut dialect = Dialect::OPENAI_STRICT;
/// dialect.limits = SchemaLimits::NONE;
/// dialect.limits.properties = 1;
///
/// let boolean = json!({ "type": "boolean" });
/// let schema = json!({
///     "type": "object",
///     "properties": { "a": boolean, "b": boolean },
///     "required": ["a", "b"],
///     "additionalProperties": false,
/// });
/// let lowered = lower(&schema, &dialect, Side::Input);
/// assert!(lowered.losses[0].reason.ends_with("is 1 properties, but the schema has 2"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLimits {
    /// The number of properties of all objects.
    pub properties: usize,
    /// The number of nested objects and lists.
    pub levels: usize,
    /// The number of values of all enums.
    pub enum_values: usize,
    /// The number of characters of all property names and enum values.
    pub characters: usize,
    /// The number of characters of all values of an enum with more than 250 values.
    pub long_enum_characters: usize,
}

impl SchemaLimits {
    /// No limits.
    pub const NONE: Self = Self {
        properties: usize::MAX,
        levels: usize::MAX,
        enum_values: usize::MAX,
        characters: usize::MAX,
        long_enum_characters: usize::MAX,
    };

    /// The size of nothing.
    pub(crate) const ZERO: Self =
        Self { properties: 0, levels: 0, enum_values: 0, characters: 0, long_enum_characters: 0 };

    /// The number of limits.
    pub(crate) const N: usize = 5;

    /// Returns the description and the value of each limit.
    pub(crate) fn named(self) -> [(&'static str, usize); Self::N] {
        [
            ("properties", self.properties),
            ("levels", self.levels),
            ("enum values", self.enum_values),
            ("characters in names and enum values", self.characters),
            ("characters in one long enum", self.long_enum_characters),
        ]
    }

    /// Measures a schema in the units of each limit.
    pub(crate) fn taken_by(keywords: &Map<String, Value>) -> Self {
        let mut size = Self::ZERO;
        measure(keywords, 0, &mut size);
        size
    }

    /// Returns the description and the value of each limit that a schema exceeds, with its size.
    pub(crate) fn exceeded_by(
        self,
        keywords: &Map<String, Value>,
    ) -> impl Iterator<Item = (&'static str, usize, usize)> {
        let sizes = Self::taken_by(keywords).named();
        let all = self.named().into_iter().zip(sizes).map(|((what, most), (_, has))| (what, most, has));
        all.filter(|(_, most, has)| has > most)
    }
}

fn measure(keywords: &Map<String, Value>, level: usize, size: &mut SchemaLimits) {
    let nests = keywords.contains_key("properties") || keywords.contains_key("items");
    let level = level + usize::from(nests);
    size.levels = size.levels.max(level);
    if let Some(Value::Object(properties)) = keywords.get("properties") {
        size.properties += properties.len();
        size.characters += properties.keys().map(|name| name.chars().count()).sum::<usize>();
    }
    if let Some(Value::Array(values)) = keywords.get("enum") {
        size.enum_values += values.len();
        let lengths = values.iter().map(|value| value.as_str().map_or_else(|| value.to_string().len(), str::len));
        let length = lengths.sum::<usize>();
        size.characters += length;
        if values.len() > LONG_ENUM {
            size.long_enum_characters = size.long_enum_characters.max(length);
        }
    }
    walk::each(keywords, |_, sub| {
        if let Value::Object(keywords) = sub {
            measure(keywords, level, size);
        }
    });
}
