//! Whether a schema is small enough for its target.

use serde_json::Value;

use super::Lowering;
use crate::adapter::dialect::Limits;
use crate::adapter::loss::Effect;
use crate::schema::walk;

impl Lowering<'_> {
    pub(super) fn check_limits(&mut self, schema: &Value) {
        let limits = self.dialect.limits;
        if limits == Limits::NONE {
            return;
        }
        let mut size = Limits { properties: 0, levels: 0, enum_values: 0, characters: 0 };
        measure(schema, 0, &mut size);
        for (what, has, most) in [
            ("properties", size.properties, limits.properties),
            ("levels", size.levels, limits.levels),
            ("enum values", size.enum_values, limits.enum_values),
            ("characters in names and enum values", size.characters, limits.characters),
        ] {
            if has > most {
                let name = self.dialect.name;
                self.lose("", "limit", Effect::Narrowed, format!("of {name} is {most} {what}; here are {has}"));
            }
        }
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
        size.characters += lengths.sum::<usize>();
    }
    walk::each(keywords, |_, sub| measure(sub, level, size));
}
