//! Points in time, which are RFC 3339 in JSON.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A hundred years.
const FAR: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Timestamp(SystemTime);

impl Timestamp {
    pub(super) fn now() -> Self {
        Self(SystemTime::now())
    }

    /// Returns the time after a duration, or one that is far away if the platform has no such time.
    pub(super) fn saturating_add(self, duration: Duration) -> Self {
        Self(self.0.checked_add(duration).unwrap_or_else(|| self.0 + FAR))
    }

    /// Returns the time since an earlier time, or zero if that is later.
    pub(super) fn since(self, earlier: Self) -> Duration {
        self.0.duration_since(earlier.0).unwrap_or_default()
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_rfc3339(self.0))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_rfc3339(&text).map(Self).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn a_time_is_rfc_3339_in_json() {
        let text = r#""2026-11-28T12:34:56.000000789Z""#;
        let time: Timestamp = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&time).unwrap(), text);
        assert!(serde_json::from_str::<Timestamp>(r#""yesterday""#).is_err());
    }
}
