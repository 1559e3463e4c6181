//! The parts of a call: arguments, context, result and error.

mod cancel;
mod coerce;
mod content;
mod context;
mod credentials;
mod decode;
mod error;
pub(crate) mod exact;
mod future;
mod kind;
mod output;
pub(crate) mod permit;
mod read;
mod result;
mod secret;
#[cfg(feature = "async")]
pub(crate) mod timer;
pub(crate) mod unwind;
mod unwritable;
mod whole;

pub use self::cancel::CancelToken;
pub(crate) use self::coerce::validated_arguments;
#[doc(hidden)]
pub use self::coerce::without_absent;
pub use self::coerce::{Change, Coercion};
pub use self::content::{Content, Structured};
pub use self::context::{Context, Progress};
pub use self::credentials::Credentials;
pub(crate) use self::decode::{decode_tree, typed_arguments};
pub use self::error::{ShowError, ToolError};
pub use self::future::BoxFuture;
pub use self::kind::{ErrorKind, Stage};
pub(crate) use self::output::{check_output, check_output_tree, check_value, not_json};
pub use self::result::RunResult;
pub use self::secret::SecretString;
pub use crate::arguments::Arguments;
