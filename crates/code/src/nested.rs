//! The context of the calls of a program.

use toolkit::Context;
use toolkit::call::ask::Asker;

/// Marks the context of calls that a program makes, so that a program cannot run another one.
struct InProgram;

/// Returns the context for the calls of a program, with their asker. Their progress is that of the run.
pub(crate) fn nested(context: &Context, asker: impl Asker + 'static) -> Context {
    context.clone().with(InProgram).on_progress(|_| {}).with_asker(asker)
}

/// Returns true if a program made the call with this context.
pub(crate) fn is_nested(context: &Context) -> bool {
    context.get::<InProgram>().is_some()
}
