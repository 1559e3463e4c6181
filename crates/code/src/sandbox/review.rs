//! The guarantees that a profile requires.

use super::super::guarantee::{Enforced, Guarantee};
use super::super::profile::Profile;
use super::SandboxError;

/// The guarantees that [`Profile::Hardened`] requires of a worker. The host enforces time, calls and steps of chains.
const HARDENED: [Guarantee; 8] = [
    Guarantee::Steps,
    Guarantee::Memory,
    Guarantee::Cpu,
    Guarantee::Processes,
    Guarantee::Disk,
    Guarantee::Files,
    Guarantee::Network,
    Guarantee::Environment,
];

/// Returns what is enforced, or an error if the profile requires more. `missing` has the mechanisms that are missing.
pub(super) fn review(profile: Profile, enforced: Enforced, missing: Vec<String>) -> Result<Enforced, SandboxError> {
    if profile < Profile::Hardened {
        return Ok(enforced);
    }
    let mut lacking = missing;
    let absent = HARDENED.into_iter().filter(|&guarantee| !enforced.contains(guarantee));
    lacking.extend(absent.map(|guarantee| format!("{guarantee:?}").to_lowercase()));
    if lacking.is_empty() {
        return Ok(enforced);
    }
    let lacking = lacking.join("; ");
    Err(SandboxError::Unavailable(format!("the profile `hardened` requires what is not enforced: {lacking}")))
}
