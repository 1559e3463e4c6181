//! Validation against the official schemas of MCP.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::shared_json;

type Validators = BTreeMap<(String, String), Option<Arc<jsonschema::Validator>>>;

/// Validates a value against a definition of a revision of MCP. Does nothing if the schemas are absent.
///
/// # Panics
///
/// Panics if the value is invalid.
#[track_caller]
pub fn assert_official(version: &str, definition: &str, instance: &Value) {
    static VALIDATORS: Mutex<Validators> = Mutex::new(Validators::new());
    let build = || {
        let mut schema = shared_json(&format!("spec/mcp/{version}.schema.json"))?;
        schema["$ref"] = json!(format!("#/$defs/{definition}"));
        Some(Arc::new(jsonschema::validator_for(&schema).unwrap()))
    };
    let key = (version.to_owned(), definition.to_owned());
    let validator = VALIDATORS.lock().unwrap().entry(key).or_insert_with(build).clone();
    let Some(validator) = validator else { return };
    let errors: Vec<String> =
        validator.iter_errors(instance).map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{definition}: {errors:#?}\n{instance:#}");
}
