//! The contexts of the calls of programs.

use toolkit::Context;

use crate::credentials;

/// Returns a context in which each call has the credentials that its tool requires, from the environment.
pub(super) fn with_credentials(context: Context) -> Context {
    context
        .nested_with(|tool, context| Ok(context.with_credentials(credentials::from_environment(tool.requirements()))))
}
