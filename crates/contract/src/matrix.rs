//! The compatibility matrix: the supported versions of components, and the selection of the best version on offer.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toolkit::version::{Version, parse};
use toolkit_schema::quoted;

/// The supported versions of components.
///
/// Bounds are compared by precedence: build metadata is ignored, and a pre-release precedes its release. The JSON form
/// of a matrix is the list of its entries.
///
/// ```
/// use toolkit::version::parse;
/// use toolkit_contract::matrix::{Entry, Matrix, Verdict};
///
/// let mut matrix = Matrix::new();
/// matrix.add(Entry::new("search", parse("1.2.0")?).up_to(parse("2.9.0")?));
///
/// let [old, good, new] = [parse("1.0.0")?, parse("2.0.0")?, parse("3.0.0")?];
/// assert_eq!(matrix.check("search", &good), Verdict::Compatible);
/// assert_eq!(matrix.check("search", &old).to_string(), "version 1.0.0 is below minimum 1.2.0");
/// assert_eq!(matrix.negotiate("search", &[old, good.clone(), new])?, &good);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Matrix {
    entries: Vec<Entry>,
}

impl Matrix {
    /// Creates an empty matrix, in which every version is compatible.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Appends an entry.
    pub fn add(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Returns the entries in the order in which they were added.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Checks a version against the entries of `component`.
    ///
    /// All entries must match, and the first that does not determines the verdict. A matching deprecated entry ends
    /// the check; later entries are ignored. A component without entries is compatible in every version.
    pub fn check<'a>(&'a self, component: &str, version: &'a Version) -> Verdict<'a> {
        for entry in self.entries.iter().filter(|entry| entry.component == component) {
            if version.cmp_precedence(&entry.minimum).is_lt() {
                return Verdict::BelowMinimum { version, minimum: &entry.minimum };
            }
            if let Some(maximum) = entry.maximum.as_ref().filter(|maximum| version.cmp_precedence(maximum).is_gt()) {
                return Verdict::AboveMaximum { version, maximum };
            }
            if entry.deprecated {
                return Verdict::Deprecated { message: &entry.message };
            }
        }
        Verdict::Compatible
    }

    /// Returns the highest compatible version on offer. Of versions that differ only in build metadata, returns the
    /// first.
    ///
    /// Deprecated versions and pre-releases are not treated differently; omit those that must not be selected.
    ///
    /// # Errors
    ///
    /// Returns [`NegotiationError`] if no version is compatible or none is offered.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::version::parse;
    /// use toolkit_contract::matrix::{Entry, Matrix};
    ///
    /// let matrix = Matrix::from_iter([Entry::new("search", parse("1.2.0")?).up_to(parse("1.9.0")?)]);
    /// let offered = [parse("1.1.0")?, parse("1.3.0")?, parse("1.4.0")?, parse("2.0.0")?];
    /// assert_eq!(matrix.negotiate("search", &offered)?.to_string(), "1.4.0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn negotiate<'v>(
        &self,
        component: &str,
        available: impl IntoIterator<Item = &'v Version>,
    ) -> Result<&'v Version, NegotiationError> {
        let mut n_offered = 0;
        available
            .into_iter()
            .inspect(|_| n_offered += 1)
            .filter(|version| self.check(component, version).is_compatible())
            .reduce(|best, version| if version.cmp_precedence(best).is_gt() { version } else { best })
            .ok_or_else(|| NegotiationError { component: component.to_owned(), n_offered })
    }
}

impl FromIterator<Entry> for Matrix {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        Self { entries: entries.into_iter().collect() }
    }
}

