//! Tokens of requests.

use http::StatusCode;
use toolkit::call::{ErrorKind, SecretString};

use super::client::Http;
use crate::authorizer::AuthorizationError;
use crate::failure::Failure;

/// The maximum number of times that a request is repeated with another token: after a renewal, and with more scopes.
const MAX_TOKENS_REPLACED: usize = 2;

impl Http {
    /// Sends a request with a token. If the server rejects that of the authorizer, repeats the request with another one.
    pub(super) async fn authorized<T, S>(&self, send: impl Fn(Option<SecretString>) -> S) -> Result<T, Failure>
    where
        S: Future<Output = Result<T, Failure>>,
    {
        let Some(authorizer) = &self.authorizer else { return send(self.token.clone()).await };
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
                return Err(Failure::Authorization(AuthorizationError {
                    kind: ErrorKind::Denied,
                    message: "rejects each new access token".to_owned(),
                    cause: None,
                    retry_after: None,
                }));
            }
            token = Some(authorizer.replace(token.as_ref(), &challenge).await.map_err(Failure::Authorization)?);
            n_replaced += 1;
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
