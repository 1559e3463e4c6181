//! The URIs of backends' resources, as clients of the proxy see them.
//!
//! The URI `notes://7` of the backend `files` is `proxy:files/notes://7`. The part after the name is unchanged, so that
//! a template stays a template, a chain of proxies adds a prefix each, and clients that normalize URIs, such as those
//! that lowercase a scheme or remove dot segments, leave it as it is: a URI whose path does not start with `/` is
//! opaque. Hosts of MCP Apps accept only the scheme `ui`, so that `ui://charts/a.html` is
//! `ui://proxy/files/charts/a.html`. The files of a skill refer to each other by relative paths, so that
//! `skill://refunds/SKILL.md` is `skill://proxy/files/refunds/SKILL.md`. Clients fetch `https` URLs themselves, which are unchanged.

use serde_json::{Map, Value};
use toolkit::tool::ToolBackend;

/// The prefix of all URIs, except for those of hierarchical schemes.
const PREFIX: &str = "proxy:";

/// The schemes whose URIs keep their scheme and stay hierarchical: those of user interfaces and of skills.
const HIERARCHICAL: [&str; 2] = ["ui://", "skill://"];

/// The first segment of such a URI.
const FIRST_SEGMENT: &str = "proxy/";

/// The maximum number of proxies in a URI. Proxies that serve each other would add prefixes without end.
const MAX_PROXIES: usize = 8;

/// Returns the URI of a backend's resource for clients of the proxy.
pub(super) fn encode(backend: &str, uri: &str) -> String {
    if is_web(uri) {
        return uri.to_owned();
    }
    match hierarchical(uri) {
        Some((scheme, path)) if !may_be_resolved(path) && !may_be_resolved(backend) => {
            format!("{scheme}{FIRST_SEGMENT}{backend}/{path}")
        }
        _ => format!("{PREFIX}{backend}/{uri}"),
    }
}

/// Returns the backend and its URI for a URI that a client has sent; `None` for a URI that [`encode`] does not return.
pub(super) fn decode(uri: &str) -> Option<(&str, String)> {
    let in_scheme = hierarchical(uri).and_then(|(scheme, path)| Some((scheme, path.strip_prefix(FIRST_SEGMENT)?)));
    let (backend, own) = match in_scheme {
        Some((scheme, rest)) => rest.split_once('/').map(|(backend, path)| (backend, format!("{scheme}{path}")))?,
        None => uri.strip_prefix(PREFIX)?.split_once('/').map(|(backend, own)| (backend, own.to_owned()))?,
    };
    (encode(backend, &own) == uri).then_some((backend, own))
}

/// Returns the scheme and the path of a URI that keeps its scheme.
fn hierarchical(uri: &str) -> Option<(&'static str, &str)> {
    HIERARCHICAL.iter().find_map(|scheme| Some((*scheme, uri.strip_prefix(scheme)?)))
}

/// Returns true if a URI has passed as many proxies as are accepted.
pub(super) fn is_too_deep(uri: &str) -> bool {
    let mut uri = uri.to_owned();
    for _ in 0..MAX_PROXIES {
        match decode(&uri) {
            Some((_, own)) => uri = own,
            None => return false,
        }
    }
    true
}

/// The keys of the user interface in `_meta` of a tool, beside `ui`: of earlier hosts, and of ChatGPT.
const FLAT_UI: [&str; 2] = ["ui/resourceUri", "openai/outputTemplate"];

/// Returns true if `_meta` of a tool has a user interface.
pub(super) fn has_ui(meta: &Map<String, Value>) -> bool {
    meta.contains_key("ui") || FLAT_UI.iter().any(|form| meta.contains_key(*form))
}

