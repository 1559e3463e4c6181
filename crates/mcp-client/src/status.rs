//! The status of another server.

use std::time::Duration;

use http::StatusCode;
use http::header::{ACCEPT, AUTHORIZATION};
use serde_json::Value;
use tokio::time::timeout;
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_runtime::certificate_failure;

use super::endpoint::Endpoint;

/// The maximum size of a status in bytes.
const MAX_BYTES: usize = 16 << 20;

/// Requests the status of a server of `toolkit-mcp-server`: the JSON of `GET /status`, beside the endpoint.
///
/// The status of `http://127.0.0.1:8000/mcp` is at `http://127.0.0.1:8000/status`. The type `Status` of
/// `toolkit-mcp-server` describes the JSON.
///
/// # Errors
///
/// Returns an error if the server cannot be reached within `limit`, rejects the credentials, or has no status.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
///
/// use toolkit_mcp_client::{Endpoint, fetch_status};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let endpoint = Endpoint::new("http://127.0.0.1:8000/mcp")?.bearer(std::env::var("SERVE_TOKEN")?.into());
/// let status = fetch_status(&endpoint, Duration::from_secs(10)).await?;
/// println!("{} tools", status["tools"]);
/// # Ok(())
/// # }
/// ```
pub async fn fetch_status(endpoint: &Endpoint, limit: Duration) -> Result<Value, ToolError> {
    let unavailable = |message: &str| ToolError::new(ErrorKind::Unavailable, message);
    timeout(limit, fetched(endpoint))
        .await
        .unwrap_or_else(|_| Err(unavailable(&format!("the server did not respond within {limit:?}"))))
}

async fn fetched(endpoint: &Endpoint) -> Result<Value, ToolError> {
    let unavailable = |message: &str| ToolError::new(ErrorKind::Unavailable, message);
    let invalid = |message: &str| ToolError::new(ErrorKind::InvalidResponse, message);
    let client = endpoint.client().map_err(|error| unavailable("TLS is not available").caused_by(error))?;
    let mut url = endpoint.url.join("status").map_err(ToolError::internal)?;
    url.set_query(endpoint.url.query());
    let mut request = client.get(url).headers(endpoint.headers.clone()).header(ACCEPT, "application/json");
    if let Some(token) = &endpoint.token {
        request = request.header(AUTHORIZATION, format!("Bearer {}", token.expose()));
    }
    let mut response = request.send().await.map_err(|error| match certificate_failure(&error) {
        Some(fault) => unavailable(&format!("the server is not trusted: {fault}")),
        None => unavailable("the server cannot be reached").caused_by(error.without_url()),
    })?;
    match response.status() {
        StatusCode::OK => {}
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            let message = "the server requires a valid token";
            return Err(ToolError::new(ErrorKind::Unauthorized, message));
        }
        StatusCode::NOT_FOUND => return Err(invalid("the server has no status")),
        status => return Err(unavailable(&format!("the server responded with status {status}"))),
    }
    let mut body = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|error| unavailable("the connection was lost").caused_by(error.without_url()))?
    {
        if body.len() + chunk.len() > MAX_BYTES {
            return Err(invalid(&format!("the status is larger than {MAX_BYTES} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    serde_json::from_slice(&body).map_err(|error| invalid("the status is not JSON").caused_by(error))
}
