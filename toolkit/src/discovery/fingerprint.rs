//! By what tools are known to be the same.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::tool::Tool;

/// By what tools are known to be the same: a number that changes with anything that one of them says of itself.
///
/// It depends on nothing else, neither on the order of the tools nor on that of their tags, and is the same on every
/// machine. It tells tools apart, but proves nothing: two lists of tools with one fingerprint can be made on purpose.
///
/// ```
/// # use toolkit::{Tool, discovery::Fingerprint};
/// let send = Tool::builder("send").namespace("mail").description("Sends an email.").build()?;
/// let list = Tool::builder("list").namespace("mail").description("Lists mails.").build()?;
/// assert_eq!(Fingerprint::of([&send, &list]), Fingerprint::of([&list, &send]));
/// assert_ne!(Fingerprint::of([&send, &list]), Fingerprint::of([&send]));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Of tools, such as those of a catalogue. Of tools with one id the last counts.
    pub fn of<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        let tools: BTreeMap<String, &Tool> = tools.into_iter().map(|tool| (tool.id().to_string(), tool)).collect();
        let mut hash = Fnv::default();
        for tool in tools.into_values() {
            // A clone, so that what a function builds to be read here is not kept.
            let mut json = tool.clone().to_json();
            if let Some(fields) = json.as_object_mut() {
                // No list and an empty one say the same.
                fields.retain(|_, value| !value.is_null() && *value != json!([]));
                if let Some(Value::Array(tags)) = fields.get_mut("tags") {
                    tags.sort_unstable_by(|a, b| a.as_str().cmp(&b.as_str()));
                }
            }
            json.sort_all_objects();
            // Nothing keeps a number from being hashed.
            let _ = writeln!(hash, "{json}");
        }
        Self(hash.0)
    }
}

/// Sixteen hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// FNV-1a with 64 bits. The hashes of maps may change from release to release; this one stays.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Fnv {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
