//! The bounds of arguments and their defaults, and the arguments of a tool without parameters, which replace rejected types.

use std::borrow::Cow;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::prompt::{PromptMessage, PromptResult};

/// The bound of an argument.
///
/// A type that implements `Deserialize` and `JsonSchema` implements it.
///
/// # Examples
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Point {
///     x: f64,
///     y: f64,
/// }
///
/// /// Measures the distance of two points.
/// #[tool]
/// fn distance(from: Point, to: Point) -> f64 {
///     (from.x - to.x).hypot(from.y - to.y)
/// }
///
/// let dispatcher = Dispatcher::new(catalog![distance]?)?;
/// let result = dispatcher.call_sync("distance", r#"{"from": {"x": 0, "y": 0}, "to": {"x": 3, "y": 4}}"#)?;
/// assert_eq!(result.value(), 5.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument: it implements neither `serde::Deserialize` nor `schemars::JsonSchema`",
    label = "not a tool argument",
    note = "for an argument, add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to the type if it is yours, or take \
            a type of yours that converts into it",
    note = "for injected state, such as `Context`, write `&{Self}`"
)]
pub trait ToolArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ToolArgument for T {}

/// An argument that can be deserialized from JSON, as [`ToolArgument`] requires.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument: it does not implement `serde::Deserialize`",
    label = "cannot be read from JSON",
    note = "if the type is yours, add `#[derive(serde::Deserialize)]` to it",
    note = "for a type of another crate, enable its feature for serde, or take a type of yours that converts into it"
)]
pub trait DeserializeArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> DeserializeArgument for T {}

/// An argument that has a schema.
///
/// # Examples
///
/// A type of another crate, which is described by a type with the same JSON:
///
/// ```
/// use std::net::Ipv4Addr;
///
/// use toolkit::{catalog, tool};
///
/// /// Pings a machine.
/// #[tool]
/// fn ping(#[schemars(with = "String")] address: Ipv4Addr) -> bool {
///     address.is_loopback()
/// }
///
/// let catalog = catalog![ping]?;
/// assert_eq!(catalog.resolve("ping")?.input().as_value()["properties"]["address"]["type"], "string");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument: it does not implement `schemars::JsonSchema`",
    label = "has no schema",
    note = "if the type is yours, add `#[derive(schemars::JsonSchema)]` of `schemars` 1 to it",
    note = "for a type of another crate, enable the feature of `schemars` that is named after it, such as `uuid1`, or \
            describe it by another type with `#[schemars(with = \"String\")]`"
)]
pub trait DescribeArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> DescribeArgument for T {}

/// An argument that can be sent to another thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument: it is not `Send`",
    label = "not `Send`",
    note = "tools run on any thread; use a type that is `Send`"
)]
pub trait SendArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Send> SendArgument for T {}

/// An argument that a function borrows: `&str`, `&[T]`, or an `Option` of these. It is decoded to the owned type, and the
/// function borrows that.
///
/// # Examples
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Counts the letters of words.
/// #[tool]
/// fn count(words: &[String], only: Option<&str>) -> usize {
///     words.iter().filter(|word| only.is_none_or(|only| only == *word)).map(|word| word.chars().count()).sum()
/// }
///
/// let dispatcher = Dispatcher::new(catalog![count]?)?;
/// assert_eq!(dispatcher.call_sync("count", r#"{"words": ["Lima", "Oslo"]}"#)?.value(), 8);
/// assert_eq!(dispatcher.call_sync("count", r#"{"words": ["Lima", "Oslo"], "only": "Oslo"}"#)?.value(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument; a function may borrow `&str`, `&[T]` or an `Option` of these",
    label = "not a tool argument"
)]
pub trait BorrowedArgument {
    /// The type to which the JSON is decoded.
    type Owned;
    /// The borrowed form.
    type Borrowed<'a>;

    /// Borrows the argument.
    fn borrow(owned: &Self::Owned) -> Self::Borrowed<'_>;
}

