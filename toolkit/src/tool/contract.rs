//! A hash of a tool's contract.

use std::fmt;

use data_encoding::HEXLOWER;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::Metadata;
use toolkit_schema::Schema;
use toolkit_schema::equality::write_canonical;

/// The SHA-256 of a tool's contract; see [`Tool::contract_hash`](crate::Tool::contract_hash).
///
/// `Display` prints 64 lowercase hexadecimal digits.
///
/// # Examples
///
/// An approval that holds until the contract of the tool changes:
///
/// ```
/// use std::collections::HashSet;
///
/// use toolkit::Tool;
/// use toolkit::tool::ContractHash;
///
/// let tool = |description: &'static str| Tool::builder("read").description(description).build();
/// let approved: HashSet<ContractHash> = [tool("Reads a file.")?.contract_hash()].into();
/// assert!(approved.contains(&tool("Reads a file.")?.contract_hash()));
/// assert!(!approved.contains(&tool("Reads a file, and sends it.")?.contract_hash()));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContractHash([u8; 32]);

impl ContractHash {
    pub(super) fn new(metadata: &Metadata, input: &Schema, output: Option<&Schema>) -> Self {
        let contract = json!({
            "annotations": metadata.annotations,
            "description": metadata.description.as_deref().unwrap_or_default(),
            "inputSchema": input.as_value(),
            "outputSchema": output.map(Schema::as_value),
            "requirements": metadata.requirements,
        });
        let mut text = String::new();
        write_canonical(&contract, &mut text);
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Returns the digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContractHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for ContractHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContractHash({self})")
    }
}
