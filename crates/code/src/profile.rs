//! Profiles: the strictness of the confinement.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The strictness with which programs are confined.
///
/// # Examples
///
/// ```
/// use toolkit_code::Profile;
///
/// assert_eq!("hardened".parse(), Ok(Profile::Hardened));
/// assert_eq!(Profile::default(), Profile::Standard);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Profile {
    /// For development: programs may run in the process of the host.
    Dev,
    /// Programs run in a process of their own, with what the platform enforces. See
    /// [`Session::enforced`](crate::sandbox::Session::enforced).
    #[default]
    Standard,
    /// As [`Standard`](Self::Standard), and no program runs unless the platform enforces everything.
    Hardened,
}

impl Profile {
    /// All profiles, the least strict first.
    pub const ALL: [Self; 3] = [Self::Dev, Self::Standard, Self::Hardened];

    /// Returns the name, such as `standard`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Standard => "standard",
            Self::Hardened => "hardened",
        }
    }
}

/// Writes the [name](Profile::name).
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let profile = Self::ALL.into_iter().find(|profile| profile.name() == name);
        profile.ok_or_else(|| ProfileError { name: name.chars().take(40).collect() })
    }
}

/// The error of a name that is not a [`Profile`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    name: String,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown profile {:?}, expected `dev`, `standard` or `hardened`", self.name)
    }
}

impl std::error::Error for ProfileError {}
