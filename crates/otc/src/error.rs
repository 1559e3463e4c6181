//! The error of values that are not valid.

use std::error::Error;
use std::fmt;

/// The least number of bytes of a secret for HS256 (RFC 7518, 3.2).
pub(crate) const MIN_SECRET: usize = 32;

/// The error of an id, a definition, a URL, a certificate or a secret that is not valid.
///
/// # Examples
///
/// ```
/// use toolkit_otc::OtcId;
///
/// let error = "Calculator.Add@1.0".parse::<OtcId>().unwrap_err();
/// assert_eq!(error.to_string(), "not a tool id: the version must be one number or three, such as `@1.0.0`");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum OtcError {
    /// The text is not an [`OtcId`](crate::OtcId), for the reason that is given.
    Id(&'static str),
    /// The JSON is not a [`Definition`](crate::Definition).
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_otc::Definition;
    ///
    /// let error = Definition::from_json(&json!({
    ///     "id": "Calculator.Add@1.0.0",
    ///     "name": "Calculator Add",
    ///     "description": "Adds two numbers.",
    ///     "version": "2.0",
    ///     "input_schema": { "parameters": {} },
    ///     "output_schema": null,
    /// }));
    /// let message = error.unwrap_err().to_string();
    /// assert!(message.starts_with("not a definition of a tool (`Calculator.Add@1.0.0`): "));
    /// assert!(message.contains("`name` must have 1 to 64 letters, digits, `_` and `-`"));
    /// assert!(message.contains("`version` must be three numbers, such as `1.0.0`"));
    /// ```
    #[non_exhaustive]
    Definition {
        /// The id, if there is one.
        id: Option<String>,
        /// All reasons.
        reasons: Vec<String>,
    },
    /// The text is not the URL of a server, for the reason that is given.
    #[cfg_attr(
        feature = "client",
        doc = r#"
```
use toolkit_otc::OtcBackend;

let error = OtcBackend::new("calculator", "tools.example.org").unwrap_err();
assert_eq!(error.to_string(), "not a server URL: it must begin with `https://` or `http://`");
```
"#
    )]
    Url(&'static str),
    /// The PEM text has no certificate, or a malformed one.
    #[cfg_attr(
        feature = "client",
        doc = r#"
```
use toolkit_otc::OtcBackend;

let backend = OtcBackend::new("calculator", "https://tools.example.org")?;
let error = backend.trust("not a certificate").unwrap_err();
assert!(error.to_string().starts_with("the PEM text has no certificate"));
# Ok::<(), toolkit_otc::OtcError>(())
```
"#
    )]
    Certificate(Box<dyn Error + Send + Sync>),
    /// The secret is too short for HS256.
    #[cfg_attr(
        feature = "http",
        doc = r#"
```
use toolkit_otc::Auth;

let error = Auth::jwt("s3cr3t".to_owned()).unwrap_err();
assert_eq!(
    error.to_string(),
    "the secret has 6 bytes, but HS256 requires at least 32; create one with `openssl rand -hex 32`"
);
```
"#
    )]
    #[non_exhaustive]
    WeakSecret {
        /// The number of bytes of the secret.
        n_bytes: usize,
    },
}

impl fmt::Display for OtcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(reason) => write!(f, "not a tool id: {reason}"),
            Self::Definition { id, reasons } => {
                f.write_str("not a definition of a tool")?;
                if let Some(id) = id {
                    let id: String = id.chars().take(160).collect();
                    write!(f, " (`{}`)", id.escape_debug())?;
                }
                // serde repeats the unexpected value, which may be long.
                let reasons: String = reasons.join("; ").chars().take(600).collect();
                write!(f, ": {}", reasons.escape_debug())
            }
            Self::Url(reason) => write!(f, "not a server URL: {reason}"),
            Self::Certificate(error) => error.fmt(f),
            Self::WeakSecret { n_bytes } => write!(
                f,
                "the secret has {n_bytes} bytes, but HS256 requires at least {MIN_SECRET}; create one with `openssl rand \
                 -hex 32`"
            ),
        }
    }
}

impl Error for OtcError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Certificate(error) => Some(&**error),
            _ => None,
        }
    }
}
