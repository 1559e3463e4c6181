//! Authorization of the MCP server: access tokens, the keys of their issuer, and scopes.
//!
//! Each rejected token has a counterpart that is accepted: the same token by a verifier without the check, or the same
//! token without the defect. A test that rejects everything would fail.

mod issuer;
mod keys;
mod scopes;
pub mod signer;
mod tokens;

use serde_json::{Value, json};
use toolkit_mcp_server::{Caller, Jwks, Jwt, TokenError, Verify};

use self::signer::Signer;

const ISSUER: &str = "https://as.example";
const AUDIENCE: &str = "https://mcp.example.com/mcp";

/// Returns the time in seconds since 1970.
fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

/// Returns the claims of a valid token.
fn claims() -> Value {
    json!({
        "iss": ISSUER,
        "aud": AUDIENCE,
        "exp": now() + 300,
        "iat": now(),
        "sub": "ada",
        "client_id": "app",
        "jti": "1",
        "scope": "files:read files:write",
    })
}

fn key_set<'s>(signers: impl IntoIterator<Item = &'s Signer>) -> Value {
    json!({ "keys": signers.into_iter().map(Signer::jwk).collect::<Vec<_>>() })
}

fn jwks<'s>(signers: impl IntoIterator<Item = &'s Signer>) -> Jwks {
    Jwks::from_json(&key_set(signers).to_string()).unwrap()
}

fn jwt<'s>(signers: impl IntoIterator<Item = &'s Signer>) -> Jwt {
    Jwt::with_keys(ISSUER, jwks(signers)).audience(AUDIENCE)
}

fn verify(jwt: &Jwt, token: &str) -> Result<Caller, TokenError> {
    // Keys that are not fetched need no runtime.
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(jwt.verify(token))
}
