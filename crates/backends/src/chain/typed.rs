//! Typed chains, whose types rustc checks: the output of one function is the input of the next.

use std::fmt;
use std::future::Future;

use toolkit::Handle;
use toolkit::call::{Context, ToolError};
use toolkit::dispatch::Dispatcher;

/// A part of a typed chain: a [`Handle`], or a chain of handles.
///
/// # Examples
///
/// A function that accepts a single tool as well as a chain of tools:
///
/// ```
/// use toolkit::{Context, Dispatcher, ToolError, catalog, handle, tool};
/// use toolkit_backends::chain::Link;
///
/// /// Halves a number.
/// #[tool]
/// fn half(n: f64) -> f64 {
///     n / 2.0
/// }
///
/// async fn sum<L>(link: &L, dispatcher: &Dispatcher, inputs: &[f64]) -> Result<f64, ToolError>
/// where
///     L: Link<Input = f64, Output = f64>,
/// {
///     let mut sum = 0.0;
///     for &input in inputs {
///         sum += link.call_with(&Context::new(), dispatcher, input).await?;
///     }
///     Ok(sum)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![half]?)?;
/// assert_eq!(sum(&handle!(half), &dispatcher, &[4.0, 8.0]).await?, 6.0);
/// assert_eq!(sum(&handle!(half).then(handle!(half)), &dispatcher, &[4.0, 8.0]).await?, 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Link: Sync {
    /// The input type.
    type Input: Send;
    /// The output type.
    type Output: Send;

    /// Calls the link with a context.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Handle::call`](toolkit::Handle::call).
    fn call_with<'a>(
        &'a self,
        context: &'a Context,
        dispatcher: &'a Dispatcher,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send + 'a;

    /// Passes the output to another tool, converted by [`Into`] if the types differ.
    ///
    /// Each call is subject to the limits of the dispatcher. An error contains the id of the failed tool, and a
    /// cancelled context stops the chain before its next call. See [`Then`] for an example.
    #[expect(clippy::type_complexity, reason = "an alias would hide the conversion")]
    fn then<B: Link>(self, next: B) -> Then<Self, B, fn(Self::Output) -> B::Input>
    where
        Self: Sized,
        Self::Output: Feeds<B::Input>,
    {
        Then { first: self, second: next, between: Feeds::feed }
    }

    /// Passes the output to another tool after a conversion by `between`.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Dispatcher, catalog, handle, tool};
    /// use toolkit_backends::chain::Link as _;
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::new(catalog![add]?)?;
    /// let sum = handle!(add).then_map(|sum| (sum, 10), handle!(add));
    /// assert_eq!(sum.call(&dispatcher, (1, 2)).await?, 13);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn then_map<B: Link, F>(self, between: F, next: B) -> Then<Self, B, F>
    where
        Self: Sized,
        F: Fn(Self::Output) -> B::Input + Sync,
    {
        Then { first: self, second: next, between }
    }
}

/// A conversion of an output into the input of the next tool, implemented by [`Into`].
///
/// # Examples
///
/// ```
/// use toolkit::{Dispatcher, catalog, handle, tool};
/// use toolkit_backends::chain::Link as _;
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct City {
///     name: String,
/// }
///
/// impl From<City> for String {
///     fn from(city: City) -> String {
///         city.name
///     }
/// }
///
/// /// Returns the capital of a country.
/// #[tool]
/// fn capital(country: String) -> City {
///     City { name: format!("capital of {country}") }
/// }
///
/// /// Greets a place.
/// #[tool]
/// fn greet(place: String) -> String {
///     format!("Hello, {place}!")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![capital, greet]?)?;
/// let chain = handle!(capital).then(handle!(greet));
/// assert_eq!(chain.call(&dispatcher, "Peru".to_owned()).await?, "Hello, capital of Peru!");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the output `{Self}` is not the input `{I}` of the next tool",
    label = "expected a tool that takes `{Self}`, found one that takes `{I}`",
    note = "the output is passed unchanged, or converted by `Into`; otherwise convert it with `then_map`"
)]
pub trait Feeds<I> {
    /// Converts the output into an input.
    fn feed(self) -> I;
}

#[diagnostic::do_not_recommend]
impl<O: Into<I>, I> Feeds<I> for O {
    fn feed(self) -> I {
        self.into()
    }
}

/// Two links of a typed chain, and the conversion between them.
///
/// [`Link::then`] and [`Link::then_map`] create a chain, which has the same two methods.
///
/// ```standalone_crate
/// use toolkit::{Catalog, Dispatcher, handle, tool};
/// use toolkit_backends::chain::Link as _;
///
/// /// Counts the letters of a word.
/// #[tool(namespace = "text")]
/// fn length(word: String) -> u32 {
///     word.chars().count() as u32
/// }
///
/// /// Halves a number.
/// #[tool(namespace = "math")]
/// async fn half(n: f64) -> f64 {
///     n / 2.0
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(Catalog::linked()?)?;
/// let chain = handle!(length).then(handle!(half)).then_map(|n| "x".repeat(n as usize), handle!(length));
/// assert_eq!(chain.call(&dispatcher, "Lima".to_owned()).await?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Then<A, B, F> {
    first: A,
    second: B,
    between: F,
}

impl<I, O, R> Link for Handle<I, O, R>
where
    I: Send + 'static,
    O: Send + 'static,
    R: 'static,
{
    type Input = I;
    type Output = O;

    fn call_with<'a>(
        &'a self,
        context: &'a Context,
        dispatcher: &'a Dispatcher,
        input: I,
    ) -> impl Future<Output = Result<O, ToolError>> + Send + 'a {
        Handle::call_with(self, context, dispatcher, input)
    }
}

impl<A, B, F> Link for Then<A, B, F>
where
    A: Link,
    B: Link,
    A::Input: 'static,
    F: Fn(A::Output) -> B::Input + Sync,
{
    type Input = A::Input;
    type Output = B::Output;

    async fn call_with(
        &self,
        context: &Context,
        dispatcher: &Dispatcher,
        input: A::Input,
    ) -> Result<B::Output, ToolError> {
        let output = self.first.call_with(context, dispatcher, input).await?;
        self.second.call_with(context, dispatcher, (self.between)(output)).await
    }
}

impl<A, B, F, I, O> Then<A, B, F>
where
    Self: Link<Input = I, Output = O>,
{
    /// Calls the tools one after another.
    ///
    /// # Errors
    ///
    /// Returns the error of the first tool that fails, with its id.
    pub async fn call(&self, dispatcher: &Dispatcher, input: I) -> Result<O, ToolError> {
        self.call_with(&Context::new(), dispatcher, input).await
    }

    /// Calls the tools one after another with a context.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Then::call`].
    pub async fn call_with(&self, context: &Context, dispatcher: &Dispatcher, input: I) -> Result<O, ToolError> {
        Link::call_with(self, context, dispatcher, input).await
    }
}

impl<A: fmt::Debug, B: fmt::Debug, F> fmt::Debug for Then<A, B, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Then").field(&self.first).field(&self.second).finish()
    }
}
