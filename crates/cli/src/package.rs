//! The metadata of the package of a program, which `bundle` publishes.
#![cfg_attr(not(feature = "install"), allow(dead_code))]

/// The metadata of a package, as in its Cargo.toml.
#[derive(Clone, Debug, Default)]
pub(crate) struct Package {
    pub(crate) description: Option<String>,
    /// Separated by `:`, as cargo passes them on.
    pub(crate) authors: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) repository: Option<String>,
}

impl Package {
    /// Returns the first author: the name, and the email address in angle brackets.
    pub(crate) fn author(&self) -> Option<&str> {
        self.authors.as_deref()?.split(':').next()
    }
}

/// Returns `None` for the empty text, which cargo passes on for a missing field.
pub(crate) fn given(text: String) -> Option<String> {
    Some(text).filter(|text| !text.trim().is_empty())
}
