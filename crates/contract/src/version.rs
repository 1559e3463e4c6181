//! Versions that announce changes.

use semver::Version;

use toolkit_schema::compare::Verdict;

/// Returns the minimum version after `old` that announces a change with this verdict.
pub(super) fn needed(old: &Version, verdict: Verdict) -> Version {
    let breaks = verdict >= Verdict::Unknown;
    match (verdict, old.major) {
        (Verdict::Additive, 1..) => Version::new(old.major, old.minor + 1, 0),
        (_, 0) if breaks => Version::new(old.major, old.minor + 1, 0),
        _ if breaks => Version::new(old.major + 1, 0, 0),
        _ => Version::new(old.major, old.minor, old.patch + 1),
    }
}

/// Returns the version that a tool needs to announce a change, unless its current version is sufficient.
pub(super) fn missing(old: Option<&Version>, new: Option<&Version>, verdict: Verdict) -> Option<String> {
    match (old, new) {
        (Some(old), Some(new)) => {
            let needed = needed(old, verdict);
            (*new < needed).then(|| needed.to_string())
        }
        // A tool without a version cannot announce a breaking change.
        _ if verdict >= Verdict::Unknown => Some("a version of the tool".to_owned()),
        _ => None,
    }
}
