//! What becomes of owned parameters.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::one::{Named, One};
use super::sole::{self, Sole};
use crate::schema;

/// What can come from a caller's JSON.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument",
    label = "not a tool argument",
    note = "a tool argument implements `serde::Deserialize` and `schemars::JsonSchema`, and is `Send`",
    note = "what the host lends, such as `Context`, is borrowed: write `&{Self}`",
    note = "for your own types, add `#[derive(serde::Deserialize, schemars::JsonSchema)]`"
)]
pub trait ToolArgument: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> ToolArgument for T {}

/// Reads as a sentence in rustc's "required by a bound in".
pub const fn is_tool_argument<T: ToolArgument>() {}

/// Reads as a sentence in rustc's "required by a bound in".
pub const fn is_owned<const BORROWS: bool, T>()
where
    Pick<BORROWS>: Owned<T>,
{
}

/// Implemented where nothing is borrowed; only the wording of the refusal is used.
#[diagnostic::on_unimplemented(
    message = "`{T}` borrows; tool arguments are decoded from JSON, so they must be owned",
    label = "borrowed"
)]
pub trait Owned<T> {}

impl<T> Owned<T> for Pick<false> {}

/// Asks rustc about a type without failing: each constant is inherent where the answer is yes, and else comes from
/// [`Unfit`] or [`Owns`].
pub struct Candidate<T: ?Sized>(PhantomData<T>);

impl<T: ToolArgument> Candidate<T> {
    /// It can be a tool argument.
    pub const FITS: bool = true;
}

impl<T: ?Sized> Candidate<&T> {
    /// It is a reference, whatever its alias says.
    pub const BORROWS: bool = true;
}

/// The answer for types that lack a derive.
pub trait Unfit {
    /// It cannot be a tool argument.
    const FITS: bool = false;
}

impl<T: ?Sized> Unfit for Candidate<T> {}

/// The answer for types that are no references.
pub trait Owns {
    /// It is no reference.
    const BORROWS: bool = false;
}

impl<T: ?Sized> Owns for Candidate<T> {}

/// A type or, where that is refused, a stand-in: one error is enough, and the derives would add their own for the same
/// type.
pub trait OrStandIn<T> {
    /// The type, or the stand-in.
    type Type;

    /// The value.
    fn take(value: Self::Type) -> T;

    /// The type's value, made only where the type is not refused.
    fn put(value: impl FnOnce() -> T) -> Self::Type;
}

impl<T> OrStandIn<T> for Pick<true> {
    type Type = T;

    fn take(value: T) -> T {
        value
    }

    fn put(value: impl FnOnce() -> T) -> T {
        value()
    }
}

impl<T> OrStandIn<T> for Pick<false> {
    type Type = NoArguments;

    fn take(_: NoArguments) -> T {
        unreachable!("rustc has refused the type")
    }

    fn put(_: impl FnOnce() -> T) -> NoArguments {
        NoArguments {}
    }
}

/// Asks whether a lone owned parameter of type `T` may be the argument struct.
///
/// `Lone::<T>::IS_STRUCT` finds an inherent constant for the types below, which are one argument each, and else the
/// constant of [`ArgumentStruct`]. The compiler decides by the type, so an alias does not change the answer. Of other
/// types the schema decides ([`Sole`]); those below need no code for it.
pub struct Lone<T: ?Sized>(PhantomData<T>);

/// The answer for all other types.
pub trait ArgumentStruct {
    /// The fields of the type are the tool's arguments, if its schema has any.
    const IS_STRUCT: bool = true;
}

impl<T: ?Sized> ArgumentStruct for Lone<T> {}

macro_rules! one_argument {
    ($($ty:ty),* $(,)?) => {$(
        impl Lone<$ty> {
            pub const IS_STRUCT: bool = false;
        }
        impl Lone<Box<$ty>> {
            pub const IS_STRUCT: bool = false;
        }
    )*};
}

macro_rules! one_generic_argument {
    ($(<$($param:ident),*> $ty:ty),* $(,)?) => {$(
        impl<$($param),*> Lone<$ty> {
            pub const IS_STRUCT: bool = false;
        }
        impl<$($param),*> Lone<Box<$ty>> {
            pub const IS_STRUCT: bool = false;
        }
    )*};
}

