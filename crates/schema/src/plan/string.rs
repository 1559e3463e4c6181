//! The rules for strings.

use super::pattern::Pattern;

/// The rules of `minLength`, `maxLength`, `pattern`, and the strings of `enum` or `const`.
pub(super) struct Text {
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) pattern: Option<Pattern>,
    pub(super) one_of: Option<Box<[Box<str>]>>,
}

impl Text {
    pub(super) fn unbounded() -> Text {
        Text { least: 0, most: usize::MAX, pattern: None, one_of: None }
    }

    #[inline]
    pub(super) fn admits(&self, value: &str) -> bool {
        self.admits_length(value)
            && self.one_of.as_ref().is_none_or(|all| all.iter().any(|one| **one == *value))
            && self.pattern.as_ref().is_none_or(|p| p.is_match(value))
    }

    #[inline]
    fn admits_length(&self, value: &str) -> bool {
        // A character has one to four bytes, so the number of bytes is often sufficient.
        let bytes = value.len();
        let surely_enough = bytes.div_ceil(4) >= self.least;
        let surely_few = bytes <= self.most;
        if surely_enough && surely_few {
            return true;
        }
        if bytes < self.least || bytes.div_ceil(4) > self.most {
            return false;
        }
        let chars = value.chars().count();
        self.least <= chars && chars <= self.most
    }
}
