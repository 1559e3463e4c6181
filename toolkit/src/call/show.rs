//! Types of errors whose text a model may read.

use std::error::Error;

/// An error whose text the model may read: `#[derive(ShowError)]`.
///
/// Such an error converts into a [`ToolError`](super::ToolError) with its text, both as the result of a tool and with `?`. The text is
/// what [`Display`](std::fmt::Display) prints. The causes of the error are kept as the
/// [`source`](std::error::Error::source), for the host. To show only some variants, implement `From<YourError> for
/// ToolError` instead.
///
/// A tool that returns `anyhow::Result` or `Result<_, Box<dyn Error + Send + Sync>>` takes any error with `?`. The model
/// reads the first error that implements `ShowError`, among the returned one and its sources. Finding it needs a
/// registration of the type, which only the derive can write. Types with generic parameters are not supported.
///
/// If `toolkit` has another name, `#[show_error(crate = ::name)]` states it.
///
/// # Examples
///
/// ```
/// use anyhow::Context as _;
/// use toolkit::{Dispatcher, ShowError, catalog, tool};
///
/// #[derive(Debug, thiserror::Error, ShowError)]
/// #[error("no city is called {0}")]
/// struct NoSuchCity(String);
///
/// /// Finds the country of a city.
/// #[tool]
/// fn country(city: String) -> Result<&'static str, NoSuchCity> {
///     if city == "Lima" { Ok("Peru") } else { Err(NoSuchCity(city)) }
/// }
///
/// /// Finds the capital of a city's country.
/// #[tool]
/// fn capital(city: String) -> anyhow::Result<&'static str> {
///     country(city).context("capitals of shard 7")
/// }
///
/// let dispatcher = Dispatcher::new(catalog![country, capital]?)?;
/// for tool in ["country", "capital"] {
///     let error = dispatcher.call_sync(tool, r#"{"city": "Atlantis"}"#).unwrap_err();
///     assert_eq!(error.message(), "no city is called Atlantis");
/// }
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be converted to a `ToolError`",
    label = "return `anyhow::Result`, add `.map_err(ToolError::internal)`, or derive `ShowError` if the type is yours",
    note = "`ToolError::internal` hides the text from the model, and `ToolError::shown` shows it",
    note = "`anyhow::Result<_>` and `Result<_, Box<dyn std::error::Error + Send + Sync>>` hide it",
    note = "an error type of this crate can derive `toolkit::ShowError`"
)]
pub trait ShowError: Registered + Error + Send + Sync + 'static {}

/// An error type that `#[derive(ShowError)]` has registered.
#[diagnostic::on_unimplemented(
    message = "`ShowError` is derived, and not implemented",
    label = "write `#[derive(toolkit::ShowError)]` before this type if it is yours",
    note = "the text of an error of another crate is shown by `.map_err(ToolError::shown)`, or for a whole function by \
            `#[tool(show_errors)]`",
    note = "the derive also registers the type, so that the error is found inside of other errors"
)]
pub trait Registered {}

/// A registered type of errors.
pub struct ShownType {
    is: fn(&(dyn Error + 'static)) -> bool,
}

inventory::collect!(ShownType);

impl ShownType {
    /// Creates the registration of a type.
    #[must_use]
    pub const fn new<E: ShowError>() -> Self {
        Self { is: |error| error.is::<E>() }
    }
}

/// Returns true if the type of the error implements [`ShowError`].
pub(super) fn is_shown(error: &(dyn Error + 'static)) -> bool {
    inventory::iter::<ShownType>().any(|shown| (shown.is)(error))
}
