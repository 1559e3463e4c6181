//! The context of the calls of a program.

use toolkit::Context;

/// Marks the context of calls that a program makes, so that a program cannot run another one.
struct InProgram;

/// Returns the context for the calls of a program. Their progress is that of the run.
pub(crate) fn nested(context: &Context) -> Context {
    context.clone().with(InProgram).on_progress(|_| {})
}

/// Returns true if a program made the call with this context.
pub(crate) fn is_nested(context: &Context) -> bool {
    context.get::<InProgram>().is_some()
}
