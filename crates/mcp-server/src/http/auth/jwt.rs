//! JWT access tokens (RFC 9068).
//!
//! The crate `jsonwebtoken` selects its cryptography for the whole process: another crate of the same program may install
//! one without these algorithms, or enable features that make its first use panic. The checks of `typ`, of duplicate
//! members and of the purpose of a key would be here anyway.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolkit::dispatch::BoxFuture;
use toolkit_runtime::Jwt as Token;

use super::algorithm::Algorithm;
use super::claims::Expected;
use super::jwks::{Jwks, JwksError};
use super::jwt_header::Header;
use super::key_cache::Unavailable;
use super::{TokenError, Verify};
use crate::request::Caller;

/// The maximum size of a token in bytes: the size of all headers that common proxies accept.
const MAX_BYTES: usize = 16 << 10;

const LEEWAY: Duration = Duration::from_secs(60);

/// Verifies JWT access tokens of one authorization server (RFC 9068).
///
/// | part | check |
/// |---|---|
/// | signature | by a key of the issuer, with an algorithm of the list; never HMAC, and never a key of the token itself |
/// | `typ` | `at+jwt`, `JWT` or absent; see [`Jwt::at_jwt_only`] |
/// | `crit` | absent, since no extension is supported |
/// | `iss` | equal to the issuer |
/// | `aud` | contains an audience of this server |
/// | `exp` | required, in the future |
/// | `nbf`, `iat` | not in the future |
/// | `sub` | required |
/// | `scope` or `scp` | a list of scopes, or a string of scopes separated by spaces |
///
/// Members must not be repeated and must have the types that the standard defines. Times have a [leeway](Jwt::leeway)
/// of 60 s by default.
///
/// The [`Caller`] has the subject, issuer, client, scopes and all claims of the token. The subject is unique within the
/// issuer only; a host that accepts several issuers must use both.
///
/// # Examples
///
/// ```
/// # use toolkit_mcp_server::{JwksError, Server};
/// use toolkit_mcp_server::Jwt;
///
/// # fn http(server: Server) -> Result<(), JwksError> {
/// let (issuer, resource) = ("https://as.example", "https://mcp.example.com/mcp");
/// let http = server
///     .http()
///     .resource(resource, [issuer])
///     .scopes(["tools:read"])
///     .verify(Jwt::issuer(issuer)?.audience(resource));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct Jwt {
    keys: Jwks,
    algorithms: Vec<Algorithm>,
    expected: Expected,
    at_jwt_only: bool,
}

/// The issuer of a [`Jwt`], to which the audience must be added.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_server::{Jwks, Jwt};
///
/// let keys = r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
/// let issuer = Jwt::with_keys("https://as.example", Jwks::from_json(keys)?);
/// let jwt = issuer.audience("https://mcp.example.com/mcp");
/// # Ok::<(), toolkit_mcp_server::JwksError>(())
/// ```
#[derive(Debug)]
#[must_use = "tokens are verified after `audience` is set"]
pub struct JwtIssuer {
    issuer: String,
    keys: Jwks,
}

impl Jwt {
    /// Accepts tokens of an issuer, such as `https://as.example`, whose keys are found through its metadata; see
    /// [`Jwks::discover`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Jwks::discover`].
    pub fn issuer(issuer: &str) -> Result<JwtIssuer, JwksError> {
        Ok(Self::with_keys(issuer, Jwks::discover(issuer)?))
    }

    /// Accepts tokens of an issuer with these keys.
    pub fn with_keys(issuer: impl Into<String>, keys: Jwks) -> JwtIssuer {
        JwtIssuer { issuer: issuer.into(), keys }
    }

    /// Adds another audience. Use it while a server moves from one URL to another.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.expected.audiences.push(audience.into());
        self
    }

    /// Sets the accepted algorithms. Default: RS256, ES256 and EdDSA.
    ///
    /// ```
    /// # use toolkit_mcp_server::{JwksError, Jwt};
    /// use toolkit_mcp_server::Algorithm;
    ///
    /// # fn main() -> Result<(), JwksError> {
    /// let jwt = Jwt::issuer("https://as.example")?.audience("https://mcp.example.com/mcp");
    /// let jwt = jwt.algorithms([Algorithm::PS256]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Sets the tolerated clock skew between the issuer and this server. Default: 60 s.
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.expected.leeway = leeway;
        self
    }

    /// Rejects tokens that do not declare the type of access tokens, `at+jwt`. RFC 9068 requires it, but not all
    /// authorization servers set it.
    pub fn at_jwt_only(mut self) -> Self {
        self.at_jwt_only = true;
        self
    }

    async fn caller(&self, token: &str) -> Result<Caller, Invalid> {
        if token.len() > MAX_BYTES {
            return Err(Invalid::Token("the token is too long"));
        }
        let token = Token::parse(token)?;
        let header = Header::read(&token.header()?, &self.algorithms, self.at_jwt_only)?;
        let keys = self.keys.find(header.key_id.as_deref(), header.algorithm).await?;
        if !keys.iter().any(|key| key.verify(header.algorithm, token.signed.as_bytes(), &token.signature)) {
            return Err(Invalid::Token("the signature of the token is wrong, or its key is unknown"));
        }
        // Claims are read only after the signature was verified.
        let claims = token.claims()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(self.expected.check(claims, now.as_secs_f64())?)
    }
}

impl JwtIssuer {
    /// Sets the audience: the URL of this server as a protected resource, as in
    /// [`Http::resource`](crate::Http::resource).
    pub fn audience(self, audience: impl Into<String>) -> Jwt {
        Jwt {
            keys: self.keys,
            algorithms: Algorithm::DEFAULT.to_vec(),
            expected: Expected { issuer: self.issuer, audiences: vec![audience.into()], leeway: LEEWAY },
            at_jwt_only: false,
        }
    }
}

impl Verify for Jwt {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move {
            self.caller(token).await.map_err(|invalid| {
                // The response does not contain the reason, which would help to forge tokens.
                tracing::debug!(issuer = self.expected.issuer, reason = %invalid, "an access token was rejected");
                match invalid {
                    Invalid::Token(_) => TokenError::Invalid,
                    Invalid::Keys => TokenError::Unavailable,
                }
            })
        })
    }
}

/// The reason why a token was not accepted.
enum Invalid {
    Token(&'static str),
    /// The keys of the issuer are not available.
    Keys,
}

impl From<&'static str> for Invalid {
    fn from(reason: &'static str) -> Self {
        Self::Token(reason)
    }
}

impl From<Unavailable> for Invalid {
    fn from(_: Unavailable) -> Self {
        Self::Keys
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Token(reason) => reason,
            Self::Keys => "the keys of the issuer are not available",
        })
    }
}

toolkit::debug_fields!(Jwt { expected, algorithms, keys });
