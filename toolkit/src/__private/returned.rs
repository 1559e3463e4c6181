//! Classification of the value that a function returns.
//!
//! A trait cannot distinguish a `Result` from any other serializable type, because `Result`
//! implements `Serialize` too. An inherent item can: in generated code the type is known, and
//! inherent items take precedence over trait items.

use std::convert::Infallible;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;

use super::argument::Pick;
use crate::bounds::Unconvertible;
use crate::call::{Content, Structured, ToolError};
use crate::dispatch::encode::{CHUNKS, CONTENT, STRUCTURED, STRUCTURED_WITH_CONTENT, UNIT};
use crate::prompt::PromptResult;
use crate::stream::Chunks;

type DynError = dyn std::error::Error + Send + Sync;

/// A value that a function returned.
pub struct Returned<R>(pub R);

impl<T, E> Returned<Result<T, E>> {
    /// True: the value may be an error.
    pub const FALLIBLE: bool = true;

    /// Returns the value or the error.
    pub fn split(self) -> Result<T, E> {
        self.0
    }
}

/// The default for types other than `Result`.
pub trait Plain<R>: Sized {
    /// False: the value is never an error.
    const FALLIBLE: bool = false;

    /// Returns the value.
    fn split(self) -> Result<R, Infallible>;
}

impl<R> Plain<R> for Returned<R> {
    fn split(self) -> Result<R, Infallible> {
        Ok(self.0)
    }
}

/// The type that a function returns on success.
pub trait Succeeds<R> {
    /// The success type.
    type Output;
}

impl<R> Succeeds<R> for Pick<false> {
    type Output = R;
}

impl<T, E> Succeeds<Result<T, E>> for Pick<true> {
    type Output = T;
}

/// A probe for the encoding of a result: `Shape::<T>::KIND` is one of the constants beside
/// [`Returns`](crate::dispatch::encode::Returns).
pub struct Shape<T>(PhantomData<T>);

impl Shape<()> {
    pub const KIND: u8 = UNIT;
}

impl Shape<Content> {
    pub const KIND: u8 = CONTENT;
}

impl Shape<Vec<Content>> {
    pub const KIND: u8 = CONTENT;
}

impl<T> Shape<Chunks<T>> {
    pub const KIND: u8 = CHUNKS;
}

impl<T> Shape<Structured<T>> {
    pub const KIND: u8 = STRUCTURED_WITH_CONTENT;
}

/// The default for all other types.
pub trait PlainShape {
    /// The value is serialized as data.
    const KIND: u8 = STRUCTURED;
}

impl<T> PlainShape for Shape<T> {}

/// A probe of the traits that a data type implements.
pub struct Data<T>(PhantomData<T>);

impl<T: Serialize> Data<T> {
    /// True if the type can be serialized.
    pub const IS_WRITTEN: bool = true;
}

impl<T: Serialize> Data<Structured<T>> {
    /// True if the type can be serialized.
    pub const IS_WRITTEN: bool = true;
}

impl<T: Serialize> Data<Chunks<T>> {
    /// True if the type can be serialized.
    pub const IS_WRITTEN: bool = true;
}

impl<T: JsonSchema> Data<T> {
    /// True if the type has a schema.
    pub const IS_DESCRIBED: bool = true;
}

impl<T: JsonSchema> Data<Structured<T>> {
    /// True if the type has a schema.
    pub const IS_DESCRIBED: bool = true;
}

impl<T: JsonSchema> Data<Chunks<T>> {
    /// True if the type has a schema.
    pub const IS_DESCRIBED: bool = true;
}

impl<T: PromptResult> Data<T> {
    /// True if a prompt may return the type.
    pub const IS_PROMPT: bool = true;
}

/// The defaults for types that lack a derive.
pub trait UnfitData {
    /// False: a prompt may not return the type.
    const IS_PROMPT: bool = false;
    /// False: the type cannot be serialized.
    const IS_WRITTEN: bool = false;
    /// False: the type has no schema.
    const IS_DESCRIBED: bool = false;
}

impl<T> UnfitData for Data<T> {}

/// Returns true if values of this shape are validated and serialized as data.
pub const fn is_data(shape: u8) -> bool {
    matches!(shape, STRUCTURED | STRUCTURED_WITH_CONTENT | CHUNKS)
}

/// A probe for the conversion of an error into a [`ToolError`].
///
/// `(&&&&ErrorOf::new(&error)).convert_by()` selects, in this order: the author's own conversion, whose
/// text is shown to the model; a conversion to a boxed error, whose text is masked, of a type that
/// contains an error or of an error; a compile error that names what is missing.
pub struct ErrorOf<E>(PhantomData<E>);

impl<E> ErrorOf<E> {
    /// Creates the probe for the type of `error`.
    pub const fn new(_: &E) -> Self {
        Self(PhantomData)
    }
}

/// The author's own conversion.
pub struct Shown;

/// A conversion that masks the text.
pub struct Masked;

/// A conversion of a type that contains an error, such as `anyhow::Error`, that masks the text.
pub struct MaskedInside;

/// The first choice: `Into<ToolError>`.
pub trait Convert {
    /// Selects the conversion.
    fn convert_by(&self) -> Shown;
}

impl<E: Into<ToolError>> Convert for &&&ErrorOf<E> {
    fn convert_by(&self) -> Shown {
        Shown
    }
}

/// The second choice: a type that contains an error.
pub trait Wrapping {
    /// Selects the conversion.
    fn convert_by(&self) -> MaskedInside;
}

impl<E: AsRef<DynError> + Into<Box<DynError>>> Wrapping for &&ErrorOf<E> {
    fn convert_by(&self) -> MaskedInside {
        MaskedInside
    }
}

/// The third choice: a boxed error.
pub trait Failing {
    /// Selects the conversion.
    fn convert_by(&self) -> Masked;
}

impl<E: Into<Box<DynError>>> Failing for &ErrorOf<E> {
    fn convert_by(&self) -> Masked {
        Masked
    }
}

impl<E> ErrorOf<E> {
    /// Selects the last choice, which rustc rejects with a message.
    pub fn convert_by(&self) -> Unconvertible {
        Unconvertible
    }
}

impl Shown {
    /// Converts the error.
    pub fn convert<E: Into<ToolError>>(self, error: E) -> ToolError {
        error.into()
    }
}

impl MaskedInside {
    /// Converts the error inside and masks its text.
    pub fn convert<E: AsRef<DynError> + Into<Box<DynError>>>(self, error: E) -> ToolError {
        ToolError::masked_inside(error)
    }
}

impl Masked {
    /// Converts the error and masks its text.
    pub fn convert<E: Into<Box<DynError>>>(self, error: E) -> ToolError {
        ToolError::masked(error)
    }
}
