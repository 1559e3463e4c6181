//! Tokens of requests.

use http::StatusCode;
use toolkit::call::SecretString;
use toolkit::internals::CallerToken;

use super::client::Http;
use crate::authorizer::{AuthorizationError, Authorizer};
use crate::failure::Failure;

/// The maximum number of times that a request is repeated with another token: after a renewal, and with more scopes.
const MAX_TOKENS_REPLACED: usize = 2;

impl Http {
    /// Sends a request with a token, which is that of the authorizer or was exchanged for that of the caller. If the server
    /// rejects it, repeats the request with another one.
    pub(super) async fn authorized<T, S>(
        &self,
        caller: Option<&CallerToken>,
        send: impl Fn(Option<SecretString>) -> S,
    ) -> Result<T, Failure>
    where
        S: Future<Output = Result<T, Failure>>,
    {
        let Some(authorizer) = &self.authorizer else { return send(self.token.clone()).await };
        if let Some(caller) = caller {
            return self.exchanged(&**authorizer, caller, send).await;
        }
        let mut token = authorizer.token().await.map_err(Failure::Authorization)?;
        let mut n_replaced = 0;
        loop {
            let answer = send(token.clone()).await;
            let Some(challenge) = answer.as_ref().err().and_then(challenge) else {
                if let (Ok(_), Some(token)) = (&answer, &token) {
                    authorizer.accepted(token);
                }
                return answer;
            };
            if n_replaced == MAX_TOKENS_REPLACED {
                return Err(denied("rejects each new access token"));
            }
            token = Some(authorizer.replace(token.as_ref(), &challenge).await.map_err(Failure::Authorization)?);
            n_replaced += 1;
        }
    }

    /// Sends a request with a token that was exchanged for that of the caller.
    async fn exchanged<T, S>(
        &self,
        authorizer: &dyn Authorizer,
        caller: &CallerToken,
        send: impl Fn(Option<SecretString>) -> S,
    ) -> Result<T, Failure>
    where
        S: Future<Output = Result<T, Failure>>,
    {
        let token = authorizer.exchanged(caller, None).await.map_err(Failure::Authorization)?;
        let answer = send(Some(token.clone())).await;
        match answer.as_ref().err().and_then(challenge) {
            None => return answer,
            // The authorization server has decided what the caller may do.
            Some(challenge) if challenge.contains("insufficient_scope") => {
                return Err(denied("does not allow this request to the caller"));
            }
            Some(_) => {}
        }
        let other = authorizer.exchanged(caller, Some(&token)).await.map_err(Failure::Authorization)?;
        let answer = send(Some(other)).await;
        match answer.as_ref().err().and_then(challenge) {
            Some(_) => Err(denied("rejects each access token that was exchanged for that of the caller")),
            None => answer,
        }
    }

    /// Returns the token of a request that is not repeated.
    pub(super) async fn token_for_request(&self) -> Result<Option<SecretString>, Failure> {
        match &self.authorizer {
            Some(authorizer) => authorizer.token().await.map_err(Failure::Authorization),
            None => Ok(self.token.clone()),
        }
    }
}

fn denied(message: &str) -> Failure {
    Failure::Authorization(AuthorizationError::denied(message))
}

/// Returns the challenge of a response that rejects the token, which may be empty.
fn challenge(failure: &Failure) -> Option<String> {
    match failure {
        // Another token would not help against other reasons.
        Failure::Challenge(StatusCode::FORBIDDEN, challenge) if !challenge.contains("insufficient_scope") => None,
        Failure::Challenge(_, challenge) => Some(challenge.clone()),
        Failure::Status(failure) if failure.status == StatusCode::UNAUTHORIZED => Some(String::new()),
        _ => None,
    }
}
