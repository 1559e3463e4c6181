//! What a server declares about itself, and what this client declares to it.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolkit_mcp::{CLIENT_CAPABILITIES, CLIENT_INFO, MODERN, PROTOCOL_VERSION};

use super::meta::Meta;
use super::raw::{Raw, raw_value};

/// The key of the extension for tasks, among the capabilities.
pub(super) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Returns what this client declares of MCP Apps. The host that shows a page is behind it, and reads text if it shows none.
pub(super) fn ui() -> Value {
    json!({ "mimeTypes": ["text/html;profile=mcp-app"] })
}

/// The revision of a server that states none in `initialize`. It is the one that servers assume of clients.
const UNSTATED: &str = "2025-03-26";

/// The revision, the capabilities and the instructions of a server. What is malformed counts as absent.
#[derive(Clone, Debug)]
pub(super) struct ServerInfo {
    pub(super) version: String,
    capabilities: Map<String, Value>,
    pub(super) instructions: Option<String>,
}

impl ServerInfo {
    /// Reads the result of `initialize`. Returns `None` if it is not an object.
    pub(super) fn initialized(result: &Raw) -> Option<Self> {
        let fields: Map<String, Value> = result.parse().ok()?;
        let version = fields.get("protocolVersion").and_then(Value::as_str).unwrap_or(UNSTATED).to_owned();
        Some(Self::new(version, fields))
    }

    /// Reads the result of `server/discover` from a server of revision 2026-07-28.
    ///
    /// # Errors
    ///
    /// Returns the revisions of a server that does not have this one, or `None` if it states no revisions.
    pub(super) fn discovered(result: &Raw) -> Result<Self, Option<Vec<String>>> {
        #[derive(Deserialize)]
        struct Discovered {
            #[serde(rename = "supportedVersions")]
            versions: Vec<String>,
        }
        let Discovered { versions } = result.parse().map_err(|_| None)?;
        if !versions.iter().any(|version| version == MODERN) {
            return Err(Some(versions));
        }
        let fields = result.parse().map_err(|_| None)?;
        Ok(Self::new(MODERN.to_owned(), fields))
    }

    fn new(version: String, mut fields: Map<String, Value>) -> Self {
        let capabilities = match fields.shift_remove("capabilities") {
            Some(Value::Object(capabilities)) => capabilities,
            _ => Map::new(),
        };
        let instructions = fields.get("instructions").and_then(Value::as_str);
        let instructions = instructions.filter(|text| !text.trim().is_empty()).map(str::to_owned);
        Self { version, capabilities, instructions }
    }

    /// Returns true if the revision has `initialize` and `ping`.
    pub(super) fn is_legacy(&self) -> bool {
        has_initialize(&self.version)
    }

    /// Returns true if the server has declared a capability. Programs in PHP write `[]` for `{}`.
    pub(super) fn has(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(|declared| !declared.is_null() && declared != false)
    }

    /// Returns true if a capability has a flag, such as `listChanged`.
    pub(super) fn has_flag(&self, capability: &str, flag: &str) -> bool {
        self.capabilities.get(capability).is_some_and(|declared| declared.get(flag) == Some(&Value::Bool(true)))
    }

    /// Returns true if the server accepts calls with a request for a task, in revision 2025-11-25.
    pub(super) fn accepts_task_requests(&self) -> bool {
        let call = self.capabilities.get("tasks").and_then(|tasks| tasks.pointer("/requests/tools/call"));
        self.version == "2025-11-25" && call.is_some_and(|call| call.is_object() || call.is_array())
    }

    /// Returns true if the server has declared the extension for tasks, in revision 2026-07-28.
    pub(super) fn has_tasks_extension(&self) -> bool {
        !self.is_legacy() && self.has_extension(TASKS_EXTENSION)
    }

    /// Returns true if the server has declared an extension.
    pub(super) fn has_extension(&self, name: &str) -> bool {
        let extensions = self.capabilities.get("extensions").and_then(|extensions| extensions.get(name));
        extensions.is_some_and(|declared| !declared.is_null())
    }
}

/// Returns true if a revision has `initialize`.
pub(super) fn has_initialize(version: &str) -> bool {
    version < MODERN
}

/// Returns the name and version of this program.
pub(super) fn client_info() -> Value {
    json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") })
}

/// Returns what each request declares since revision 2026-07-28, in `_meta`.
pub(super) fn modern_meta(capabilities: &'static RawValue) -> Meta {
    static VERSION: LazyLock<Box<RawValue>> = LazyLock::new(|| raw_value(MODERN));
    static CLIENT: LazyLock<Box<RawValue>> = LazyLock::new(|| raw_value(&client_info()));
    let mut meta = Meta::default();
    meta.set(PROTOCOL_VERSION, VERSION.get());
    meta.set(CLIENT_INFO, CLIENT.get());
    meta.set(CLIENT_CAPABILITIES, capabilities.get());
    meta
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_does_not_need_to_declare_costs_nothing() {
        for (result, version, has_tools) in [
            (json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": [] } }), "2025-06-18", true),
            (json!({ "protocolVersion": "2025-06-18", "capabilities": null }), "2025-06-18", false),
            (json!({ "protocolVersion": 20250618, "capabilities": { "tools": {} }, "tools": [] }), UNSTATED, true),
            (json!({ "capabilities": [], "serverInfo": [], "instructions": 7 }), UNSTATED, false),
            (json!({}), UNSTATED, false),
        ] {
            let info = ServerInfo::initialized(&Raw::from(result.to_string())).unwrap();
            assert_eq!((&*info.version, info.has("tools")), (version, has_tools), "{result}");
        }
        assert!(ServerInfo::initialized(&Raw::from("7".to_owned())).is_none());
    }
}