#[diagnostic::do_not_recommend]
impl BorrowedArgument for &'static str {
    type Owned = String;
    type Borrowed<'a> = &'a str;

    fn borrow(owned: &String) -> &str {
        owned
    }
}

#[diagnostic::do_not_recommend]
impl<T: 'static> BorrowedArgument for &'static [T] {
    type Owned = Vec<T>;
    type Borrowed<'a> = &'a [T];

    fn borrow(owned: &Vec<T>) -> &[T] {
        owned
    }
}

#[diagnostic::do_not_recommend]
impl<B: BorrowedArgument> BorrowedArgument for Option<B> {
    type Owned = Option<B::Owned>;
    type Borrowed<'a> = Option<B::Borrowed<'a>>;

    fn borrow(owned: &Self::Owned) -> Self::Borrowed<'_> {
        owned.as_ref().map(B::borrow)
    }
}

/// An argument that is no reference behind an alias.
///
/// # Examples
///
/// The macro does not see that `type Word = &'static str` is a reference, so write `&str` or `String`:
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Counts the letters of a word.
/// #[tool]
/// fn length(word: &str) -> usize {
///     word.chars().count()
/// }
///
/// assert_eq!(Dispatcher::new(catalog![length]?)?.call_sync("length", r#"{"word": "Lima"}"#)?.value(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` borrows; tool arguments are decoded from JSON, so they must be owned",
    label = "borrowed"
)]
pub trait OwnedArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl OwnedArgument for NoArguments {}

/// An argument that is not a shared pointer to state; see [`SharedArgument`].
pub trait UnsharedArgument {
    #[doc(hidden)]
    const OK: () = ();
}

impl UnsharedArgument for NoArguments {}

impl<T: ?Sized + SharedArgument> UnsharedArgument for Arc<T> {}

impl<T: ?Sized + SharedArgument> UnsharedArgument for Rc<T> {}

/// A bound that no type satisfies: the target of a shared pointer is state, which a tool borrows.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use toolkit::{Dispatcher, catalog, tool};
///
/// struct Greeting(String);
///
/// /// Greets a person.
/// #[tool]
/// fn greet(name: String, greeting: &Greeting) -> String {
///     format!("{}, {name}!", greeting.0)
/// }
///
/// let greeting = Arc::new(Greeting("Hello".to_owned()));
/// let dispatcher = Dispatcher::builder(catalog![greet]?).shared_state(Arc::clone(&greeting)).build()?;
/// assert_eq!(dispatcher.call_sync("greet", r#"{"name": "Ada"}"#)?.value(), "Hello, Ada!");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a shared pointer to `{Self}` cannot be a tool argument",
    label = "not a tool argument",
    note = "for injected state, write `&{Self}` and pass the `Arc` to `DispatcherBuilder::shared_state`"
)]
pub trait SharedArgument {}

/// A sole argument that is passed under its own name.
///
/// # Examples
///
/// A tool with one struct takes the fields of the struct. `#[arg]` makes the struct a property instead:
///
/// ```
/// use toolkit::{catalog, tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Query {
///     text: String,
/// }
///
/// /// Searches documents.
/// #[tool]
/// fn search(query: Query) -> String {
///     query.text
/// }
///
/// /// Counts documents.
/// #[tool]
/// fn count(#[arg] query: Query) -> usize {
///     query.text.len()
/// }
///
/// let catalog = catalog![search, count]?;
/// let required = |name| catalog.resolve(name).unwrap().input().as_value()["required"][0].clone();
/// assert_eq!((required("search"), required("count")), ("text".into(), "query".into()));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "an attribute of serde or schemars needs an argument with a name; mark the argument `#[arg]` to pass it \
               under its own name, or put the attribute on a field of `{Self}`",
    label = "may be the argument struct"
)]
pub trait NamedArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl NamedArgument for NoArguments {}

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

#[diagnostic::do_not_recommend]
impl PromptResult for NoArguments {
    fn into_messages(self) -> Vec<PromptMessage> {
        Vec::new()
    }
}

/// The arguments of a tool without parameters.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub struct NoArguments {}
