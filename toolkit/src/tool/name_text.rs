//! The names of a tool as text. For a function of this program, neither the metadata nor a text is built.

use std::borrow::Cow;

use super::Tool;
use super::text::Text;

impl Tool {
    /// Returns the number of aliases, without building the metadata.
    pub(crate) fn n_aliases(&self) -> usize {
        self.static_entry().map_or_else(|| self.aliases().len(), |entry| entry.aliases.len())
    }

    pub(crate) fn alias(&self, nth: usize) -> &str {
        self.static_entry().map_or_else(|| &*self.aliases()[nth], |entry| entry.aliases[nth])
    }

    /// Returns the id as text, without an allocation for a function of this program.
    pub(crate) fn id_text(&self) -> Text {
        match self.static_entry() {
            Some(entry) => Cow::Borrowed(entry.id),
            None => Cow::Owned(self.id.to_string()),
        }
    }

    /// Returns the id without the version as text, without an allocation for a function of this program.
    pub(crate) fn unversioned_text(&self) -> Text {
        let version_len = self.id.version().map_or(0, |version| version.len() + 1);
        match self.static_entry() {
            Some(entry) if entry.namespace.is_none() => Cow::Borrowed(entry.id),
            Some(entry) => Cow::Borrowed(&entry.id[..entry.id.len() - version_len]),
            None => Cow::Owned(self.id.unversioned().to_string()),
        }
    }

    /// Returns the name as text, without an allocation for a function of this program.
    pub(crate) fn name_text(&self) -> Text {
        match self.entry {
            Some(entry) => Cow::Borrowed(entry.name),
            None => Cow::Owned(self.name().to_owned()),
        }
    }
}
