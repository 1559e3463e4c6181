//! Versions, version requirements and compatibility.
//!
//! Versions follow SemVer 2.0.0, and requirements have the syntax and the meaning of Cargo. A `v` before a version is
//! accepted and dropped, because tags and older records contain it. Versions are always printed without it.
//!
//! ```
//! use toolkit::version::{is_compatible, parse, parse_req};
//!
//! let version = parse("v1.4.0")?;
//! assert_eq!(version.to_string(), "1.4.0");
//! assert!(parse_req("^1.2")?.matches(&version));
//! assert!(is_compatible(&version, &parse("1.2.0")?));
//! # Ok::<(), toolkit::version::VersionError>(())
//! ```
//!
//! Versions that differ only in build metadata are not equal, although neither precedes the other: `==` and `<` of
//! [`Version`] compare the metadata, [`Version::cmp_precedence`] and this module ignore it.

use std::fmt;

use semver::{Comparator, Op};
#[doc(no_inline)]
pub use semver::{Version, VersionReq};
use toolkit_schema::quoted;

/// Parses a version, with or without a leading `v`.
///
/// The rest must be strict: three numbers of at most 64 bits without leading zeros, and non-empty identifiers.
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
/// Returns [`VersionError`] if `text` is not a version of SemVer 2.0.0.
pub fn parse(text: &str) -> Result<Version, VersionError> {
    let bare = text.strip_prefix('v').unwrap_or(text);
    if bare.is_empty() {
        return Err(VersionError::new(Wanted::Version, text, "it has no number"));
    }
    Version::parse(bare).map_err(|error| VersionError::new(Wanted::Version, text, error))
}

/// Parses a version requirement in Cargo's syntax, with or without a `v` before its versions.
///
/// A version without an operator has the operator `^`, parts may be omitted or `*`, and a list requires all of its
/// members. A pre-release matches only a requirement that contains a pre-release of the same three numbers.
///
/// ```
/// # use toolkit::version::{parse, parse_req};
/// let req = parse_req(">=v1.2, <2")?;
/// assert!(req.matches(&parse("1.10.0")?));
/// assert!(!req.matches(&parse("2.0.0-rc.1")?));
/// # Ok::<(), toolkit::version::VersionError>(())
/// ```
///
/// # Errors
///
/// Returns [`VersionError`] if `text` is not a requirement. The empty text is invalid; write `*` to accept any
/// version.
pub fn parse_req(text: &str) -> Result<VersionReq, VersionError> {
    if text.trim().is_empty() {
        return Err(VersionError::new(Wanted::Requirement, text, "it is empty"));
    }
    // Versions contain no commas, so splitting yields the members of the list.
    let bare: Vec<String> = text.split(',').map(drop_v).collect();
    VersionReq::parse(&bare.join(",")).map_err(|error| VersionError::new(Wanted::Requirement, text, error))
}

/// Removes the `v` before the version of a requirement.
fn drop_v(member: &str) -> String {
    let rest = member.trim_start_matches([' ', '=', '<', '>', '^', '~']);
    let (operator, version) = member.split_at(member.len() - rest.len());
    // Only before a digit: `v*` and `v` are invalid, and the error should contain the original text.
    match version.strip_prefix('v') {
        Some(bare) if bare.starts_with(|c: char| c.is_ascii_digit()) => format!("{operator}{bare}"),
        _ => member.to_owned(),
    }
}

/// Returns true if `offered` can replace `wanted`: if it matches `^wanted`.
///
/// It must not be older, and must equal `wanted` up to the first non-zero number. A pre-release replaces only an older
/// pre-release of the same three numbers.
///
/// ```
/// # use toolkit::version::{is_compatible, parse};
/// assert!(is_compatible(&parse("1.5.0")?, &parse("1.0.0")?));
/// assert!(!is_compatible(&parse("0.9.0")?, &parse("0.2.3")?), "before 1.0 the second number breaks");
/// # Ok::<(), toolkit::version::VersionError>(())
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

/// The error of a text that is not a version or not a requirement.
///
/// The message contains the beginning of the text, with control characters escaped, and the reason. There is no
/// [`source`](std::error::Error::source).
///
/// # Examples
///
/// ```
/// use toolkit::version::{parse, parse_req};
///
/// let error = parse("").unwrap_err();
/// assert_eq!(error.to_string(), "`` is not a version: it has no number; write three numbers, as in `1.2.3`");
///
/// let error = parse_req(" ").unwrap_err();
/// assert!(error.to_string().starts_with("` ` is not a version requirement: it is empty"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionError {
    wanted: Wanted,
    shown: String,
    reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Version,
    Requirement,
}

impl VersionError {
    fn new(wanted: Wanted, text: &str, reason: impl fmt::Display) -> Self {
        Self { wanted, shown: quoted(text), reason: reason.to_string() }
    }
}

impl fmt::Display for VersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, fix) = match self.wanted {
            Wanted::Version => ("a version", "write three numbers, as in `1.2.3`"),
            Wanted::Requirement => ("a version requirement", "write it as for Cargo, as in `^1.2` or `>=1.2, <3`"),
        };
        write!(f, "{} is not {what}: {}; {fix}", self.shown, self.reason)
    }
}

impl std::error::Error for VersionError {}
