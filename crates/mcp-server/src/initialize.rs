//! The description of the server: `initialize` and `server/discover`.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolkit::mcp::{LIST_TTL_MS, Revision};
use toolkit_mcp::{LEGACY, SKILLS_EXTENSION, UI_EXTENSION, supported, text};

use super::ask::Modes;
use super::state::ServerState;
use super::tasks::EXTENSION;

/// Returns the result of `initialize`, the first request of clients before 2026-07-28.
pub(super) fn initialize(shared: &ServerState, params: Option<&RawValue>) -> Value {
    #[derive(Default, Deserialize)]
    struct InitializeParams<'m> {
        #[serde(borrow, rename = "protocolVersion")]
        version: Option<&'m RawValue>,
    }
    let params: InitializeParams<'_> =
        params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default();
    let wanted = params.version.and_then(|version| text(version.get()));
    // Negotiation: the version of the client if it is supported, else the newest one, which the client may reject.
    let version = LEGACY.into_iter().find(|known| wanted.as_deref() == Some(known)).unwrap_or(LEGACY[0]);
    let mut result = json!({
        "protocolVersion": version,
        "capabilities": capabilities(shared, Revision::V2025_11_25),
        "serverInfo": shared.info,
    });
    if let Some(instructions) = shared.instructions() {
        result["instructions"] = instructions.into();
    }
    result
}

/// Returns the result of `server/discover` (2026-07-28).
pub(super) fn discover(shared: &ServerState) -> Value {
    let mut result = json!({
        "resultType": "complete",
        "supportedVersions": supported(),
        "capabilities": capabilities(shared, Revision::V2026_07_28),
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "public",
    });
    if let Some(instructions) = shared.instructions() {
        result["instructions"] = instructions.into();
    }
    result
}

fn capabilities(shared: &ServerState, revision: Revision) -> Value {
    let mut capabilities = json!({ "tools": { "listChanged": true }, "logging": {} });
    if shared.has_empty_prompts_and_resources {
        capabilities["prompts"] = json!({});
        capabilities["resources"] = json!({});
    }
    if shared.offers_prompts() {
        capabilities["prompts"] = json!({ "listChanged": true });
        capabilities["completions"] = json!({});
    }
    if shared.resources.is_offered() {
        capabilities["resources"] = json!({ "subscribe": true, "listChanged": true });
    }
    if shared.served().has_tasks() {
        match revision {
            Revision::V2025_11_25 => {
                capabilities["tasks"] = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
            }
            _ => capabilities["extensions"] = json!({ EXTENSION: {} }),
        }
    }
    if shared.resources.has_skills() {
        capabilities["extensions"][SKILLS_EXTENSION] = json!({});
    }
    if shared.served().has_apps {
        capabilities["extensions"][UI_EXTENSION] = json!({});
    }
    capabilities
}

/// Returns the ways in which a client before 2026-07-28 can ask its user, in the negotiated version.
pub(super) fn modes(params: Option<&RawValue>, version: &str) -> Modes {
    #[derive(Deserialize)]
    struct CapabilitiesParams<'m> {
        #[serde(borrow)]
        capabilities: Option<&'m RawValue>,
    }
    let params = params.and_then(|params| serde_json::from_str::<CapabilitiesParams<'_>>(params.get()).ok());
    let modes = params
        .and_then(|params| params.capabilities)
        .map_or_else(Modes::default, |declared| Modes::declared(declared.get()));
    match version == LEGACY[0] {
        true => modes,
        false => modes.with_plain_forms(),
    }
}

/// Returns an empty list of prompts, resources or resource templates.
pub(super) fn empty_list(method: &str, revision: Revision) -> Value {
    let field = match method {
        "prompts/list" => "prompts",
        "resources/list" => "resources",
        _ => "resourceTemplates",
    };
    match revision {
        Revision::V2025_11_25 => json!({ field: [] }),
        _ => json!({ "resultType": "complete", field: [], "ttlMs": LIST_TTL_MS, "cacheScope": "public" }),
    }
}