one_argument!(
    bool, char, String, (), i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64,
    serde_json::Value, serde_json::Number, serde_json::Map<String, serde_json::Value>, std::path::PathBuf,
    std::time::Duration, std::time::SystemTime, std::net::IpAddr, std::net::Ipv4Addr, std::net::Ipv6Addr,
    std::num::NonZeroI8, std::num::NonZeroI16, std::num::NonZeroI32, std::num::NonZeroI64, std::num::NonZeroIsize,
    std::num::NonZeroU8, std::num::NonZeroU16, std::num::NonZeroU32, std::num::NonZeroU64, std::num::NonZeroUsize,
);

one_generic_argument!(
    <T> Vec<T>, <T> VecDeque<T>, <T> LinkedList<T>, <T> Option<T>, <T> BTreeSet<T>, <T, S> HashSet<T, S>,
    <K, V> BTreeMap<K, V>, <K, V, S> HashMap<K, V, S>, <T, E> Result<T, E>,
    <T> std::ops::Range<T>, <T> std::ops::RangeInclusive<T>, <T> std::num::Wrapping<T>,
    <A> (A,), <A, B> (A, B), <A, B, C> (A, B, C), <A, B, C, D> (A, B, C, D),
    <A, B, C, D, E> (A, B, C, D, E), <A, B, C, D, E, F> (A, B, C, D, E, F),
    <A, B, C, D, E, F, G> (A, B, C, D, E, F, G), <A, B, C, D, E, F, G, H> (A, B, C, D, E, F, G, H),
);

impl<T: ?Sized + ToOwned> Lone<std::borrow::Cow<'static, T>> {
    pub const IS_STRUCT: bool = false;
}

impl Lone<Box<str>> {
    pub const IS_STRUCT: bool = false;
}

impl<T> Lone<Box<[T]>> {
    pub const IS_STRUCT: bool = false;
}

impl<T, const N: usize> Lone<[T; N]> {
    pub const IS_STRUCT: bool = false;
}

/// Refuses, while compiling, an attribute that would do nothing.
#[track_caller]
pub const fn has_no_fields(is_struct: bool) {
    assert!(
        !is_struct,
        "the fields of an argument struct have attributes of their own; to pass this argument under its own name, \
         mark it `#[arg]`"
    );
}

/// A choice by a constant.
pub struct Pick<const CHOICE: bool>;

impl<const CHOICE: bool> Pick<CHOICE> {
    /// The constant.
    pub const CHOICE: bool = CHOICE;
}

/// What becomes of a lone parameter: `Lone::<T>::IS_STRUCT` and whether rustc accepts the type decide.
pub struct LoneArgument<const IS_STRUCT: bool, const FITS: bool>;

/// What the JSON of a lone parameter becomes first, and how the parameter comes out of it.
pub trait Arguments<N, T> {
    /// Either form, or an object with the parameter under its name, or a stand-in for a refused type.
    type Arguments;

    /// Builds the input schema.
    fn schema() -> Value;

    /// The parameter.
    fn take(arguments: Self::Arguments) -> T;
}

impl<N: Named + 'static, T: DeserializeOwned + JsonSchema> Arguments<N, T> for LoneArgument<true, true> {
    type Arguments = Sole<N, T>;

    fn schema() -> Value {
        sole::schema::<N, T>()
    }

    fn take(arguments: Sole<N, T>) -> T {
        arguments.value
    }
}

impl<N: Named + 'static, T: DeserializeOwned + JsonSchema> Arguments<N, T> for LoneArgument<false, true> {
    type Arguments = One<N, T>;

    fn schema() -> Value {
        schema::input::<One<N, T>>()
    }

    fn take(arguments: One<N, T>) -> T {
        arguments.value
    }
}

impl<N, T, const IS_STRUCT: bool> Arguments<N, T> for LoneArgument<IS_STRUCT, false> {
    type Arguments = NoArguments;

    fn schema() -> Value {
        schema::input::<NoArguments>()
    }

    fn take(_: NoArguments) -> T {
        unreachable!("rustc has refused the type")
    }
}

/// The arguments of a tool that takes none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub struct NoArguments {}
