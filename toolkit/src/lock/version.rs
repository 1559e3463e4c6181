//! Which version announces which change.

use semver::Version;

use super::Verdict;

/// The least version after `old` that announces a change of this kind.
pub(super) fn needed(old: &Version, verdict: Verdict) -> Version {
    match (verdict, old.major) {
        (Verdict::Breaking | Verdict::Unknown, 0) | (Verdict::Additive, 1..) => {
            Version::new(old.major, old.minor + 1, 0)
        }
        (Verdict::Breaking | Verdict::Unknown, _) => Version::new(old.major + 1, 0, 0),
        (Verdict::Additive | Verdict::Cosmetic, _) => Version::new(old.major, old.minor, old.patch + 1),
    }
}

/// The version that a tool would need to announce a change, where the one that it has does not.
pub(super) fn missing(old: Option<&Version>, new: Option<&Version>, verdict: Verdict) -> Option<String> {
    match (old, new) {
        (Some(old), Some(new)) => {
            let needed = needed(old, verdict);
            (*new < needed).then(|| needed.to_string())
        }
        // Without a version there is nothing that could announce a break.
        _ if verdict >= Verdict::Unknown => Some("of its own".to_owned()),
        _ => None,
    }
}
