//! The server card and the AI catalog, by which clients find a server before they connect (SEP-2127).
//!
//! They are those of `experimental-ext-server-card` of 2026-07-24, with the schema `v1`. Both contain no tools, are the same for
//! everyone, and are read by pages of other origins.

use std::fmt;

use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use toolkit_mcp::supported;
use toolkit_runtime::empty_response;

use super::response::{Body, json};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

const CARD_TYPE: &str = "application/mcp-server-card+json";

const CATALOG_TYPE: &str = "application/ai-catalog+json";

/// The path of the card below the endpoint, which the extension reserves.
const CARD: &str = "/server-card";

const CATALOG: &str = "/.well-known/ai-catalog.json";

/// The fields of `server.json` that a card has too.
const SHARED: [&str; 7] = ["name", "version", "description", "title", "websiteUrl", "repository", "icons"];

/// The server card of a server, and the AI catalog that names it.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit_mcp_server::ServerCard;
///
/// let entry = json!({
///     "name": "com.example/weather",
///     "version": "1.2.0",
///     "description": "Forecasts",
///     "remotes": [{ "type": "streamable-http", "url": "https://example.com/mcp" }],
/// });
/// assert!(ServerCard::from_server_json(&entry).is_ok());
/// let error = ServerCard::from_server_json(&json!({ "name": "com.example/weather" })).unwrap_err();
/// assert_eq!(error.to_string(), "`version` is missing");
/// ```
#[derive(Clone, Debug)]
pub struct ServerCard {
    card: PublicDocument,
    catalog: PublicDocument,
}

/// The error of a `server.json` from which no [`ServerCard`] can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerCardError(String);

#[derive(Clone, Debug)]
struct PublicDocument {
    media_type: &'static str,
    bytes: Vec<u8>,
    etag: HeaderValue,
}

impl ServerCard {
    /// Creates the card from the entry of the server in the MCP registry (`server.json`), with the first URL in its `remotes`
    /// as the address of this server. The packages are left out.
    ///
    /// # Errors
    ///
    /// Returns an error if a field that the card requires is missing, or no remote has the type `streamable-http`.
    pub fn from_server_json(entry: &Value) -> Result<Self, ServerCardError> {
        let wrong = |why: &str| ServerCardError(why.to_owned());
        for field in ["name", "version", "description"] {
            if entry[field].as_str().is_none_or(str::is_empty) {
                return Err(ServerCardError(format!("`{field}` is missing")));
            }
        }
        let name = entry["name"].as_str().unwrap_or_default();
        let (namespace, own) =
            name.split_once('/').ok_or_else(|| wrong("`name` has no `/`, as in `com.example/name`"))?;
        let mut remotes = entry["remotes"].as_array().cloned().unwrap_or_default();
        let is_http = |remote: &Value| remote["type"] == "streamable-http" && remote["url"].is_string();
        let url = remotes.iter().find(|remote| is_http(remote)).and_then(|remote| remote["url"].as_str());
        let url = url.ok_or_else(|| {
            wrong("`remotes` has no URL of the type `streamable-http`; `bundle server-json --remote URL` adds it")
        })?;
        let publisher: Vec<&str> = namespace.rsplit('.').collect();
        let catalog = json!({ "specVersion": "1.0", "entries": [{
            "identifier": format!("urn:air:{}:mcp:{own}", publisher.join(".")),
            "type": CARD_TYPE,
            "url": format!("{}{CARD}", url.trim_end_matches('/')),
        }] });
        for remote in remotes.iter_mut().filter(|remote| is_http(remote)) {
            remote["supportedProtocolVersions"] = json!(supported());
        }
        let mut card = Map::from_iter([("$schema".to_owned(), json!(SCHEMA))]);
        let shared = SHARED.iter().filter_map(|field| Some(((*field).to_owned(), entry.get(*field)?.clone())));
        card.extend(shared);
        card.insert("remotes".to_owned(), remotes.into());
        Ok(Self {
            card: PublicDocument::new(CARD_TYPE, &card.into()),
            catalog: PublicDocument::new(CATALOG_TYPE, &catalog),
        })
    }

    /// Returns the response to a request for the card or the catalog, or `None` for other paths.
    pub(super) fn respond(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<Response<Body>> {
        let document = if path.ends_with(CARD) {
            &self.card
        } else if path == CATALOG {
            &self.catalog
        } else {
            return None;
        };
        Some(document.respond(method, headers))
    }
}

impl PublicDocument {
    fn new(media_type: &'static str, document: &Value) -> Self {
        let bytes = document.to_string().into_bytes();
        let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(&bytes)[..16]);
        let etag = HeaderValue::try_from(format!("\"{digest}\"")).expect("digits are valid");
        Self { media_type, bytes, etag }
    }

    fn respond(&self, method: &Method, headers: &HeaderMap) -> Response<Body> {
        let is_known = headers.get_all(header::IF_NONE_MATCH).iter().any(|sent| self.is_in(sent));
        let mut response = match *method {
            Method::OPTIONS => empty_response(StatusCode::NO_CONTENT),
            Method::GET | Method::HEAD if is_known => empty_response(StatusCode::NOT_MODIFIED),
            Method::GET | Method::HEAD => json(StatusCode::OK, self.bytes.clone()),
            _ => empty_response(StatusCode::METHOD_NOT_ALLOWED),
        };
        let is_read = response.status() == StatusCode::OK || response.status() == StatusCode::NOT_MODIFIED;
        let headers = response.headers_mut();
        if is_read {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
            headers.insert(header::ETAG, self.etag.clone());
        }
        let of_anyone = [
            (header::ALLOW, "GET, HEAD, OPTIONS"),
            (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET"),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type, If-None-Match"),
            (header::ACCESS_CONTROL_EXPOSE_HEADERS, "ETag"),
        ];
        of_anyone.into_iter().for_each(|(name, value)| drop(headers.insert(name, HeaderValue::from_static(value))));
        response
    }

    /// Returns true if `If-None-Match` contains the tag of the document.
    fn is_in(&self, sent: &HeaderValue) -> bool {
        let own = self.etag.to_str().unwrap_or_default();
        let is_own = |tag: &str| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == own;
        sent.to_str().is_ok_and(|sent| sent.split(',').any(|tag| is_own(tag.trim())))
    }
}

impl fmt::Display for ServerCardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServerCardError {}
