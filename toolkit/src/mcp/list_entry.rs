//! An entry of a list of tools, written with the texts of schemas that other entries have too.

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::Value;

use super::Revision;
use super::object_result::in_object;

/// A tool in a list.
#[derive(Debug)]
pub struct ListEntry {
    /// The fields, with `true` in place of the schemas.
    pub fields: Value,
    /// The schema of the arguments.
    pub input: Arc<ListedSchema>,
    /// The schema of the result.
    pub output: Option<Arc<ListedSchema>>,
}

/// A schema of 2026-07-28, and its texts once they are needed.
#[derive(Clone, Debug, Default)]
pub struct ListedSchema {
    /// The schema.
    pub value: Value,
    json: [OnceLock<String>; 2],
}

impl ListEntry {
    /// Returns the entry in a revision, as a value.
    pub(super) fn into_value(mut self, revision: Revision) -> Value {
        self.fields["inputSchema"] = Arc::unwrap_or_clone(self.input).value;
        if let Some(output) = self.output {
            let ListedSchema { value, .. } = Arc::unwrap_or_clone(output);
            self.fields["outputSchema"] = match revision {
                Revision::V2025_11_25 => in_object(value),
                Revision::V2026_07_28 => value,
            };
        }
        self.fields
    }

    /// Returns the entry in a revision, as JSON.
    #[must_use]
    pub fn to_json(&self, revision: Revision) -> String {
        let mut json = String::with_capacity(512);
        for (key, value) in self.fields.as_object().into_iter().flatten() {
            json.push(if json.is_empty() { '{' } else { ',' });
            json.push_str(&text_of(key));
            json.push(':');
            match (key.as_str(), &self.output) {
                ("inputSchema", _) => json.push_str(self.input.json(Revision::V2026_07_28)),
                ("outputSchema", Some(output)) => json.push_str(output.json(revision)),
                _ => json.push_str(&text_of(value)),
            }
        }
        json.push('}');
        json
    }
}

impl ListedSchema {
    pub(super) fn new(value: Value) -> Arc<Self> {
        Arc::new(Self { value, json: Default::default() })
    }

    /// Returns the JSON of the output schema in a revision. Input schemas are the same in all.
    fn json(&self, revision: Revision) -> &str {
        let [before, now] = &self.json;
        match revision {
            Revision::V2025_11_25 => before.get_or_init(|| text_of(&in_object(self.value.clone()))),
            Revision::V2026_07_28 => now.get_or_init(|| text_of(&self.value)),
        }
    }
}

fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a tree has only keys that are text")
}
