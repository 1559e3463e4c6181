//! The tool `dev_errors`, what `dev` adds to the responses of a program, and the answers in place of one that cannot be built.

use serde_json::{Value, json};

use super::build_state::BuildState;
use super::message::{Fields, append, error, fields, object, replace, response, text};

/// The name of the tool with the errors of the build.
const ERRORS: &str = "dev_errors";

/// The revisions of MCP in which a session begins with `initialize`, and the first one without.
const LEGACY: &str = "2025-11-25";
const NEWEST: &str = "2026-07-28";

/// Returns the definition of the tool.
fn tool() -> Value {
    json!({
        "name": ERRORS,
        "description": "Waits until the present sources of these tools are built, and returns the errors of the compiler, or \
                        of the start of the program. Call it after a change of the sources: if there are no errors, the tools are \
                        those of the changed sources.",
        "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
    })
}

/// Returns true for a call of the tool.
pub(super) fn is_errors(method: &str, params: &Fields<'_>) -> bool {
    method == "tools/call" && text(params, "name").as_deref() == Some(ERRORS)
}

/// Returns true for the parameters of a request of a revision without sessions.
pub(super) fn is_newest(params: &Fields<'_>) -> bool {
    object(params, "_meta").contains_key("io.modelcontextprotocol/protocolVersion")
}

/// Returns the result of the tool.
pub(super) fn errors(is_newest: bool, state: &BuildState) -> Value {
    complete(is_newest, json!({ "content": [{ "type": "text", "text": state.report() }] }))
}

/// Adds the tool to a list, and to the result of a tool the note that it is of the program before a change.
pub(super) fn amended(method: &str, line: String, state: &BuildState) -> String {
    let fields = self::fields(&line).unwrap_or_default();
    let result = object(&fields, "result");
    let is_last = !result.contains_key("nextCursor");
    let changed = match method {
        "tools/call" => {
            let note = state.note().map(|note| json!({ "type": "text", "text": note }));
            result.get("content").zip(note).map(|(content, note)| append(&line, content, &note))
        }
        "tools/list" => result.get("tools").filter(|_| is_last).map(|tools| append(&line, tools, &tool())),
        _ => None,
    };
    let line = changed.unwrap_or(line);
    let fields = self::fields(&line).unwrap_or_default();
    // Lists change with the program.
    match object(&fields, "result").get("ttlMs") {
        Some(ttl) => replace(&line, ttl, "0"),
        None => line,
    }
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