/// Returns true for a URL that clients fetch themselves.
fn is_web(uri: &str) -> bool {
    ["https:", "http:"]
        .iter()
        .any(|scheme| uri.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// Returns true if clients may resolve a part of the path, and so reach the resource of another backend. Browsers remove
/// tabs and line breaks from a URL before they resolve it, and control characters and spaces from its ends.
fn may_be_resolved(path: &str) -> bool {
    let has_removed = path.contains(|c: char| c.is_control() || c == ' ');
    has_removed
        || path.split(['/', '\\', '?', '#']).any(|segment| {
            let segment = segment.to_ascii_lowercase().replace("%2e", ".");
            segment == "." || segment == ".."
        })
}

/// Returns the name of the backend that a result comes from, unless it is this program.
pub(super) fn backend_name(backend: &ToolBackend) -> Option<&str> {
    match backend {
        ToolBackend::Mcp { server_name, .. } => Some(server_name),
        ToolBackend::Provider { provider_id, .. } => Some(provider_id),
        _ => None,
    }
}

/// The backend that a URI comes from.
#[derive(Clone, Copy)]
pub(super) struct Origin<'b> {
    pub(super) backend: &'b str,
    pub(super) has_resources: bool,
}

impl Origin<'_> {
    /// Encodes a URI of the backend. The proxy serves nothing for a backend without resources, so its URIs may be those
    /// of the program itself and stay as they are. It cannot refer to the resources of another backend either.
    pub(super) fn encode(self, uri: &str) -> String {
        match self.has_resources || decode(uri).is_some() {
            true => encode(self.backend, uri),
            false => uri.to_owned(),
        }
    }

    /// Encodes the URI in the content of a message.
    pub(super) fn encode_content(self, content: &mut Value) {
        let resource = match content.get("type").and_then(Value::as_str) {
            Some("resource_link") => Some(content),
            Some("resource") => content.get_mut("resource"),
            _ => None,
        };
        self.encode_field(resource.and_then(|resource| resource.get_mut("uri")));
    }

    /// Encodes the URI of a tool's user interface in its `_meta`, in all forms. Returns false if there is none.
    pub(super) fn encode_ui(self, meta: &mut Map<String, Value>) -> bool {
        let has_ui = has_ui(meta);
        FLAT_UI.iter().for_each(|form| self.encode_field(meta.get_mut(*form)));
        let ui = meta.get_mut("ui").and_then(Value::as_object_mut);
        self.encode_field(ui.and_then(|ui| ui.get_mut("resourceUri")));
        has_ui
    }

    fn encode_field(self, uri: Option<&mut Value>) {
        if let Some(Value::String(uri)) = uri {
            *uri = self.encode(uri);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Origin, decode, encode, is_too_deep};

    /// Parts of URIs that could confuse the encoding.
    const PARTS: [&str; 28] = [
        "",
        "/",
        "//",
        ":",
        "proxy:",
        "ui://",
        "ui://proxy/",
        "ui:",
        "skill://",
        "skill://proxy/",
        "proxy",
        "a",
        "b",
        "..",
        ".",
        "%2e%2e",
        "%2F",
        "?",
        "#",
        "{id}",
        "notes://",
        "https:",
        "http",
        " ",
        "\t",
        "\n",
        "é",
        "\\",
    ];

    const BACKENDS: [&str; 6] = ["a", "b", "proxy", "..", "ui", "A.b-c_d"];

    /// All sequences of up to three parts.
    fn uris() -> Vec<String> {
        let mut uris = Vec::new();
        for one in PARTS {
            for two in PARTS {
                uris.extend(PARTS.map(|three| [one, two, three].concat()));
            }
        }
        uris.sort();
        uris.dedup();
        uris
    }

    #[test]
    fn encoding_is_injective_and_decoding_reverts_it() {
        let mut seen = std::collections::HashMap::new();
        for backend in BACKENDS {
            for uri in uris().into_iter().filter(|uri| !super::is_web(uri)) {
                let encoded = encode(backend, &uri);
                assert_eq!(decode(&encoded), Some((backend, uri.clone())), "{encoded}");
                let twice = encode("outer", &encoded);
                assert_eq!(decode(&twice), Some(("outer", encoded.clone())), "{twice}");
                if let Some(other) = seen.insert(encoded, (backend, uri.clone())) {
                    panic!("{other:?} and {:?} are the same", (backend, uri));
                }
            }
        }
    }

    #[test]
    fn only_encoded_uris_are_decoded() {
        for uri in uris() {
            if let Some((backend, own)) = decode(&uri) {
                assert_eq!(encode(backend, &own), uri);
            }
        }
        for uri in [
            "notes://7",
            "proxy:files",
            "proxy:files/https://x",
            "proxy:files/ui://x",
            "ui://proxy/files",
            "PROXY:a/b:",
        ] {
            assert_eq!(decode(uri), None, "{uri}");
        }
    }

    #[test]
    fn dot_segments_of_a_user_interface_stay_out_of_reach_of_normalization() {
        assert_eq!(encode("files", "ui://charts/a.html"), "ui://proxy/files/charts/a.html");
        assert_eq!(encode("files", "skill://a/SKILL.md"), "skill://proxy/files/a/SKILL.md");
        for uri in ["ui://../mail/a", "ui://a/%2E./b", "ui://a/../../mail/b", "ui://.\t./mail/a", "ui://a/.. "] {
            assert_eq!(encode("files", uri), format!("proxy:files/{uri}"));
        }
    }

    #[test]
    fn browsers_change_no_uri_of_a_user_interface() {
        for uri in uris() {
            let encoded = encode("files", &uri);
            if let Some(path) = super::hierarchical(&encoded).map(|(_, path)| path) {
                let seen = encoded.trim_matches(|c: char| c <= ' ').replace(['\t', '\n', '\r'], "");
                assert_eq!(seen, encoded);
                assert!(!path.split(['/', '\\']).any(|segment| [".", ".."].contains(&segment)), "{encoded}");
            }
        }
    }

    #[test]
    fn web_addresses_are_unchanged() {
        for uri in ["https://example.com/a", "HTTPS://example.com", "http://example.com"] {
            assert_eq!(encode("files", uri), uri);
        }
    }

    #[test]
    fn a_chain_of_proxies_is_bounded() {
        let chain = (0..7).fold("notes://7".to_owned(), |uri, _| encode("files", &uri));
        assert!(!is_too_deep(&chain));
        assert!(is_too_deep(&encode("files", &chain)));
    }

    #[test]
    fn both_forms_of_a_user_interface_are_encoded() {
        let mut meta = json!({ "ui": { "resourceUri": "ui://a", "visibility": ["app"] }, "ui/resourceUri": "ui://a" });
        let files = Origin { backend: "files", has_resources: true };
        meta["openai/outputTemplate"] = json!("ui://a");
        assert!(files.encode_ui(meta.as_object_mut().unwrap()));
        assert_eq!(meta["openai/outputTemplate"], "ui://proxy/files/a");
        assert_eq!(meta["ui"], json!({ "resourceUri": "ui://proxy/files/a", "visibility": ["app"] }));
        assert_eq!(meta["ui/resourceUri"], "ui://proxy/files/a");
    }

    #[test]
    fn the_uris_of_resources_in_content_are_encoded_and_no_others() {
        let files = Origin { backend: "files", has_resources: true };
        for (content, expected) in [
            (
                json!({ "type": "resource_link", "uri": "a:1", "resource": { "uri": "a:2" } }),
                json!({ "type": "resource_link", "uri": "proxy:files/a:1", "resource": { "uri": "a:2" } }),
            ),
            (
                json!({ "type": "resource", "uri": "a:1", "resource": { "uri": "a:2", "text": "a:3" } }),
                json!({ "type": "resource", "uri": "a:1", "resource": { "uri": "proxy:files/a:2", "text": "a:3" } }),
            ),
            (
                json!({ "type": "text", "uri": "a:1", "text": "a:2" }),
                json!({ "type": "text", "uri": "a:1", "text": "a:2" }),
            ),
            (json!({ "type": "resource_link", "uri": 7 }), json!({ "type": "resource_link", "uri": 7 })),
            (json!({ "uri": "a:1" }), json!({ "uri": "a:1" })),
        ] {
            let mut encoded = content;
            files.encode_content(&mut encoded);
            assert_eq!(encoded, expected);
        }
        for form in ["ui", "ui/resourceUri", "openai/outputTemplate"] {
            assert!(super::has_ui(json!({ (form): 1 }).as_object().unwrap()), "{form}");
        }
        assert!(!super::has_ui(json!({ "uri": 1 }).as_object().unwrap()));
    }

    #[test]
    fn a_backend_without_resources_refers_to_none_of_another() {
        let plugins = Origin { backend: "plugins", has_resources: false };
        for uri in ["ui://own/a.html", "note://7", "https://example.com/a"] {
            assert_eq!(plugins.encode(uri), uri);
        }
        for uri in ["ui://proxy/files/a.html", "proxy:files/note://7"] {
            assert_eq!(plugins.encode(uri), encode("plugins", uri));
        }
    }
}
