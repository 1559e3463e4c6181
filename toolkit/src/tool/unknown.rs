//! Unknown fields of parsed tools.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Fields of a parsed document that this crate does not know. They are written back unchanged.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit::Tool;
///
/// let json = json!({ "name": "read", "inputSchema": {}, "limits": { "perMinute": 10 } });
/// let tool = Tool::from_mcp_json(json.clone())?;
/// assert_eq!(tool.unknown().get("limits"), Some(&json!({ "perMinute": 10 })));
/// assert_eq!(tool.to_mcp_json(), json);
/// # Ok::<(), toolkit::tool::ParseToolError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown(Option<Box<Map<String, Value>>>);

impl Unknown {
    /// No unknown fields.
    pub const NONE: Self = Self(None);

    /// Returns the value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_ref()?.get(name)
    }

    /// Returns true if there are no unknown fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn add(&mut self, fields: impl IntoIterator<Item = (String, Value)>) {
        let known = self.0.take().into_iter().flat_map(|known| *known);
        *self = known.chain(fields).collect();
    }

    /// Returns an iterator over the names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().flat_map(|fields| fields.iter()).map(|(name, value)| (name.as_str(), value))
    }
}

impl FromIterator<(String, Value)> for Unknown {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(fields: I) -> Self {
        let fields: Map<String, Value> = fields.into_iter().collect();
        Self((!fields.is_empty()).then(|| Box::new(fields)))
    }
}

impl Serialize for Unknown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Unknown {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from_iter)
    }
}

impl JsonSchema for Unknown {
    fn schema_name() -> Cow<'static, str> {
        "Unknown".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": true })
    }
}
