//! Classification of owned parameters: arguments, and shared pointers such as an owned `Arc<Db>`, which are meant as injected
//! state.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::returned::is_data;
use crate::bounds::argument::NoArguments;
use crate::dispatch::encode::UNFIT;
use crate::tool::entry::Sole;
use toolkit_schema::generate;
use toolkit_schema::plan::{Plan, discard};

/// A probe of the traits that `T` implements.
///
/// Each constant is inherent where the condition holds; otherwise it comes from one of the traits
/// below. A failed condition is therefore not a compile error.
pub struct Candidate<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> Candidate<&T> {
    /// True if the type is a reference, also behind an alias.
    pub const BORROWS: bool = true;
}

impl<T: DeserializeOwned> Candidate<T> {
    /// True if the type can be deserialized.
    pub const IS_READ: bool = true;
}

impl<T: JsonSchema> Candidate<T> {
    /// True if the type has a schema.
    pub const IS_DESCRIBED: bool = true;
}

impl<T: Send> Candidate<T> {
    /// True if the type is `Send`.
    pub const IS_SENT: bool = true;
}

/// The default for types that are not references.
pub trait Owns {
    /// False: the type is not a reference.
    const BORROWS: bool = false;
}

impl<T: ?Sized> Owns for Candidate<T> {}

/// The defaults for types that lack a trait.
pub trait Unfit {
    /// False: the type cannot be deserialized.
    const IS_READ: bool = false;
    /// False: the type has no schema.
    const IS_DESCRIBED: bool = false;
    /// False: the type is not `Send`.
    const IS_SENT: bool = false;
}

impl<T: ?Sized> Unfit for Candidate<T> {}

/// The reason why a type is rejected. Each type has at most one, so that rustc reports one error.
pub struct Case<const CASE: u8>;

/// The type is accepted.
pub const FITS: u8 = 0;
const BORROWS: u8 = 1;
const BOTH: u8 = 2;
const NOT_CONVERTED: u8 = 3;
const NOT_DESCRIBED: u8 = 4;
const NOT_SENT: u8 = 5;
const SHARES: u8 = 6;

impl<const CASE: u8> Case<CASE> {
    /// True if the type is accepted.
    pub const CHOICE: bool = CASE == FITS;

    /// Returns the encoding of a result of this shape, or the stand-in's encoding if the type is rejected, so that rustc
    /// reports one error.
    pub const fn encoding(shape: u8) -> u8 {
        if CASE == FITS { shape } else { UNFIT }
    }
}

/// Returns the case of an argument.
pub const fn argument_case(borrows: bool, shares: bool, is_read: bool, is_described: bool, is_sent: bool) -> u8 {
    match (is_read, is_described) {
        _ if borrows => BORROWS,
        (true, true) if is_sent => FITS,
        _ if shares => SHARES,
        (true, true) => NOT_SENT,
        (true, false) => NOT_DESCRIBED,
        (false, true) => NOT_CONVERTED,
        (false, false) => BOTH,
    }
}

/// Returns the case of a result.
pub const fn result_case(shape: u8, is_written: bool, is_described: bool) -> u8 {
    if is_data(shape) { argument_case(false, false, is_written, is_described, true) } else { FITS }
}

/// Returns the case of the result of a prompt.
pub const fn prompt_case(is_prompt: bool) -> u8 {
    if is_prompt { FITS } else { BOTH }
}

/// Maps `T` to itself under the check that its case concerns, and to a stand-in under all others,
/// so that only one check can fail.
pub trait Refused<T> {
    /// The subject of the check for references.
    type Borrows;
    /// The subject of the check for types that have neither serde's trait nor a schema.
    type Both;
    /// The subject of the check for serde's trait.
    type NotConverted;
    /// The subject of the check for a schema.
    type NotDescribed;
    /// The subject of the check for `Send`.
    type NotSent;
    /// The subject of the check for shared pointers.
    type Shares;
}

macro_rules! refused {
    ($($case:ident: $borrows:ty, $both:ty, $converted:ty, $described:ty, $sent:ty, $shares:ty;)*) => {$(
        impl<T> Refused<T> for Case<$case> {
            type Borrows = $borrows;
            type Both = $both;
            type NotConverted = $converted;
            type NotDescribed = $described;
            type NotSent = $sent;
            type Shares = $shares;
        }
    )*};
}

