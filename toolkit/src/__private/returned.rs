//! What becomes of the value that a function returns.
//!
//! Traits cannot tell a `Result` from any other type that serialises, since a `Result` serialises too. An inherent
//! item can: where the type is known, as it is in generated code, it comes before the items of traits.

use std::convert::Infallible;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;

use super::argument::{FITS, Pick};
use crate::bounds::Unconvertible;
use crate::call::{Content, Structured, ToolError};
use crate::dispatch::encode::{CHUNKS, CONTENT, STRUCTURED, STRUCTURED_WITH_CONTENT, UNFIT, UNIT};
use crate::stream::Chunks;

/// A value that a function returned.
pub struct Returned<R>(pub R);

impl<T, E> Returned<Result<T, E>> {
    /// It may be an error.
    pub const FALLIBLE: bool = true;

    /// The value, or the error.
    pub fn split(self) -> Result<T, E> {
        self.0
    }
}

/// For every type that is no `Result`.
pub trait Plain<R>: Sized {
    /// It is no error.
    const FALLIBLE: bool = false;

    /// The value.
    fn split(self) -> Result<R, Infallible>;
}

impl<R> Plain<R> for Returned<R> {
    fn split(self) -> Result<R, Infallible> {
        Ok(self.0)
    }
}

/// What a function returns when it succeeds.
pub trait Succeeds<R> {
    /// That type.
    type Output;
}

impl<R> Succeeds<R> for Pick<false> {
    type Output = R;
}

impl<T, E> Succeeds<Result<T, E>> for Pick<true> {
    type Output = T;
}

/// Asks how a value becomes a result: `Shape::<T>::KIND` is one of the constants beside
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

/// The answer for all other types.
pub trait PlainShape {
    /// It is data.
    const KIND: u8 = STRUCTURED;
}

impl<T> PlainShape for Shape<T> {}

/// Asks what a type that is data lacks.
pub struct Data<T>(PhantomData<T>);

impl<T: Serialize> Data<T> {
    /// It can be written.
    pub const IS_WRITTEN: bool = true;
}

impl<T: Serialize> Data<Structured<T>> {
    /// It can be written.
    pub const IS_WRITTEN: bool = true;
}

impl<T: Serialize> Data<Chunks<T>> {
    /// It can be written.
    pub const IS_WRITTEN: bool = true;
}

impl<T: JsonSchema> Data<T> {
    /// It has a schema.
    pub const IS_DESCRIBED: bool = true;
}

impl<T: JsonSchema> Data<Structured<T>> {
    /// It has a schema.
    pub const IS_DESCRIBED: bool = true;
}

impl<T: JsonSchema> Data<Chunks<T>> {
    /// It has a schema.
    pub const IS_DESCRIBED: bool = true;
}

/// The answers for types that lack a derive.
pub trait UnfitData {
    /// It cannot be written.
    const IS_WRITTEN: bool = false;
    /// It has no schema.
    const IS_DESCRIBED: bool = false;
}

impl<T> UnfitData for Data<T> {}

/// Whether values of that shape are checked and written as data.
pub const fn is_data(shape: u8) -> bool {
    matches!(shape, STRUCTURED | STRUCTURED_WITH_CONTENT | CHUNKS)
}

/// The way in which a type is encoded: a stand-in where it is refused, since one error is enough.
pub const fn kind(shape: u8, case: u8) -> u8 {
    if case == FITS { shape } else { UNFIT }
}

/// Asks how an error becomes a [`ToolError`].
///
/// `(&&&ErrorOf::new(&error)).convert_by()` finds, in this order: the author's own conversion, whose text a model may
/// read; a conversion to a boxed error, whose text is masked; a message that says what is missing.
pub struct ErrorOf<E>(PhantomData<E>);

impl<E> ErrorOf<E> {
    /// For the type of `error`.
    pub const fn new(_: &E) -> Self {
        Self(PhantomData)
    }
}

/// By the author's own conversion.
pub struct Shown;

/// By a conversion that masks the text.
pub struct Masked;

/// First choice.
pub trait Convert {
    /// How.
    fn convert_by(&self) -> Shown;
}

impl<E: Into<ToolError>> Convert for &&ErrorOf<E> {
    fn convert_by(&self) -> Shown {
        Shown
    }
}

/// Second choice.
pub trait Failing {
    /// How.
    fn convert_by(&self) -> Masked;
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> Failing for &ErrorOf<E> {
    fn convert_by(&self) -> Masked {
        Masked
    }
}

impl<E> ErrorOf<E> {
    /// Last choice.
    pub fn convert_by(&self) -> Unconvertible {
        Unconvertible
    }
}

impl Shown {
    /// Converts.
    pub fn convert<E: Into<ToolError>>(self, error: E) -> ToolError {
        error.into()
    }
}

impl Masked {
    /// Converts.
    pub fn convert<E: Into<Box<dyn std::error::Error + Send + Sync>>>(self, error: E) -> ToolError {
        ToolError::masked(error)
    }
}
