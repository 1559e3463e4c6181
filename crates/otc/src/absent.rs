//! Fields that some programs write as `null` if they are absent.

use serde::{Deserialize, Deserializer};

/// Deserializes a field, with its default value for `null`.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
