//! Conversions from and to the types of `async-openai`.

use std::fmt;

use async_openai::types::chat::{ChatCompletionRequestMessage, CreateChatCompletionResponse};
use async_openai::types::responses::{InputItem, Response};
use serde::de::DeserializeOwned;

use crate::reply::{ReplyBody, Turn, Unanswered};

/// The error of a [`Turn`] that cannot be converted to messages of `async-openai`.
#[derive(Debug)]
#[non_exhaustive]
pub enum BridgeError {
    /// A call that only the host can make has no result.
    Unanswered(Unanswered),
    /// The types of `async-openai` do not cover a message, such as a field that is newer than they are.
    Json(serde_json::Error),
}

impl fmt::Display for BridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unanswered(error) => error.fmt(f),
            Self::Json(error) => write!(f, "a message does not fit the types of async-openai: {error}"),
        }
    }
}

impl std::error::Error for BridgeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unanswered(error) => Some(error),
            Self::Json(error) => Some(error),
        }
    }
}

impl TryFrom<&Response> for ReplyBody<'_> {
    type Error = serde_json::Error;

    fn try_from(response: &Response) -> Result<Self, Self::Error> {
        serde_json::to_value(response).map(Self::Value)
    }
}

impl TryFrom<&CreateChatCompletionResponse> for ReplyBody<'_> {
    type Error = serde_json::Error;

    fn try_from(response: &CreateChatCompletionResponse) -> Result<Self, Self::Error> {
        serde_json::to_value(response).map(Self::Value)
    }
}

impl TryFrom<&Turn> for Vec<InputItem> {
    type Error = BridgeError;

    fn try_from(turn: &Turn) -> Result<Self, Self::Error> {
        messages(turn)
    }
}

impl TryFrom<&Turn> for Vec<ChatCompletionRequestMessage> {
    type Error = BridgeError;

    fn try_from(turn: &Turn) -> Result<Self, Self::Error> {
        messages(turn)
    }
}

fn messages<T: DeserializeOwned>(turn: &Turn) -> Result<Vec<T>, BridgeError> {
    let messages = turn.messages().map_err(BridgeError::Unanswered)?;
    messages.into_iter().map(|message| serde_json::from_value(message).map_err(BridgeError::Json)).collect()
}
