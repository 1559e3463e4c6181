//! The tool `dev_errors`, and the answers in place of a program that cannot be built.

use serde_json::{Value, json};

use super::build_state::BuildState;
use super::message::{Fields, error, object, response, text};

/// The name of the tool with the errors of the build.
pub(super) const ERRORS: &str = "dev_errors";

/// The revisions of MCP in which a session begins with `initialize`, and the first one without.
const LEGACY: &str = "2025-11-25";
const NEWEST: &str = "2026-07-28";

/// Returns the definition of the tool.
pub(super) fn tool() -> Value {
    json!({
        "name": ERRORS,
        "description": "Waits until the present sources of these tools are built, and returns the errors of the compiler, or \
                        of the start of the program. Call it after a change of the sources: if there are no errors, the tools are \
                        those of the changed sources.",
        "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
    })
}

/// Returns true for the parameters of a request of a revision without sessions.
pub(super) fn is_newest(params: &Fields<'_>) -> bool {
    object(params, "_meta").contains_key("io.modelcontextprotocol/protocolVersion")
}

/// Returns the result of the tool.
pub(super) fn errors(is_newest: bool, state: &BuildState) -> Value {
    complete(is_newest, json!({ "content": [{ "type": "text", "text": state.report() }] }))
}

/// Answers a request as a program with no other tool.
pub(super) fn answer(
    id: &str,
    method: &str,
    params: &Fields<'_>,
    (name, version): (&str, &str),
    state: &BuildState,
) -> String {
    let is_newest = is_newest(params);
    let cached = |mut result: Value| {
        if is_newest {
            result["ttlMs"] = 0.into();
            result["cacheScope"] = "private".into();
        }
        complete(is_newest, result)
    };
    let capabilities = json!({ "tools": { "listChanged": true }, "prompts": { "listChanged": true },
                               "resources": { "listChanged": true }, "logging": {} });
    let result = match method {
        "initialize" => json!({
            "protocolVersion": text(params, "protocolVersion").unwrap_or_else(|| LEGACY.to_owned()),
            "capabilities": capabilities,
            "serverInfo": { "name": name, "version": version },
        }),
        "server/discover" => cached(json!({ "supportedVersions": [NEWEST, LEGACY], "capabilities": capabilities })),
        "ping" | "logging/setLevel" => json!({}),
        "tools/list" => cached(json!({ "tools": [tool()] })),
        "prompts/list" => cached(json!({ "prompts": [] })),
        "resources/list" => cached(json!({ "resources": [] })),
        "resources/templates/list" => cached(json!({ "resourceTemplates": [] })),
        "tools/call" => complete(
            is_newest,
            json!({
                "content": [{ "type": "text", "text": format!("the program does not run: {}", state.report()) }],
                "isError": true,
            }),
        ),
        _ => return error(id, -32601, &format!("the program does not run: {}", state.report())),
    };
    response(id, &result)
}

/// Marks a result as complete, which the newest revision requires.
fn complete(is_newest: bool, mut result: Value) -> Value {
    if is_newest {
        result["resultType"] = "complete".into();
    }
    result
}
