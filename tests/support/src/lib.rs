//! What the tests of several packages share: the location of third-party data, and the count of cases that ran and that
//! were skipped.
//!
//! Real manifests, official schemas and conformance suites are third-party material and are read in place: from
//! `TOOLKIT_SHARED`, or from `../shared` beside the project. Where they are absent and cannot be fetched, a test is
//! skipped, and the skip is counted; with `TOOLKIT_REQUIRE_DATA=1` it is a failure.

#[cfg(feature = "tls")]
pub mod authority;
#[cfg(feature = "mcp")]
pub mod backends;
#[cfg(feature = "mcp")]
pub mod browser;
#[cfg(feature = "mcp")]
pub mod client;
mod executor;
#[cfg(unix)]
pub mod full;
#[cfg(feature = "tools")]
pub mod hostile;
pub mod mutate;
pub mod nats;
pub mod official;
mod port;
pub mod postgres;
mod program;
#[cfg(feature = "code")]
pub mod programs;
mod random;
#[cfg(feature = "tools")]
mod real;
#[cfg(feature = "relay")]
pub mod relay;
#[cfg(feature = "replies")]
pub mod replies;
pub mod schemas;
#[cfg(feature = "scripted")]
pub mod scripted;
#[cfg(feature = "wait")]
pub mod wait;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

pub use self::executor::block_on;
pub use self::port::{free_port, until_it_listens};
pub use self::program::program;
pub use self::random::{random, sample};
#[cfg(feature = "tools")]
pub use self::real::{real_catalog, real_definitions, real_manifests, real_servers, real_tools};

/// Returns the file or folder at `path` of the shared data; `None` if the data is absent, which counts as a skip.
///
/// # Panics
///
/// Panics if the data is absent although `TOOLKIT_REQUIRE_DATA=1` requires it.
#[must_use]
pub fn shared(path: &str) -> Option<PathBuf> {
    let found = shared_path(path);
    if !found.exists() {
        absent(&found.display().to_string());
        return None;
    }
    Some(found)
}

fn shared_path(path: &str) -> PathBuf {
    let root = std::env::var_os("TOOLKIT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    root.join(path)
}

fn absent(what: &str) {
    let is_required = std::env::var_os("TOOLKIT_REQUIRE_DATA").is_some_and(|v| v == "1");
    assert!(!is_required, "{what} is absent, and TOOLKIT_REQUIRE_DATA=1");
    count("skipped", 1);
}

/// The folder of the official tests of JSON Schema: that of the shared data, or else what the source distribution of
/// the Python package `jsonschema` brings, which is fetched once into `cache`. `None`, which counts as a skip, where
/// neither can be had.
///
/// # Panics
///
/// Panics if it is absent although `TOOLKIT_REQUIRE_DATA=1` requires it.
#[must_use]
pub fn json_schema_suite(cache: &str) -> Option<PathBuf> {
    static FETCHED: OnceLock<Option<PathBuf>> = OnceLock::new();
    let shared = shared_path("data/json-schema-test-suite/tests");
    if shared.exists() {
        return Some(shared);
    }
    let fetched = FETCHED.get_or_init(|| fetch_json_schema_suite(Path::new(cache))).clone();
    if fetched.is_none() {
        absent("the official tests of JSON Schema");
    }
    fetched
}

fn fetch_json_schema_suite(cache: &Path) -> Option<PathBuf> {
    const PACKAGE: &str = "jsonschema-4.26.0";
    let kept = cache.join(PACKAGE);
    if !kept.exists() {
        // The first process to finish moves the complete folder into place.
        let making = cache.join(format!("{PACKAGE}-{}", std::process::id()));
        let python = |arguments: &[&str]| {
            let run = Command::new("python3").arg("-m").args(arguments).current_dir(&making).output();
            run.is_ok_and(|run| run.status.success()).then_some(())
        };
        std::fs::create_dir_all(&making).ok()?;
        let wanted = PACKAGE.replace('-', "==");
        // The package index is the one that pip is configured for.
        let fetched = python(&["pip", "download", "--quiet", "--retries=1", "--no-deps", "--no-binary=:all:", &wanted])
            .and_then(|()| python(&["tarfile", "--extract", &format!("{PACKAGE}.tar.gz"), "."]));
        if fetched.is_some() {
            let _ = std::fs::rename(making.join(PACKAGE), &kept);
        }
        let _ = std::fs::remove_dir_all(&making);
    }
    Some(kept.join("json/tests")).filter(|tests| tests.exists())
}

/// Returns the text of a shared file; `None` if the data is absent, which counts as a skip.
///
/// # Panics
///
/// Panics if the file is not UTF-8, or is absent although it is required.
#[must_use]
pub fn shared_text(path: &str) -> Option<String> {
    shared(path).map(|found| std::fs::read_to_string(found).expect("shared data is UTF-8"))
}

/// Returns the JSON of a shared file; `None` if the data is absent, which counts as a skip.
///
/// # Panics
///
/// Panics if the file is not JSON, or is absent although it is required.
#[must_use]
pub fn shared_json(path: &str) -> Option<Value> {
    shared_text(path).map(|text| serde_json::from_str(&text).expect("shared data is JSON"))
}

/// Records `n` table-driven cases that ran; the test command adds them up.
pub fn ran(n: usize) {
    count("run", n);
}

/// Records `n` cases that were skipped.
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
