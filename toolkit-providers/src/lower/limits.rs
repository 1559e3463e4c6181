//! Size limits of schemas.

use serde_json::Value;

use super::lowering::Lowering;
use crate::dialect::Limits;
use crate::loss::Effect;
use toolkit_schema::walk;

/// Enums with more values than this have a separate limit (OpenAI's guide to structured outputs).
const LONG_ENUM: usize = 250;

impl Lowering<'_> {
    pub(super) fn check_limits(&mut self, schema: &Value) {
        let limits = self.dialect.limits;
        if limits == Limits::NONE {
            return;
        }
        let size = Limits::taken_by(schema);
        for ((what, most), (_, has)) in limits.named().into_iter().zip(size.named()) {
            if has > most {
                let name = self.dialect.name;
                self.report(
                    "",
                    "limit",
                    Effect::Narrowed,
                    format!("of {name} is {most} {what}, but the schema has {has}"),
                );
            }
        }
    }
}

impl Limits {
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
    pub(crate) fn taken_by(schema: &Value) -> Self {
        let mut size = Self { properties: 0, levels: 0, enum_values: 0, characters: 0, long_enum_characters: 0 };
        measure(schema, 0, &mut size);
        size
    }
}

fn measure(schema: &Value, level: usize, size: &mut Limits) {
    let Value::Object(keywords) = schema else {
        return;
    };
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
    walk::each(keywords, |_, sub| measure(sub, level, size));
}
