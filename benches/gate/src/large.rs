//! Arguments with more values than are searched for all violations.

use toolkit::tool;

const N_VALUES: u64 = 100_000;

/// Adds integers.
#[tool]
fn total(values: Vec<u64>) -> u64 {
    values.iter().sum()
}

/// Arguments of `total`.
pub(crate) fn accepted() -> Vec<u8> {
    let values: Vec<u64> = (0..N_VALUES).map(|n| n * 7_919 % 1_000_000).collect();
    serde_json::to_vec(&serde_json::json!({ "values": values })).expect("integers are JSON")
}

/// The same with a text at the end.
pub(crate) fn rejected() -> Vec<u8> {
    let mut arguments = accepted();
    arguments.truncate(arguments.len() - "]}".len());
    arguments.extend_from_slice(br#","many"]}"#);
    arguments
}
