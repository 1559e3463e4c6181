//! The least work for a call of `add`: serde, the sum, and a response.

use serde::Deserialize;
use serde_json::value::RawValue;

/// A request, as far as its call needs it.
#[derive(Deserialize)]
pub(crate) struct Message<'m, P> {
    #[serde(borrow)]
    pub(crate) id: &'m RawValue,
    pub(crate) params: P,
}

#[derive(Deserialize)]
struct Params {
    arguments: Terms,
}

#[derive(Deserialize)]
struct Terms {
    a: i64,
    b: i64,
}

/// Writes the response in the shortest way.
pub(crate) fn answered(message: &[u8]) -> String {
    let message: Message<'_, Params> = serde_json::from_slice(message).expect("valid");
    let Terms { a, b } = message.params.arguments;
    let (id, sum) = (message.id, a + b);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{{\"sum\":{sum}}}"}}],"structuredContent":{{"sum":{sum}}}}}}}"#
    )
}
