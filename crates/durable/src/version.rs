//! The version of the tools of a worker.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use toolkit::Catalog;

/// The version of the record that this crate writes. A run is continued only by workers with the same one.
const FORMAT: u32 = 1;

/// The length of a digest in bytes.
const DIGEST_LEN: usize = 8;

/// Returns the version of the tools: the format of the record and the digest of all definitions.
pub(crate) fn version(catalog: &Catalog) -> String {
    let mut lines: Vec<String> = catalog.iter().map(|tool| tool.to_json().to_string()).collect();
    lines.sort_unstable();
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line);
        hash.update(b"\n");
    }
    format!("{FORMAT}-{}", HEXLOWER.encode(&hash.finalize()[..DIGEST_LEN]))
}
