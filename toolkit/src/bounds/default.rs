//! Defaults of arguments.

use std::borrow::Cow;
use std::path::PathBuf;

/// A value that `#[arg(default = …)]` accepts for an argument of type `T`: a `T`, a string literal if `T` owns text,
/// or the content of an `Option`.
///
/// # Examples
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Lists files.
/// #[tool]
/// fn list(#[arg(default = ".")] folder: String, #[arg(default = 10)] limit: Option<u32>) -> String {
///     format!("{folder} {limit:?}")
/// }
///
/// let dispatcher = Dispatcher::new(catalog![list]?)?;
/// assert_eq!(dispatcher.call_sync("list", "{}")?.value(), ". Some(10)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the default of this argument must be a `{T}`",
    label = "expected `{T}`, found `{Self}`"
)]
pub trait ArgumentDefault<T> {
    /// Converts the value into the type of the argument.
    fn into_default(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T> ArgumentDefault<T> for T {
    fn into_default(self) -> T {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T> ArgumentDefault<Option<T>> for T {
    fn into_default(self) -> Option<T> {
        Some(self)
    }
}

macro_rules! text_defaults {
    ($($ty:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl ArgumentDefault<$ty> for &'static str {
            fn into_default(self) -> $ty {
                self.into()
            }
        }

        #[diagnostic::do_not_recommend]
        impl ArgumentDefault<Option<$ty>> for &'static str {
            fn into_default(self) -> Option<$ty> {
                Some(self.into())
            }
        }
    )*};
}

text_defaults!(String, Box<str>, Cow<'static, str>, PathBuf);
