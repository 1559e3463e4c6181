//! Fields that several programs write as `null` where they are absent.

use serde::{Deserialize, Deserializer};

/// Reads a field, and takes `null` for its default.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
