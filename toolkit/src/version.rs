//! Versions, the requirements they meet, and what is compatible with what.
//!
//! Versions are those of SemVer 2.0.0, and requirements mean what they mean in Cargo. A `v` before a version is accepted
//! and dropped, because tags and older records write it; nothing is ever printed with one.
//!
//! ```
//! use toolkit::version::{is_compatible, parse, parse_req};
//!
//! let version = parse("v1.4.0")?;
//! assert_eq!(version.to_string(), "1.4.0");
//! assert!(parse_req("^1.2")?.matches(&version));
//! assert!(is_compatible(&version, &parse("1.2.0")?));
//! # Ok::<(), toolkit::version::InvalidVersion>(())
//! ```
//!
//! Two versions that differ in their build metadata only are not equal, and yet none comes before the other:
//! [`Version`]'s `==` and `<` see the metadata, [`Version::cmp_precedence`] and everything in this module do not.

use std::fmt;

use semver::{Comparator, Op};
pub use semver::{Version, VersionReq};

pub use self::matrix::{Entry, Matrix, NoCompatibleVersion, Verdict};

mod matrix;

/// The version that `text` is, with or without a `v` before it.
///
/// Nothing else is forgiven: three numbers without leading zeros, each of which fits into 64 bits, and identifiers that
/// are not empty.
///
/// ```
/// # use toolkit::version::parse;
/// let error = parse("1.0").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`1.0` is not a version: unexpected end of input while parsing minor version number; \
///      write three numbers, as in `1.2.3`"
/// );
/// ```
///
/// # Errors
///
/// [`InvalidVersion`] if `text` is no version of SemVer 2.0.0.
pub fn parse(text: &str) -> Result<Version, InvalidVersion> {
    let bare = text.strip_prefix('v').unwrap_or(text);
    if bare.is_empty() {
        return Err(InvalidVersion::new(Wanted::Version, text, "it has no number"));
    }
    Version::parse(bare).map_err(|error| InvalidVersion::new(Wanted::Version, text, error))
}

/// The requirement that `text` is, in Cargo's language, with or without a `v` before its versions.
///
/// A version alone means what it means with a `^`, parts may be left out or be a `*`, and a list is met by what meets
/// all of it. A pre-release meets only a requirement that names a pre-release of the same three numbers.
///
/// ```
/// # use toolkit::version::{parse, parse_req};
/// let req = parse_req(">=v1.2, <2")?;
/// assert!(req.matches(&parse("1.10.0")?));
/// assert!(!req.matches(&parse("2.0.0-rc.1")?));
/// # Ok::<(), toolkit::version::InvalidVersion>(())
/// ```
///
/// # Errors
///
/// [`InvalidVersion`] if `text` is no requirement; an empty one is none, as anything is `*`.
pub fn parse_req(text: &str) -> Result<VersionReq, InvalidVersion> {
    if text.trim().is_empty() {
        return Err(InvalidVersion::new(Wanted::Requirement, text, "it is empty"));
    }
    // No version contains a comma, so this finds the members of the list without reading them.
    let bare: Vec<String> = text.split(',').map(drop_v).collect();
    VersionReq::parse(&bare.join(",")).map_err(|error| InvalidVersion::new(Wanted::Requirement, text, error))
}

/// One member of a list of requirements without the `v` before its version.
fn drop_v(member: &str) -> String {
    let rest = member.trim_start_matches([' ', '=', '<', '>', '^', '~']);
    let (operator, version) = member.split_at(member.len() - rest.len());
    // Only before a number: `v*` is as wrong as `v`, and the error should name what was written.
    match version.strip_prefix('v') {
        Some(bare) if bare.starts_with(|c: char| c.is_ascii_digit()) => format!("{operator}{bare}"),
        _ => member.to_owned(),
    }
}

/// Whether `offered` may stand in for `wanted`: whether it meets `^wanted`.
///
/// It is not older, and agrees with `wanted` up to the first number that is not zero. A pre-release stands in for an
/// older pre-release of the same three numbers only.
///
/// ```
/// # use toolkit::version::{is_compatible, parse};
/// assert!(is_compatible(&parse("1.5.0")?, &parse("1.0.0")?));
/// assert!(!is_compatible(&parse("0.9.0")?, &parse("0.2.3")?), "before 1.0 the second number breaks");
/// # Ok::<(), toolkit::version::InvalidVersion>(())
/// ```
#[must_use]
pub fn is_compatible(offered: &Version, wanted: &Version) -> bool {
    let caret = Comparator {
        op: Op::Caret,
        major: wanted.major,
        minor: Some(wanted.minor),
        patch: Some(wanted.patch),
        pre: wanted.pre.clone(),
    };
    caret.matches(offered)
}

/// A text that is not a version, or not a requirement.
///
/// It says what is wrong and shows the text: its beginning, with what does not print escaped. There is no
/// [`source`](std::error::Error::source), as the cause is in the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidVersion {
    wanted: Wanted,
    shown: String,
    reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Version,
    Requirement,
}

impl InvalidVersion {
    fn new(wanted: Wanted, text: &str, reason: impl fmt::Display) -> Self {
        Self { wanted, shown: excerpt(text), reason: reason.to_string() }
    }
}

impl fmt::Display for InvalidVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, fix) = match self.wanted {
            Wanted::Version => ("a version", "write three numbers, as in `1.2.3`"),
            Wanted::Requirement => ("a version requirement", "write it as for Cargo, as in `^1.2` or `>=1.2, <3`"),
        };
        write!(f, "`{}` is not {what}: {}; {fix}", self.shown, self.reason)
    }
}

impl std::error::Error for InvalidVersion {}

/// As much of a stranger's text as a message shows.
fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 64;
    let mut chars = text.chars();
    let mut shown: String = chars.by_ref().take(MAX_CHARS).flat_map(char::escape_debug).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}