refused! {
    FITS: NoArguments, NoArguments, NoArguments, NoArguments, NoArguments, NoArguments;
    BORROWS: T, NoArguments, NoArguments, NoArguments, NoArguments, NoArguments;
    BOTH: NoArguments, T, NoArguments, NoArguments, NoArguments, NoArguments;
    NOT_CONVERTED: NoArguments, NoArguments, T, NoArguments, NoArguments, NoArguments;
    NOT_DESCRIBED: NoArguments, NoArguments, NoArguments, T, NoArguments, NoArguments;
    NOT_SENT: NoArguments, NoArguments, NoArguments, NoArguments, T, NoArguments;
    SHARES: NoArguments, NoArguments, NoArguments, NoArguments, NoArguments, T;
}

/// The type, or a stand-in if it is rejected. The derives would otherwise report their own errors
/// for the same type.
pub trait OrStandIn<T> {
    /// Either `T` or the stand-in.
    type Type;

    /// Unwraps the value.
    fn take(value: Self::Type) -> T;

    /// Wraps the value. The closure runs only if `T` is accepted.
    fn put(value: impl FnOnce() -> T) -> Self::Type;
}

macro_rules! the_type {
    ($($pick:ty),*) => {$(
        impl<T> OrStandIn<T> for $pick {
            type Type = T;

            fn take(value: T) -> T {
                value
            }

            fn put(value: impl FnOnce() -> T) -> T {
                value()
            }
        }
    )*};
}

macro_rules! a_stand_in {
    ($($pick:ty),*) => {$(
        impl<T> OrStandIn<T> for $pick {
            type Type = NoArguments;

            fn take(_: NoArguments) -> T {
                unreachable!("rustc has refused the type")
            }

            fn put(_: impl FnOnce() -> T) -> NoArguments {
                NoArguments {}
            }
        }
    )*};
}

the_type!(Pick<true>, Case<FITS>);
a_stand_in!(
    Pick<false>,
    Case<BORROWS>,
    Case<BOTH>,
    Case<NOT_CONVERTED>,
    Case<NOT_DESCRIBED>,
    Case<NOT_SENT>,
    Case<SHARES>
);

/// A probe that decides whether a sole owned parameter of type `T` may be the argument struct.
///
/// `SoleType::<T>::IS_STRUCT` resolves to an inherent constant for the types below, which are always a
/// single argument, and otherwise to the constant of [`ArgumentStruct`]. The compiler decides by
/// the type, so an alias does not change the result. For other types the schema decides at run time
/// ([`Sole`]).
pub struct SoleType<T: ?Sized>(PhantomData<T>);

/// The default for all other types.
pub trait ArgumentStruct {
    /// True: the fields of the type are the arguments of the tool, if its schema declares any.
    const IS_STRUCT: bool = true;
}

impl<T: ?Sized> ArgumentStruct for SoleType<T> {}

macro_rules! one_argument {
    ($($ty:ty),* $(,)?) => {$(
        impl SoleType<$ty> {
            pub const IS_STRUCT: bool = false;
        }
        impl SoleType<Box<$ty>> {
            pub const IS_STRUCT: bool = false;
        }
    )*};
}

macro_rules! one_generic_argument {
    ($(<$($param:ident),*> $ty:ty),* $(,)?) => {$(
        impl<$($param),*> SoleType<$ty> {
            pub const IS_STRUCT: bool = false;
        }
        impl<$($param),*> SoleType<Box<$ty>> {
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

impl<T: ?Sized + ToOwned> SoleType<std::borrow::Cow<'static, T>> {
    pub const IS_STRUCT: bool = false;
}

impl SoleType<Box<str>> {
    pub const IS_STRUCT: bool = false;
}

impl<T> SoleType<Box<[T]>> {
    pub const IS_STRUCT: bool = false;
}

impl<T, const N: usize> SoleType<[T; N]> {
    pub const IS_STRUCT: bool = false;
}

/// A type-level boolean.
pub struct Pick<const CHOICE: bool>;

impl<const CHOICE: bool> Pick<CHOICE> {
    /// The value.
    pub const CHOICE: bool = CHOICE;
}

/// Builds the schema of the arguments of a tool with a sole parameter.
pub fn sole_input<T: DeserializeOwned + JsonSchema>(sole: &Sole) -> Value {
    sole.input(generate::input::<T>, generate::is_untagged_choice::<T>, |name, description| {
        generate::property::<T>(name, description, !Plan::is_optional(&mut discard::<T>))
    })
}

impl<T: ?Sized> Candidate<Arc<T>> {
    /// True: the type is a shared pointer.
    pub const SHARES: bool = true;
}

impl<T: ?Sized> Candidate<Rc<T>> {
    /// True: the type is a shared pointer.
    pub const SHARES: bool = true;
}

/// The default for all other types.
pub trait OwnsAlone {
    /// False: the type is not a shared pointer.
    const SHARES: bool = false;
}

impl<T: ?Sized> OwnsAlone for Candidate<T> {}
