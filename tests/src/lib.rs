//! Where the tests find the data that nobody here wrote, and how they count what they could not run.
//!
//! Real manifests, official schemas and conformance suites are third-party material and are read in place: from
//! `TOOLKIT_SHARED`, or from `../shared` beside the project. Where they are absent and cannot be fetched, a test is
//! skipped, and the skip is counted; with `TOOLKIT_REQUIRE_DATA=1` it is a failure.

pub mod hostile;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

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
    let found = shared_path(path);
    if !found.exists() {
        absent(&found.display().to_string());
        return None;
    }
    Some(found)
}

fn shared_path(path: &str) -> PathBuf {
    let root = std::env::var_os("TOOLKIT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
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
/// If there is none although `TOOLKIT_REQUIRE_DATA=1` says that there must be.
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
        // Whoever is first puts it in its place whole.
        let making = cache.join(format!("{PACKAGE}-{}", std::process::id()));
        let python = |arguments: &[&str]| {
            let run = Command::new("python3").arg("-m").args(arguments).current_dir(&making).output();
            run.is_ok_and(|run| run.status.success()).then_some(())
        };
        std::fs::create_dir_all(&making).ok()?;
        let wanted = PACKAGE.replace('-', "==");
        // The index is the one that pip is set up to use.
        let fetched = python(&["pip", "download", "--quiet", "--retries=1", "--no-deps", "--no-binary=:all:", &wanted])
            .and_then(|()| python(&["tarfile", "--extract", &format!("{PACKAGE}.tar.gz"), "."]));
        if fetched.is_some() {
            let _ = std::fs::rename(making.join(PACKAGE), &kept);
        }
        let _ = std::fs::remove_dir_all(&making);
    }
    Some(kept.join("json/tests")).filter(|tests| tests.exists())
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

/// The tools of the manifests in the shared data, sound or not, in no order that matters; none where the data is absent,
/// which counts as a skip.
///
/// # Panics
///
/// If the data is absent although `TOOLKIT_REQUIRE_DATA=1` says that it must be there.
#[must_use]
pub fn real_tools() -> Vec<toolkit::Tool> {
    real_servers().into_iter().flat_map(|(_, tools)| tools).collect()
}

/// [`real_tools`], by the file that they are in.
///
/// # Panics
///
/// As [`real_tools`].
#[must_use]
pub fn real_servers() -> Vec<(String, Vec<toolkit::Tool>)> {
    let (mut servers, mut folders) = (Vec::new(), Vec::from_iter(shared("data/manifests")));
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the data can be read") {
            let path = entry.expect("the data can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(manifest) = toolkit::Manifest::from_mcp_json(std::fs::read(&path).expect("it can be read"))
            {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                servers.push((name, manifest.listings().filter_map(|listing| listing.tool().cloned()).collect()));
            }
        }
    }
    servers
}
