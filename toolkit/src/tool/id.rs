//! A tool's identity: `namespace:name:version`, `namespace:name` or `name`.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::name::check_name;
use crate::version::{Version, parse};

/// A tool's identity, unique within a catalogue.
///
/// Identities are ordered by namespace, name and version, versions by their semantic precedence.
///
/// ```
/// # use toolkit::tool::ToolId;
/// let id: ToolId = "weather:forecast:1.2.0".parse()?;
/// assert_eq!((id.namespace(), id.name(), id.version()), (Some("weather"), "forecast", Some("1.2.0")));
/// assert_eq!(id.to_string(), "weather:forecast:1.2.0");
/// # Ok::<(), toolkit::tool::InvalidToolId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolId {
    namespace: Option<Cow<'static, str>>,
    name: Cow<'static, str>,
    version: Option<Cow<'static, str>>,
}

impl ToolId {
    /// For parts that the macro has checked already.
    pub(crate) const fn from_static(
        namespace: Option<&'static str>,
        name: &'static str,
        version: Option<&'static str>,
    ) -> Self {
        Self {
            namespace: match namespace {
                Some(namespace) => Some(Cow::Borrowed(namespace)),
                None => None,
            },
            name: Cow::Borrowed(name),
            version: match version {
                Some(version) => Some(Cow::Borrowed(version)),
                None => None,
            },
        }
    }

    /// The part before the first colon.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The tool's own name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The part after the second colon, as it was written.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The version as [`parse`] reads it, a leading `v` aside; `None` where there is none or it is not one.
    #[must_use]
    pub fn semver(&self) -> Option<Version> {
        parse(self.version()?).ok()
    }

    /// The identity without its version: what the versions of one tool have in common.
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
            // Without a namespace a version would read as a name, so it stays in the record (C4).
            Some(version) if self.namespace.is_some() => write!(f, ":{version}"),
            _ => Ok(()),
        }
    }
}

impl FromStr for ToolId {
    type Err = InvalidToolId;

    fn from_str(text: &str) -> Result<Self, InvalidToolId> {
        let invalid = |reason: String| InvalidToolId { reason };
        let parts: Vec<&str> = text.splitn(4, ':').collect();
        let (namespace, name, version) = match parts[..] {
            [name] => (None, name, None),
            [namespace, name] => (Some(namespace), name, None),
            [namespace, name, version] => (Some(namespace), name, Some(version)),
            _ => {
                return Err(invalid("has more than two colons; an id is `namespace:name:version`".to_owned()));
            }
        };
        if let Some(namespace) = namespace {
            check_name(namespace).map_err(|reason| invalid(format!("namespace {reason}")))?;
        }
        check_name(name).map_err(|reason| invalid(format!("name {reason}")))?;
        if version.is_some_and(str::is_empty) {
            return Err(invalid("version must not be empty".to_owned()));
        }
        let owned = |part: &str| Cow::Owned(part.to_owned());
        Ok(Self { namespace: namespace.map(owned), name: owned(name), version: version.map(owned) })
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

/// A text that is not a tool id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidToolId {
    reason: String,
}

impl fmt::Display for InvalidToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a tool id: {}", self.reason)
    }
}

impl std::error::Error for InvalidToolId {}
