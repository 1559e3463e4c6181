//! A request for an HTTP client.

use std::fmt;

use serde_json::Value;

use super::apis::RequestFormat;

/// An HTTP request, which any client can send.
///
/// ```
/// use toolkit_providers::openai::RESPONSES;
/// use toolkit_providers::request::Request;
///
/// let request = Request::new(RESPONSES, "gpt").user("Hi!").build()?.with_key("sk-…");
/// assert_eq!(request.url, "https://api.openai.com/v1/responses");
/// assert_eq!(request.headers[1], ("authorization", "Bearer sk-…".to_owned()));
/// // Neither the key nor the messages are in a log.
/// assert_eq!(format!("{request:?}"), "HttpRequest(POST https://api.openai.com/v1/responses)");
/// # Ok::<(), toolkit_providers::request::RequestError>(())
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The method.
    pub method: &'static str,
    /// The URL.
    pub url: String,
    /// The headers, with names in lowercase.
    pub headers: Vec<(&'static str, String)>,
    /// The body, which is sent as JSON text.
    pub body: Value,
    key_header: (&'static str, &'static str),
}

impl HttpRequest {
    pub(super) fn new(url: String, format: &RequestFormat, body: Value) -> Self {
        let mut headers = vec![("content-type", "application/json".to_owned())];
        headers.extend(format.headers.iter().map(|(name, value)| (*name, (*value).to_owned())));
        Self { method: "POST", url, headers, body, key_header: format.key_header }
    }

    /// Adds the header with the key. [`Api::key_variable`](crate::reply::Api::key_variable) is the environment variable in
    /// which the programs of the provider look for it.
    #[must_use]
    pub fn with_key(mut self, key: &str) -> Self {
        let (name, prefix) = self.key_header;
        self.headers.push((name, format!("{prefix}{key}")));
        self
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpRequest({} {})", self.method, self.url)
    }
}

/// Escapes the name of a model for a segment of a path. Those of Bedrock may contain slashes.
pub(super) fn escape(model: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    model
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
