//! An API of a provider.

use std::fmt;
use std::sync::Arc;

use super::Reply;
use super::body::ReplyBody;
use super::format::{Assembled, Format};
use super::invalid_reply::InvalidReply;
#[cfg(feature = "async")]
use super::results::Turn;
use super::stream::ReplyStream;
use toolkit::catalog::ExportedNames;

/// An API of a provider, whose replies can be read and whose results can be written.
///
/// Each module of a provider has a constant for each of its APIs.
///
/// ```
/// use toolkit::catalog::ExportedNames;
/// use toolkit_providers::reply::{Api, InvalidReply, Reply};
/// use toolkit_providers::{anthropic, openai};
///
/// fn read(provider: &str, body: &[u8], names: &ExportedNames) -> Result<Reply, InvalidReply> {
///     let api: Api = if provider == "openai" { openai::RESPONSES } else { anthropic::MESSAGES };
///     api.read(body, names)
/// }
///
/// let reply = read("openai", br#"{"output": []}"#, &ExportedNames::default())?;
/// assert_eq!(reply.api().name(), "OpenAI Responses");
/// # Ok::<(), InvalidReply>(())
/// ```
#[derive(Clone, Copy)]
pub struct Api(pub(crate) &'static dyn Format);

impl Api {
    /// Returns the name, such as `Anthropic Messages`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Reads a complete reply: the body of the response, without a stream. `names` are those of the export whose tools
    /// were sent with the request.
    ///
    /// # Errors
    ///
    /// Returns an error if the JSON is not a reply of this API.
    pub fn read<'b>(self, body: impl Into<ReplyBody<'b>>, names: &ExportedNames) -> Result<Reply, InvalidReply> {
        let body = body.into().into_value();
        let body = body.map_err(|error| InvalidReply::not_json(self.name(), "the body", error))?;
        self.read_assembled(Assembled::new(body, true), names)
    }

    /// Starts to read a streamed reply.
    #[must_use]
    pub fn stream(self, names: &ExportedNames) -> ReplyStream {
        ReplyStream::new(self, names.clone())
    }

    /// Reads a reply and runs its calls. `export` is the export whose tools were sent with the request.
    ///
    /// # Errors
    ///
    /// Returns an error if the JSON is not a reply of this API. The error of a call is its result.
    #[cfg(feature = "async")]
    pub async fn respond<'b>(
        self,
        dispatcher: &toolkit::Dispatcher,
        export: &crate::Export,
        body: impl Into<ReplyBody<'b>>,
    ) -> Result<Turn, InvalidReply> {
        let reply = self.read(body, &export.names)?;
        let results = reply.run(dispatcher).await;
        Ok(Turn { reply, results })
    }

    pub(super) fn read_assembled(self, body: Assembled, names: &ExportedNames) -> Result<Reply, InvalidReply> {
        let is_complete = body.is_complete;
        let mut parsed = self.0.read(body, names)?;
        parsed.ended_early = !is_complete;
        if !is_complete || parsed.has_cut_call {
            parsed.truncate();
        }
        Ok(Reply { api: self, parsed: Arc::new(parsed), names: names.clone() })
    }
}

impl PartialEq for Api {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Api {}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Api({})", self.name())
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
