//! One call: what comes in, what goes along, what comes out.

mod arguments;
mod cancel;
mod coerce;
mod content;
mod context;
mod credentials;
mod error;
pub(crate) mod exact;
pub(crate) mod json;
mod kind;
mod result;
mod secret;
pub(crate) mod tree;
pub(crate) mod unwind;

pub use self::arguments::Arguments;
pub use self::cancel::CancelToken;
pub use self::coerce::{Change, Coercion};
pub(crate) use self::coerce::{admit, refusal, without_absent};
pub use self::content::{Content, Structured};
pub use self::context::{Context, Progress};
pub use self::credentials::Credentials;
pub use self::error::{ShowError, ToolError};
pub(crate) use self::json::is_too_deep;
pub use self::kind::{ErrorKind, Stage};
pub use self::result::RunResult;
pub use self::secret::SecretString;
