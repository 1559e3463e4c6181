//! References to backends.

use toolkit::tool::ToolBackend;

use super::*;

#[test]
fn backends_are_accepted_and_rejected_as_in_the_cases() {
    let document: Value = serde_json::from_str(include_str!("../../cases/backends.json")).unwrap();
    let cases = document["backend_validate"].as_array().unwrap();
    for case in cases {
        let backend = serde_json::from_value::<ToolBackend>(case["backend"].clone());
        assert_eq!(backend.is_ok(), case["valid"].as_bool().unwrap(), "{case}: {backend:?}");
    }
    ran(cases.len());
}

#[test]
fn a_backend_is_written_as_it_was_read() {
    for json in [
        json!({ "kind": "mcp", "mcp": { "serverName": "files" } }),
        json!({ "kind": "provider", "provider": { "providerId": "openai", "toolId": "vision" } }),
        json!({ "kind": "local", "local": { "name": "handler" } }),
    ] {
        let backend: ToolBackend = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(json["kind"], backend.kind().as_str());
        assert_eq!(serde_json::to_value(&backend).unwrap(), json);
    }
}

#[test]
fn details_of_other_kinds_are_ignored() {
    let json = json!({ "kind": "local", "local": { "name": "x" }, "mcp": { "serverName": "" } });
    let backend: ToolBackend = serde_json::from_value(json).unwrap();
    assert_eq!(backend, ToolBackend::local("x").unwrap());
}

#[test]
fn a_reference_reports_its_missing_field() {
    let error = |json: Value| serde_json::from_value::<ToolBackend>(json).unwrap_err().to_string();
    assert_eq!(error(json!({ "kind": "mcp" })), "invalid backend: `mcp` needs `mcp.serverName`");
    assert_eq!(
        error(json!({ "kind": "provider", "provider": { "providerId": "p" } })),
        "invalid backend: `provider` needs `provider.toolId`"
    );
    assert_eq!(
        error(json!({ "kind": "cloud\n" })),
        "invalid backend: unknown kind `cloud\\n`; expected `mcp`, `provider` or `local`"
    );
    assert_eq!(ToolBackend::local("").unwrap_err().to_string(), "invalid backend: `local` needs `local.name`");
}
