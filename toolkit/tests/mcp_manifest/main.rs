//! The result of `tools/list`, validated by the official schemas of both revisions.

mod bytes;
mod calls;
mod listing;
mod naming;
mod pages;
mod results;
mod tools;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::process::Command;

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use test_support::{ran, shared_json};
use toolkit::call::{Context, Credentials};
use toolkit::catalog::{Diagnostic, DiagnosticKind, Naming, WireNames};
use toolkit::mcp::{META_KEY, Revision, list_tools, wrap_result};
use toolkit::tool::ToolId;
use toolkit::{Catalog, Content, Dispatcher, Structured, Tool, ToolError, catalog, tool};

const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn everything() -> Catalog {
    Catalog::linked().unwrap()
}

#[track_caller]
fn list(revision: Revision) -> Vec<Value> {
    let list = list_tools(&everything(), revision, Naming::Name).unwrap();
    list["tools"].as_array().unwrap().clone()
}

#[track_caller]
fn listed(revision: Revision, name: &str) -> Value {
    let tools = list(revision);
    let found = tools.iter().find(|tool| tool["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is listed")).clone()
}

fn text(revision: Revision) -> String {
    list_tools(&everything(), revision, Naming::NamespaceName).unwrap().to_string()
}

/// Returns the official schema of `definition`, or `None` if the data is absent.
fn official(revision: Revision, definition: &str) -> Option<jsonschema::Validator> {
    let mut schema = shared_json(&format!("spec/mcp/{}.schema.json", revision.as_str()))?;
    schema["$ref"] = json!(format!("#/$defs/{definition}"));
    Some(jsonschema::validator_for(&schema).unwrap())
}

#[track_caller]
fn assert_fits(validator: &jsonschema::Validator, instance: &Value) {
    let errors: Vec<String> =
        validator.iter_errors(instance).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// The state of the tools.
fn held() -> Context {
    let held = Credentials::new().with_secret("MAIL_KEY", "k").with_token("google", "t").with_user_id("u");
    Context::new().with_credentials(held)
}
