//! The parts of an id that follow the rule for names.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Text;
use super::name::check_name;

macro_rules! part {
    ($(#[$doc:meta])* $Part:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Part(Text);

        impl $Part {
            /// Checks `text` and wraps it.
            ///
            /// # Errors
            ///
            /// Returns an error if the text is invalid; see [`check_name`].
            pub fn new(text: impl Into<Text>) -> Result<Self, NameError> {
                let text = text.into();
                match check_name(&text) {
                    Ok(()) => Ok(Self(text)),
                    Err(reason) => Err(NameError { what: $what, reason }),
                }
            }

            pub(super) const fn unchecked(text: Text) -> Self {
                Self(text)
            }
        }

        impl FromStr for $Part {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::new(text.to_owned())
            }
        }

        impl Deref for $Part {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $Part {
            fn as_ref(&self) -> &str {
                self
            }
        }

        impl Borrow<str> for $Part {
            fn borrow(&self) -> &str {
                self
            }
        }

        impl Serialize for $Part {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $Part {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }

        impl fmt::Display for $Part {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self)
            }
        }
    };
}

part! {
    /// The name of a tool within its namespace: 1 to 128 characters of `[A-Za-z0-9_.-]`.
    ///
    /// ```
    /// # use toolkit::tool::ToolName;
    /// assert_eq!(ToolName::new("read_file")?.as_ref(), "read_file");
    /// assert_eq!(ToolName::new("").unwrap_err().to_string(), "name must not be empty");
    /// # Ok::<(), toolkit::tool::NameError>(())
    /// ```
    ToolName, "name"
}

part! {
    /// A namespace of tools, within which names are unique: 1 to 128 characters of `[A-Za-z0-9_.-]`.
    ///
    /// ```
    /// use toolkit::tool::Namespace;
    ///
    /// assert_eq!(&*Namespace::new("weather")?, "weather");
    /// assert!(Namespace::new("my tools").is_err());
    /// # Ok::<(), toolkit::tool::NameError>(())
    /// ```
    Namespace, "namespace"
}

/// The error of a text that is not a valid name or namespace.
///
/// # Examples
///
/// ```
/// use toolkit::tool::Namespace;
///
/// let error = Namespace::new("my tools").unwrap_err();
/// assert!(error.to_string().starts_with("namespace must not contain ` `"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    what: &'static str,
    reason: String,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.what, self.reason)
    }
}

impl std::error::Error for NameError {}