/// An entry of a [`Matrix`]: a range of versions of a component, including both bounds.
///
/// In JSON the bounds are strings, with or without a leading `v`. Unknown keys are rejected, because a misspelled
/// bound would not apply.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit::version::parse;
/// use toolkit_contract::matrix::Entry;
///
/// let entry = Entry::new("search", parse("1.2.0")?).up_to(parse("1.9.0")?).deprecated("use version 2");
/// let file = json!({
///     "component": "search",
///     "minimum": "v1.2.0",
///     "maximum": "1.9.0",
///     "deprecated": true,
///     "message": "use version 2"
/// });
/// assert_eq!(serde_json::from_value::<Entry>(file)?, entry);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Entry {
    /// The name of the component, compared exactly.
    pub component: String,
    /// The lowest supported version.
    #[serde(serialize_with = "write", deserialize_with = "read")]
    pub minimum: Version,
    /// The highest supported version, if there is an upper bound.
    #[serde(
        default,
        serialize_with = "write_some",
        deserialize_with = "read_some",
        skip_serializing_if = "Option::is_none"
    )]
    pub maximum: Option<Version>,
    /// True if the versions are deprecated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// A message for users of a deprecated version. Ignored if the entry is not deprecated.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl Entry {
    /// Creates an entry for `minimum` and all later versions.
    pub fn new(component: impl Into<String>, minimum: Version) -> Self {
        Self { component: component.into(), minimum, maximum: None, deprecated: false, message: String::new() }
    }

    /// Sets the highest supported version.
    #[must_use]
    pub fn up_to(self, maximum: Version) -> Self {
        Self { maximum: Some(maximum), ..self }
    }

    /// Marks the entry as deprecated, with advice for users.
    #[must_use]
    pub fn deprecated(self, message: impl Into<String>) -> Self {
        Self { deprecated: true, message: message.into(), ..self }
    }
}

/// The compatibility of a version. `Display` prints a message for the side that offered the version.
///
/// [`Matrix::check`] returns it.
///
/// # Examples
///
/// ```
/// use toolkit::version::parse;
/// use toolkit_contract::matrix::{Entry, Matrix, Verdict};
///
/// let old = Entry::new("index", parse("1.0.0")?).deprecated("build the index again");
/// let matrix = Matrix::from_iter([old]);
/// let version = parse("1.4.0")?;
/// let verdict = matrix.check("index", &version);
/// assert!(verdict.is_compatible());
/// if let Verdict::Deprecated { message } = verdict {
///     assert_eq!(message, "build the index again");
/// }
/// # Ok::<(), toolkit::version::VersionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Verdict<'a> {
    /// The version is supported.
    Compatible,
    /// The version is supported and deprecated.
    Deprecated {
        /// The message of the entry, or an empty string.
        message: &'a str,
    },
    /// The version is too old.
    BelowMinimum {
        /// The version that was checked.
        version: &'a Version,
        /// The lowest supported version.
        minimum: &'a Version,
    },
    /// The version is too new.
    AboveMaximum {
        /// The version that was checked.
        version: &'a Version,
        /// The highest supported version.
        maximum: &'a Version,
    },
}

impl Verdict<'_> {
    /// Returns true if the version may be used, deprecated or not.
    #[must_use]
    pub const fn is_compatible(&self) -> bool {
        matches!(self, Self::Compatible | Self::Deprecated { .. })
    }
}

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compatible => f.write_str("compatible"),
            Self::Deprecated { message: "" } => f.write_str("deprecated"),
            Self::Deprecated { message } => f.write_str(message),
            Self::BelowMinimum { version, minimum } => write!(f, "version {version} is below minimum {minimum}"),
            Self::AboveMaximum { version, maximum } => write!(f, "version {version} exceeds maximum {maximum}"),
        }
    }
}

/// The error of a negotiation without a compatible version.
///
/// # Examples
///
/// ```
/// use toolkit::version::parse;
/// use toolkit_contract::matrix::{Entry, Matrix};
///
/// let matrix = Matrix::from_iter([Entry::new("search", parse("2.0.0")?)]);
/// let error = matrix.negotiate("search", &[parse("1.0.0")?, parse("1.5.0")?]).unwrap_err();
/// assert_eq!(error.to_string(), "no compatible version of `search`: none of the 2 offered is supported");
/// # Ok::<(), toolkit::version::VersionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NegotiationError {
    component: String,
    n_offered: usize,
}

impl fmt::Display for NegotiationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let component = quoted(&self.component);
        match self.n_offered {
            0 => write!(f, "no compatible version of {component}: none was offered"),
            1 => write!(f, "no compatible version of {component}: the one offered is not supported"),
            n => write!(f, "no compatible version of {component}: none of the {n} offered is supported"),
        }
    }
}

impl std::error::Error for NegotiationError {}

// Implemented manually to accept the same texts as `parse`, with a leading `v`.

fn write<S: Serializer>(version: &Version, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(version)
}

fn write_some<S: Serializer>(version: &Option<Version>, serializer: S) -> Result<S::Ok, S::Error> {
    version.as_ref().map(Version::to_string).serialize(serializer)
}

fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
    parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn read_some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Version>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    text.map(|text| parse(&text)).transpose().map_err(D::Error::custom)
}
