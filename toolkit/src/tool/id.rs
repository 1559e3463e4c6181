//! Ids of tools: `namespace:name:version`, `namespace:name` or `name`.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Text;
use super::name::check_name;
use crate::version::{Version, parse};

/// The id of a tool, unique within a catalog.
///
/// Ids are ordered by namespace, name and version, and versions by their semantic precedence.
///
/// ```
/// # use toolkit::tool::ToolId;
/// let id: ToolId = "weather:forecast:1.2.0".parse()?;
/// assert_eq!((id.namespace(), id.name(), id.version()), (Some("weather"), "forecast", Some("1.2.0")));
/// assert_eq!(id.to_string(), "weather:forecast:1.2.0");
/// # Ok::<(), toolkit::tool::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolId {
    namespace: Option<Namespace>,
    name: Text,
    version: Option<Text>,
}

impl ToolId {
    /// Creates an id without a version.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is invalid; see [`check_name`].
    pub fn new(namespace: Option<Namespace>, name: impl Into<Text>) -> Result<Self, NameError> {
        let name = name.into();
        check_name(&name).map_err(|reason| NameError::new(format!("name {reason}")))?;
        Ok(Self { namespace, name, version: None })
    }

    /// Sets the version.
    ///
    /// Any text except the empty one is accepted. A text that is not a semantic version is ordered before all others.
    ///
    /// # Errors
    ///
    /// Returns an error if the version is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::tool::{Namespace, ToolId};
    ///
    /// let id = ToolId::new(Some(Namespace::new("weather")?), "forecast")?.with_version("1.2.0")?;
    /// assert_eq!(id.to_string(), "weather:forecast:1.2.0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_version(self, version: impl Into<Text>) -> Result<Self, NameError> {
        let version = version.into();
        if version.is_empty() {
            return Err(NameError::new("not a tool id: version must not be empty"));
        }
        Ok(Self { version: Some(version), ..self })
    }

    /// Sets the namespace.
    #[must_use]
    pub fn in_namespace(self, namespace: Namespace) -> Self {
        Self { namespace: Some(namespace), ..self }
    }

    /// Creates an id from parts that the macro has checked.
    pub(crate) const fn from_static(
        namespace: Option<&'static str>,
        name: &'static str,
        version: Option<&'static str>,
    ) -> Self {
        Self {
            namespace: match namespace {
                Some(namespace) => Some(Namespace(Cow::Borrowed(namespace))),
                None => None,
            },
            name: Cow::Borrowed(name),
            version: match version {
                Some(version) => Some(Cow::Borrowed(version)),
                None => None,
            },
        }
    }

    /// Creates an id from unchecked parts, which are checked together with the rest of the tool.
    pub(super) fn unchecked(namespace: Option<Text>, name: Text, version: Option<Text>) -> Self {
        Self { namespace: namespace.map(Namespace), name, version }
    }

    /// Returns the part before the first colon.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the part after the second colon, unchanged.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Returns the version parsed by [`parse`], or `None` if there is none or it is not a semantic version.
    #[must_use]
    pub fn semver(&self) -> Option<Version> {
        parse(self.version()?).ok()
    }

    /// Returns true if both ids have the same text.
    pub(crate) fn prints_as(&self, other: &Self) -> bool {
        (&self.namespace, &self.name) == (&other.namespace, &other.name)
            && (self.namespace.is_none() || self.version == other.version)
    }

    /// Returns the id without the version, which all versions of a tool share.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::ToolId;
    ///
    /// let id: ToolId = "files:read:1.0.0".parse()?;
    /// assert_eq!(id.unversioned().to_string(), "files:read");
    /// # Ok::<(), toolkit::tool::NameError>(())
    /// ```
    #[must_use]
    pub fn unversioned(&self) -> Self {
        Self { version: None, ..self.clone() }
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}:")?;
        }
        f.write_str(&self.name)?;
        match &self.version {
            // Without a namespace, the version would be read as a name, so only the record contains it.
            Some(version) if self.namespace.is_some() => write!(f, ":{version}"),
            _ => Ok(()),
        }
    }
}

impl FromStr for ToolId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let parts: Vec<&str> = text.splitn(4, ':').collect();
        let (namespace, name, version) = match parts[..] {
            [name] => (None, name, None),
            [namespace, name] => (Some(namespace), name, None),
            [namespace, name, version] => (Some(namespace), name, Some(version)),
            _ => {
                let message = "not a tool id: has more than two colons; an id is `namespace:name:version`";
                return Err(NameError::new(message));
            }
        };
        let invalid = |error: NameError| NameError::new(format!("not a tool id: {error}"));
        let namespace = namespace.map(str::parse).transpose().map_err(invalid)?;
        let id = Self::new(namespace, name.to_owned()).map_err(invalid)?;
        match version {
            Some(version) => id.with_version(version.to_owned()),
            None => Ok(id),
        }
    }
}

impl Serialize for ToolId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ToolId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl Ord for ToolId {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = (&self.namespace, &self.name);
        key.cmp(&(&other.namespace, &other.name))
            .then_with(|| self.semver().cmp(&other.semver()))
            .then_with(|| self.version.cmp(&other.version))
    }
}

impl PartialOrd for ToolId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A namespace of tools, within which names are unique: 1 to 128 characters of `[A-Za-z0-9_.-]`.
///
/// ```
/// use toolkit::tool::Namespace;
///
/// assert_eq!(&*Namespace::new("weather")?, "weather");
/// assert!(Namespace::new("my tools").is_err());
/// # Ok::<(), toolkit::tool::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(Text);

impl Namespace {
    /// Checks `text` and wraps it.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is invalid; see [`check_name`].
    pub fn new(text: impl Into<Text>) -> Result<Self, NameError> {
        let text = text.into();
        check_name(&text).map_err(|reason| NameError::new(format!("namespace {reason}")))?;
        Ok(Self(text))
    }
}

impl FromStr for Namespace {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::new(text.to_owned())
    }
}

impl Deref for Namespace {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Namespace {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Namespace {
    fn borrow(&self) -> &str {
        self
    }
}

impl Serialize for Namespace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Namespace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// The error of a text that is not a valid name, namespace, id, or reference to a backend.
///
/// # Examples
///
/// ```
/// use toolkit::ToolId;
/// use toolkit::tool::Namespace;
///
/// let error = Namespace::new("my tools").unwrap_err();
/// assert!(error.to_string().starts_with("namespace must not contain ` `"));
///
/// let error = "files:read:1.0.0:beta".parse::<ToolId>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "not a tool id: has more than two colons; an id is `namespace:name:version`"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    message: String,
}

impl NameError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NameError {}
