//! Schemas of tools that other programs run. Those that cannot be compiled here are passed on, and validated there.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use toolkit_schema::Schema;

/// Returns an input schema. If it is invalid, every object matches.
pub(super) fn foreign_input(schema: Value) -> Arc<Schema> {
    static OBJECT: LazyLock<Schema> = LazyLock::new(|| Schema::generated(json!({ "type": "object" })));
    Arc::new(Schema::foreign(schema, &OBJECT))
}

/// Returns an output schema. If it is invalid, every value matches.
pub(super) fn foreign_output(schema: Value) -> Arc<Schema> {
    static ANYTHING: LazyLock<Schema> = LazyLock::new(|| Schema::generated(json!({})));
    Arc::new(Schema::foreign(schema, &ANYTHING))
}
