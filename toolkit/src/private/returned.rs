//! What becomes of the value that a function returns.
//!
//! Traits cannot tell a `Result` from any other type that serialises, since a `Result` serialises too. An inherent
//! item can: where the type is known, as it is in generated code, it comes before the items of traits.

use std::convert::Infallible;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;

use super::argument::Pick;
use crate::call::{Content, Structured, ToolError};
use crate::dispatch::{CHUNKS, CONTENT, STRUCTURED, STRUCTURED_WITH_CONTENT, UNFIT, UNIT};
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
/// [`Returns`](crate::dispatch::Returns).
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

/// What a tool can return as data.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a tool",
    label = "not a tool result",
    note = "a tool result implements `serde::Serialize` and `schemars::JsonSchema`, or is `()`, `Content`, \
            `Structured<T>`, `Chunks<T>` or a `Result` of these",
    note = "for your own types, add `#[derive(serde::Serialize, schemars::JsonSchema)]`"
)]
pub trait ToolOutput {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> ToolOutput for T {}

/// Reads as a sentence in rustc's "required by a bound in".
pub const fn is_tool_output<T: ToolOutput>() {}

/// Asks whether a type that is data can be written as data.
pub struct Data<T>(PhantomData<T>);

impl<T: ToolOutput> Data<T> {
    /// It can.
    pub const FITS: bool = true;
}

impl<T: ToolOutput> Data<Structured<T>> {
    /// It can.
    pub const FITS: bool = true;
}

impl<T: ToolOutput> Data<Chunks<T>> {
    /// It can.
    pub const FITS: bool = true;
}

/// The answer for types that lack a derive.
pub trait UnfitData {
    /// It cannot.
    const FITS: bool = false;
}

impl<T> UnfitData for Data<T> {}

/// The way in which a type is encoded: a stand-in where it is refused, since one error is enough.
pub const fn kind(shape: u8, fits: bool) -> u8 {
    match shape {
        STRUCTURED | STRUCTURED_WITH_CONTENT | CHUNKS if !fits => UNFIT,
        shape => shape,
    }
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

/// There is none.
pub struct Unconvertible;

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

impl Unconvertible {
    /// Refused by rustc, with the reason.
    pub fn convert<E: ToolFailure>(self, _: E) -> ToolError {
        ToolError::internal("unreachable")
    }
}

/// An error that can become a [`ToolError`]; only the refusal's wording is used.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot become a `ToolError`",
    label = "not a tool error",
    note = "implement `std::error::Error` for it: its text is then logged and masked, or shown to the model with \
            `impl toolkit::ShowError for {Self} {{}}`",
    note = "implement `From<{Self}> for ToolError` to choose what a model reads",
    note = "a boxed error is `Box<dyn std::error::Error + Send + Sync>`"
)]
pub trait ToolFailure {}
