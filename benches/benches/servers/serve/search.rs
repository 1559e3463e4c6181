//! The least work for a call of `search`: serde, the function, and a response.

use serde::Deserialize;

use super::answer::Message;
use crate::tools::{self, Search};

#[derive(Deserialize)]
struct Params {
    arguments: Search,
}

/// Writes the response in the shortest way.
pub(super) fn answered(message: &[u8]) -> String {
    let message: Message<'_, Params> = serde_json::from_slice(message).expect("valid");
    let data = serde_json::to_string(&tools::search(message.params.arguments)).expect("hits are JSON");
    let text = serde_json::to_string(&data).expect("a text is JSON");
    let id = message.id;
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{data}}}}}"#
    )
}
