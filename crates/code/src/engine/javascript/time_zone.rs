//! The time zone of the platform.

use std::sync::Once;

use rquickjs::{Context, Runtime, context::intrinsic};

/// Makes the C library read its time zone, once. QuickJS needs it for dates without a zone, even though those of programs
/// are in UTC, and a process that is confined can no longer open the file.
pub(super) fn read() {
    static READ: Once = Once::new();
    READ.call_once(|| {
        let read = Runtime::new().and_then(|runtime| {
            let context = Context::custom::<(intrinsic::Date, intrinsic::Eval)>(&runtime)?;
            context.with(|ctx| ctx.eval::<f64, _>("new Date(0).getTimezoneOffset()"))
        });
        // It fails only without memory, and then a program fails too.
        drop(read);
    });
}
