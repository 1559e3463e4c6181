//! Fingerprints of tools.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use serde_json::{Value, json};
use toolkit::tool::Tool;

/// A hash of tools that changes with any change of their definitions.
///
/// It depends neither on the order of the tools or their tags nor on the machine. It is not cryptographic: lists of
/// tools with the same fingerprint can be created intentionally.
///
/// ```
/// # use toolkit::Tool;
/// # use toolkit_search::Fingerprint;
/// let send = Tool::builder("send").namespace("mail").description("Sends an email.").build()?;
/// let list = Tool::builder("list").namespace("mail").description("Lists mails.").build()?;
/// assert_eq!(Fingerprint::new([&send, &list]), Fingerprint::new([&list, &send]));
/// assert_ne!(Fingerprint::new([&send, &list]), Fingerprint::new([&send]));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Computes the fingerprint of tools, such as those of a catalog. Of several tools with the same id, only the last
    /// counts.
    pub fn new<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        let tools: BTreeMap<String, &Tool> = tools.into_iter().map(|tool| (tool.id().to_string(), tool)).collect();
        let mut hash = Fnv::default();
        for tool in tools.into_values() {
            // Cloned, so that the schemas of functions that are generated here are not kept in memory.
            let mut json = tool.clone().to_json();
            if let Some(fields) = json.as_object_mut() {
                // Missing and empty lists are equivalent.
                fields.retain(|_, value| !value.is_null() && *value != json!([]));
                if let Some(Value::Array(tags)) = fields.get_mut("tags") {
                    tags.sort_unstable_by(|a, b| a.as_str().cmp(&b.as_str()));
                }
            }
            json.sort_all_objects();
            // Writing to the hash cannot fail.
            let _ = writeln!(hash, "{json}");
        }
        Self(hash.0)
    }
}

/// Formats as sixteen hexadecimal digits.
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

/// The 64-bit FNV-1a hash, which is stable in contrast to the hashers of maps.
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
