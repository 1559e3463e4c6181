//! Where the tests find the data that nobody here wrote, and how they count what they could not run.
//!
//! Real manifests, official schemas and conformance suites are third-party material and are read in place: from
//! `TOOLKIT_SHARED`, or from `../shared` beside the project. Where they are absent a test is skipped, and the skip is
//! counted; with `TOOLKIT_REQUIRE_DATA=1` it is a failure.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// README, so that its examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// The file or folder at `path` of the shared data, or `None` where the data is absent, which counts as a skip.
///
/// # Panics
///
/// If the data is absent although `TOOLKIT_REQUIRE_DATA=1` says that it must be there.
#[must_use]
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("TOOLKIT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let found = root.join(path);
    if found.exists() {
        return Some(found);
    }
    assert!(
        std::env::var_os("TOOLKIT_REQUIRE_DATA").is_none_or(|v| v != "1"),
        "{} is absent, and TOOLKIT_REQUIRE_DATA=1",
        found.display()
    );
    count("skipped", 1);
    None
}

/// The text of a shared file, or `None` where the data is absent, which counts as a skip.
///
/// # Panics
///
/// If the file is there and cannot be read as UTF-8, or is absent although it is required.
#[must_use]
pub fn shared_text(path: &str) -> Option<String> {
    shared(path).map(|found| std::fs::read_to_string(found).expect("shared data is UTF-8"))
}

/// The JSON of a shared file, or `None` where the data is absent, which counts as a skip.
///
/// # Panics
///
/// If the file is there and is not JSON, or is absent although it is required.
#[must_use]
pub fn shared_json(path: &str) -> Option<serde_json::Value> {
    shared_text(path).map(|text| serde_json::from_str(&text).expect("shared data is JSON"))
}

/// Says that `n` table-driven cases ran; the test command adds these up.
pub fn ran(n: usize) {
    count("run", n);
}

/// Says that `n` cases could not run here.
pub fn skipped(n: usize) {
    count("skipped", n);
}

fn count(what: &str, n: usize) {
    println!("{n} cases {what}");
    if let Some(log) = std::env::var_os("TOOLKIT_CASE_LOG") {
        // One short line per write: appends of this size do not interleave between processes.
        let mut log =
            OpenOptions::new().create(true).append(true).open(log).expect("TOOLKIT_CASE_LOG names a writable file");
        log.write_all(format!("{what} {n}\n").as_bytes()).expect("the case log is writable");
    }
}
