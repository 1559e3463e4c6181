//! The claims of a JWT.

use std::time::Duration;

use serde_json::{Map, Value};
use toolkit_runtime::{check_times, one_or_several};

use crate::request::Caller;

/// The claims that a token must have.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) issuer: String,
    pub(super) audiences: Vec<String>,
    pub(super) leeway: Duration,
}

impl Expected {
    /// Checks the claims of a token at `now`, in seconds since 1970, and returns its caller.
    ///
    /// # Errors
    ///
    /// Returns the rule that the claims violate.
    pub(super) fn check(&self, claims: Map<String, Value>, now: f64) -> Result<Caller, &'static str> {
        if claims.get("iss").and_then(Value::as_str) != Some(&self.issuer) {
            return Err("the token is from another issuer (`iss`)");
        }
        let audiences =
            claims.get("aud").and_then(one_or_several).ok_or("the audience of the token (`aud`) is missing")?;
        if !audiences.iter().any(|audience| self.audiences.iter().any(|own| own == audience)) {
            return Err("the token is for another audience (`aud`)");
        }
        check_times(&claims, now, self.leeway.as_secs_f64())?;
        let text = |name: &str| match claims.get(name) {
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err("`sub`, `client_id` and `azp` must be strings"),
            None => Ok(None),
        };
        let subject =
            text("sub")?.filter(|subject| !subject.is_empty()).ok_or("the subject of the token (`sub`) is missing")?;
        // The name of the claim in OpenID Connect, which many servers use in access tokens too.
        let client = text("client_id")?.or(text("azp")?);
        let mut caller = Caller::named(subject).with_issuer(&*self.issuer);
        if let Some(client) = client {
            caller = caller.with_client_id(client);
        }
        Ok(caller.with_scopes(scopes(&claims)?).with_claims(claims))
    }
}

/// Returns the granted scopes: `scope`, or `scp` as some servers call it.
pub(super) fn scopes(claims: &Map<String, Value>) -> Result<Vec<String>, &'static str> {
    let Some(granted) = claims.get("scope").or_else(|| claims.get("scp")) else {
        return Ok(Vec::new());
    };
    let granted = one_or_several(granted).ok_or("the scopes of the token must be a string or a list of strings")?;
    Ok(granted.into_iter().flat_map(str::split_ascii_whitespace).map(str::to_owned).collect())
}
