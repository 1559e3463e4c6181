//! Which versions of which component are supported, and the best one of those on offer.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Version, excerpt, parse};

/// Which versions of which component are supported.
///
/// Bounds are compared by precedence, so that build metadata never matters and a pre-release is just older than its
/// release. In JSON a matrix is the list of its entries.
///
/// ```
/// use toolkit::version::{Entry, Matrix, Verdict, parse};
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
    /// A matrix without entries, which finds everything compatible.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Adds an entry after those there are.
    pub fn add(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// The entries, in the order in which they were added.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What the entries of `component` say of `version`.
    ///
    /// All of them must hold, and the first that does not is told. A deprecated entry that holds ends the check: those
    /// after it are not looked at. A component without an entry is compatible in every version.
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

    /// The greatest version on offer that is compatible; of several that differ in build metadata only, the first.
    ///
    /// Deprecated versions and pre-releases are as good as others: leave out what must not be chosen.
    ///
    /// # Errors
    ///
    /// [`NoCompatibleVersion`] if none is compatible, or none is on offer.
    pub fn negotiate<'v>(
        &self,
        component: &str,
        available: impl IntoIterator<Item = &'v Version>,
    ) -> Result<&'v Version, NoCompatibleVersion> {
        let mut n_offered = 0;
        available
            .into_iter()
            .inspect(|_| n_offered += 1)
            .filter(|version| self.check(component, version).is_compatible())
            .reduce(|best, version| if version.cmp_precedence(best).is_gt() { version } else { best })
            .ok_or_else(|| NoCompatibleVersion { component: component.to_owned(), n_offered })
    }
}

impl FromIterator<Entry> for Matrix {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        Self { entries: entries.into_iter().collect() }
    }
}

/// One line of a [`Matrix`]: the versions of a component between two bounds, both of which are included.
///
/// In JSON the bounds are texts, with or without a `v`, and a key that is not known is refused: a bound with a typing
/// error in its name would be no bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Entry {
    /// What has these versions; compared as it is written.
    pub component: String,
    /// The oldest version that is supported.
    #[serde(serialize_with = "write", deserialize_with = "read")]
    pub minimum: Version,
    /// The newest version that is supported, if there is one.
    #[serde(
        default,
        serialize_with = "write_some",
        deserialize_with = "read_some",
        skip_serializing_if = "Option::is_none"
    )]
    pub maximum: Option<Version>,
    /// Whether these versions are supported for now only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// What to tell those who use a deprecated version; of no use in an entry that is not deprecated.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl Entry {
    /// Supports `minimum` and everything after it.
    pub fn new(component: impl Into<String>, minimum: Version) -> Self {
        Self { component: component.into(), minimum, maximum: None, deprecated: false, message: String::new() }
    }

    /// The same entry with a newest version, which is still supported.
    #[must_use]
    pub fn up_to(self, maximum: Version) -> Self {
        Self { maximum: Some(maximum), ..self }
    }

    /// The same entry, deprecated; the message says what to do about it.
    #[must_use]
    pub fn deprecated(self, message: impl Into<String>) -> Self {
        Self { deprecated: true, message: message.into(), ..self }
    }
}

/// What a [`Matrix`] says of a version; as text, a sentence for whoever offered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Verdict<'a> {
    /// It is supported.
    Compatible,
    /// It is supported for now.
    Deprecated {
        /// What the entry says about it; may be empty.
        message: &'a str,
    },
    /// It is too old.
    BelowMinimum {
        /// The version that was checked.
        version: &'a Version,
        /// The oldest that would do.
        minimum: &'a Version,
    },
    /// It is too new.
    AboveMaximum {
        /// The version that was checked.
        version: &'a Version,
        /// The newest that would do.
        maximum: &'a Version,
    },
}

impl Verdict<'_> {
    /// Whether the version may be used, deprecated or not.
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

/// No version on offer is compatible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoCompatibleVersion {
    component: String,
    n_offered: usize,
}

impl fmt::Display for NoCompatibleVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let component = excerpt(&self.component);
        match self.n_offered {
            0 => write!(f, "no compatible version of `{component}`: none was offered"),
            1 => write!(f, "no compatible version of `{component}`: the one offered is not supported"),
            n => write!(f, "no compatible version of `{component}`: none of the {n} offered is supported"),
        }
    }
}

impl std::error::Error for NoCompatibleVersion {}

// By hand, so that entries accept what `parse` accepts: `semver` has its own reading, without the `v`.

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
