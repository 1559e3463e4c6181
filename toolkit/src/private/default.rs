//! Defaults of arguments, as their author wrote them.

use std::borrow::Cow;
use std::path::PathBuf;

/// What can be written as the default of an argument of type `T`: a `T`, and a literal where `T` owns text or is an
/// `Option`.
#[diagnostic::on_unimplemented(
    message = "the default of this argument must be a `{T}`",
    label = "expected `{T}`, found `{Self}`"
)]
pub trait IntoDefault<T> {
    /// The value.
    fn into_default(self) -> T;
}

impl<T> IntoDefault<T> for T {
    fn into_default(self) -> T {
        self
    }
}

impl<T> IntoDefault<Option<T>> for T {
    fn into_default(self) -> Option<T> {
        Some(self)
    }
}

macro_rules! text_defaults {
    ($($ty:ty),*) => {$(
        impl IntoDefault<$ty> for &'static str {
            fn into_default(self) -> $ty {
                self.into()
            }
        }

        impl IntoDefault<Option<$ty>> for &'static str {
            fn into_default(self) -> Option<$ty> {
                Some(self.into())
            }
        }
    )*};
}

text_defaults!(String, Box<str>, Cow<'static, str>, PathBuf);

/// The default as the type of its argument.
pub fn default_of<T, V: IntoDefault<T>>(value: V) -> T {
    value.into_default()
}
