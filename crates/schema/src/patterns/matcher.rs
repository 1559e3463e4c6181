//! Matching of a single pattern.

#[cfg(feature = "jsonschema")]
use super::library;
use super::needs_backtracking;
#[cfg(not(feature = "jsonschema"))]
use crate::plan::Pattern;

/// A compiled pattern that matches as validation does.
#[doc(hidden)]
pub struct Matcher {
    #[cfg(feature = "jsonschema")]
    compiled: jsonschema::Validator,
    #[cfg(not(feature = "jsonschema"))]
    compiled: Pattern,
    needs_backtracking: bool,
}

impl Matcher {
    /// The memory limit of a pattern, in bytes.
    #[cfg(feature = "jsonschema")]
    const MAX_BYTES: usize = 1 << 20;

    /// Compiles a pattern. Returns `None` if it is invalid or exceeds the memory limit.
    pub fn compile(pattern: &str) -> Option<Self> {
        #[cfg(feature = "jsonschema")]
        let compiled = library::validator(pattern, Self::MAX_BYTES)?;
        #[cfg(not(feature = "jsonschema"))]
        let compiled = Pattern::compile(pattern)?;
        Some(Self { compiled, needs_backtracking: needs_backtracking(pattern) })
    }

    pub fn is_match(&self, text: &str) -> bool {
        #[cfg(feature = "jsonschema")]
        return self.compiled.is_valid(&serde_json::Value::from(text));
        #[cfg(not(feature = "jsonschema"))]
        return self.compiled.is_match(text);
    }

    /// Returns true if matching may scan a text several times.
    pub fn needs_backtracking(&self) -> bool {
        self.needs_backtracking
    }
}
