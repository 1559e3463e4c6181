//! Landlock: no right to any file, port, abstract socket or foreign process.

use landlock::{ABI, Access, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr, RulesetStatus, Scope};

/// The version of which all rights are taken; the following ones only add what an empty set of rights has not.
const VERSION: ABI = ABI::V6;

/// The extent of the enforcement, with the kernel's version of Landlock.
pub(super) enum Landlock {
    Full(String),
    Partial(String),
}

/// Gives up all rights that Landlock knows. Returns why if the kernel has no Landlock.
pub(super) fn restrict() -> Result<Landlock, String> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(VERSION))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(VERSION)))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(VERSION)))
        .and_then(Ruleset::create)
        .and_then(|ruleset| ruleset.restrict_self());
    let status = ruleset.map_err(|error| error.to_string())?;
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            kernel_abi.unwrap_or(effective_abi as i32).to_string()
        }
        LandlockStatus::NotEnabled => return Err("it is disabled in this kernel".to_owned()),
        _ => return Err("this kernel does not have it".to_owned()),
    };
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(Landlock::Full(version)),
        RulesetStatus::PartiallyEnforced => Ok(Landlock::Partial(version)),
        RulesetStatus::NotEnforced => Err(format!("version {version} was not enforced")),
    }
}
