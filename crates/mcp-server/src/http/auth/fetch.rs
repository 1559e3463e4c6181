//! Requests to an authorization server.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde_json::Value;
use toolkit::schema::json;
use toolkit_runtime::{Authorities, PemError, is_loopback};

use super::key::{PublicKey, read_keys};

/// The timeout of a fetch, including that of the metadata.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum size of a document in bytes.
const MAX_BYTES: usize = 64 << 10;

/// The place of a key set.
pub(super) struct Source {
    place: KeysPlace,
    url: Url,
    authorities: Authorities,
    /// The client, or the error of creating it.
    client: OnceLock<Result<Client, String>>,
}

enum KeysPlace {
    /// The URL itself.
    Keys,
    /// The metadata of this issuer, exactly as configured.
    Metadata { issuer: String },
}

impl Source {
    pub(super) fn keys(url: &str) -> Result<Self, String> {
        Ok(Self::new(KeysPlace::Keys, secure(url)?))
    }

    pub(super) fn issuer(issuer: &str) -> Result<Self, String> {
        let url = secure(issuer)?;
        // RFC 8414, 2.
        if url.query().is_some() || url.fragment().is_some() {
            return Err(format!("the issuer `{issuer}` must not have a query or a fragment"));
        }
        Ok(Self::new(KeysPlace::Metadata { issuer: issuer.to_owned() }, url))
    }

    fn new(place: KeysPlace, url: Url) -> Self {
        Self { place, url, authorities: Authorities::platform(), client: OnceLock::new() }
    }

    pub(super) fn trust(&mut self, pem: &str) -> Result<(), PemError> {
        self.authorities.add_pem(pem)
    }

    /// Fetches the keys.
    ///
    /// # Errors
    ///
    /// Returns a message for the log of the server.
    pub(super) async fn fetch(&self) -> Result<Arc<[PublicKey]>, String> {
        let fetch = async {
            let url = match &self.place {
                KeysPlace::Keys => self.url.clone(),
                KeysPlace::Metadata { issuer } => self.discover(issuer).await?,
            };
            let body = self.get(&url).await?.map_err(|status| format!("{url} responded with {status}"))?;
            read_keys(&body).map_err(|error| format!("{url}: {error}"))
        };
        let expired = |_| Err(format!("there was no complete response within {TIMEOUT:?}"));
        tokio::time::timeout(TIMEOUT, fetch).await.unwrap_or_else(expired)
    }

    /// Returns the URL of the keys in the metadata of the issuer.
    async fn discover(&self, issuer: &str) -> Result<Url, String> {
        let mut last = String::new();
        for url in metadata_urls(&self.url) {
            match self.get(&url).await? {
                Ok(body) => {
                    let metadata = json::parse(&body).map_err(|error| format!("{url}: {error}"))?;
                    return keys_url(&metadata, issuer).map_err(|error| format!("{url} {error}"));
                }
                Err(status) => last = format!("{url} responded with {status}"),
            }
        }
        Err(last)
    }

    /// Reads a document. Returns the status if it is not 200.
    async fn get(&self, url: &Url) -> Result<Result<Vec<u8>, reqwest::StatusCode>, String> {
        // Without the URL, which is part of the message of the caller.
        let failed = |error: reqwest::Error| format!("{url} cannot be read: {}", Chain(&error.without_url()));
        let request = self.client()?.get(url.clone()).header("accept", "application/json");
        let mut response = request.send().await.map_err(failed)?;
        if response.status() != reqwest::StatusCode::OK {
            return Ok(Err(response.status()));
        }
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(failed)? {
            if body.len() + bytes.len() > MAX_BYTES {
                return Err(format!("{url} responded with more than {MAX_BYTES} bytes"));
            }
            body.extend_from_slice(&bytes);
        }
        Ok(Ok(body))
    }

    fn client(&self) -> Result<&Client, String> {
        let client = self.client.get_or_init(|| {
            let client = Client::builder().redirect(Policy::none()).connect_timeout(TIMEOUT);
            let client = match self.url.scheme() {
                "https" => client.tls_backend_preconfigured(self.authorities.tls().map_err(|error| error.to_string())?),
                // A proxy cannot reach the loopback addresses of this machine.
                _ => client
                    .tls_backend_preconfigured(Authorities::no_tls().map_err(|error| error.to_string())?)
                    .no_proxy(),
            };
            client.build().map_err(|error| error.to_string())
        });
        client.as_ref().map_err(Clone::clone)
    }
}

/// Returns the URLs at which the metadata of an issuer may be, in the order that MCP prescribes.
fn metadata_urls(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut paths = vec![
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        paths.push(format!("{path}/.well-known/openid-configuration"));
    }
    let at = |path: String| {
        let mut url = issuer.clone();
        url.set_path(&path);
        url
    };
    paths.into_iter().map(at).collect()
}

/// Returns the URL of the keys in the metadata of an issuer.
fn keys_url(metadata: &Value, issuer: &str) -> Result<Url, String> {
    // RFC 8414, 3.3: otherwise the metadata of another issuer would be used.
    if metadata.get("issuer").and_then(Value::as_str) != Some(issuer) {
        return Err(format!("is the metadata of another issuer than `{issuer}`"));
    }
    let url = metadata.get("jwks_uri").and_then(Value::as_str).ok_or("has no `jwks_uri`")?;
    let url = secure(url).map_err(|error| format!("has an invalid `jwks_uri`: {error}"))?;
    // Otherwise an issuer could send the server to services of its own machine.
    if issuer.starts_with("https:") && url.scheme() != "https" {
        return Err("has a `jwks_uri` that is not `https`, unlike its issuer".to_owned());
    }
    Ok(url)
}

/// Parses a URL that others cannot intercept.
fn secure(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|_| format!("`{text}` is not a URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a URL must not contain a password".to_owned());
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(url.host_str().unwrap_or_default()) => Ok(url),
        "http" => Err(format!("`{text}` must begin with `https://`, since its host is not loopback")),
        _ => Err(format!("`{text}` must begin with `https://`")),
    }
}

/// Formats an error with its sources.
struct Chain<'e>(&'e dyn std::error::Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut sources = std::iter::successors(self.0.source(), |error| error.source());
        sources.try_for_each(|source| write!(f, ": {source}"))
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secure_issuer_has_secure_keys() {
        let keys = |issuer: &str, url: &str| keys_url(&json!({ "issuer": issuer, "jwks_uri": url }), issuer);
        assert!(keys("https://as.example", "https://keys.example/jwks").is_ok());
        assert!(keys("http://127.0.0.1:9000", "http://127.0.0.1:9001/jwks").is_ok());
        let error = keys("https://as.example", "http://127.0.0.1:9200/_search").unwrap_err();
        assert_eq!(error, "has a `jwks_uri` that is not `https`, unlike its issuer");
    }
}
