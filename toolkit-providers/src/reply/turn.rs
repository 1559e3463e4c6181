//! A reply together with the results of its calls.

use serde_json::Value;

use super::Reply;
use super::results::{ToolResults, Unanswered};

/// A reply together with the results of its calls.
///
/// ```
/// use serde_json::{Value, json};
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit::catalog::Naming;
/// use toolkit_providers::openai::{Options, respond, tools};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(Catalog::new([])?)?;
/// let export = tools(dispatcher.catalog(), Naming::default(), Options::responses())?;
/// let mut input: Vec<Value> = vec![json!({ "role": "user", "content": "Hello?" })];
///
/// let text = json!({ "type": "output_text", "text": "Hello!" });
/// let body = json!({ "output": [{ "type": "message", "role": "assistant", "content": [text] }] });
/// let turn = respond(&dispatcher, &export, &body).await?;
/// input.extend(turn.messages()?);
/// assert!(turn.is_final());
/// assert_eq!((turn.reply.text(), input.len()), ("Hello!", 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Turn {
    /// The reply.
    pub reply: Reply,
    /// The results of its calls.
    pub results: ToolResults,
}

impl Turn {
    /// Returns the messages to append to the next request: the reply, and the results of its calls.
    ///
    /// # Errors
    ///
    /// Returns an error if a call that only the host can make has no result.
    pub fn messages(&self) -> Result<Vec<Value>, Unanswered> {
        let mut messages = self.reply.messages().to_vec();
        messages.extend(self.results.messages()?);
        Ok(messages)
    }

    /// Returns true if the model waits for no results: its text is the answer, unless its
    /// [stop reason](Reply::stop_reason) gives another reason.
    #[must_use]
    pub fn is_final(&self) -> bool {
        !self.reply.needs_results()
    }
}

#[cfg(feature = "async")]
impl super::Api {
    /// Reads a reply and runs its calls. `export` is the export whose tools were sent with the request.
    ///
    /// # Errors
    ///
    /// Returns an error if the JSON is not a reply of this API. The error of a call is its result.
    pub async fn respond<'b>(
        self,
        dispatcher: &toolkit::Dispatcher,
        export: &crate::Export,
        body: impl Into<super::ReplyBody<'b>>,
    ) -> Result<Turn, super::InvalidReply> {
        let reply = self.read(body, &export.names)?;
        let results = reply.run(dispatcher).await;
        Ok(Turn { reply, results })
    }
}
