//! The location of third-party test data, and the count of tests that ran and that were skipped.
//!
//! Real manifests, official schemas and conformance suites are third-party material and are read in place: from
//! `TOOLKIT_SHARED`, or from `../shared` beside the project. Where they are absent and cannot be fetched, a test is
//! skipped, and the skip is counted; with `TOOLKIT_REQUIRE_DATA=1` it is a failure.

pub mod browser;
pub mod client;
mod executor;
#[cfg(unix)]
pub mod full;
#[cfg(doctest)]
pub mod guide;
pub mod hostile;
pub mod official;
pub mod programs;
pub mod relay;
pub mod replies;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};

pub use self::executor::block_on;

/// README, so that its examples are compiled and run; [`guide`] does the same for `docs/`.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

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

/// Returns the tools of [`real_manifests`], valid or not.
///
/// # Panics
///
/// Panics in the cases of [`real_manifests`].
#[must_use]
pub fn real_tools() -> Vec<toolkit::Tool> {
    real_servers().into_iter().flat_map(|(_, tools)| tools).collect()
}

/// Returns the tools of [`real_manifests`], valid or not, by the name of their file.
///
/// # Panics
///
/// Panics in the cases of [`real_manifests`].
#[must_use]
pub fn real_servers() -> Vec<(String, Vec<toolkit::Tool>)> {
    let tools =
        |manifest: &toolkit::Manifest| manifest.listings().filter_map(|listing| listing.tool().cloned()).collect();
    real_files().iter().map(|(name, manifest)| (name.clone(), tools(manifest))).collect()
}

/// Returns the valid tools of [`real_servers`], with a namespace for each server.
///
/// # Panics
///
/// Panics in the cases of [`real_manifests`].
#[must_use]
pub fn real_catalog() -> toolkit::Catalog {
    let mut servers = real_servers();
    servers.sort_by(|(a, _), (b, _)| a.cmp(b));
    let tools = servers.into_iter().enumerate().flat_map(|(idx, (name, tools))| {
        // Two manifests may have the same file name.
        let name = format!("{}-{idx}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        let namespace: toolkit::tool::Namespace = name.parse().expect("it is a name");
        let tools = tools.into_iter().filter(|tool| toolkit::Catalog::new([tool.clone()]).is_ok());
        tools.map(move |tool| tool.in_namespace(namespace.clone()))
    });
    toolkit::Catalog::new(tools).expect("each tool is valid, and has a name of its own")
}

/// Returns the manifests of the shared data in any order; none if the data is absent, which counts as a skip.
///
/// # Panics
///
/// Panics if the data is absent although `TOOLKIT_REQUIRE_DATA=1` requires it.
#[must_use]
pub fn real_manifests() -> Vec<toolkit::Manifest> {
    real_files().into_iter().map(|(_, manifest)| manifest).collect()
}

fn real_files() -> Vec<(String, toolkit::Manifest)> {
    let (mut manifests, mut folders) = (Vec::new(), Vec::from_iter(shared("data/manifests")));
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the data can be read") {
            let path = entry.expect("the data can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(manifest) = toolkit::Manifest::from_mcp_json(std::fs::read(&path).expect("it can be read"))
            {
                manifests.push((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), manifest));
            }
        }
    }
    manifests
}

/// The 1,080 tools of a real catalogue in Open Tool Calling, as definitions; none where the data is absent, which counts
/// as a skip. The data lists parameters one by one, and has types where a definition has schemas.
///
/// # Panics
///
/// Panics if the data is absent although `TOOLKIT_REQUIRE_DATA=1` requires it.
#[must_use]
pub fn real_definitions() -> Vec<Value> {
    let text = shared_text("data/catalog-otc-arcade.jsonl").unwrap_or_default();
    text.lines().map(|line| definition(&serde_json::from_str(line).expect("the data is JSON"))).collect()
}

fn definition(record: &Value) -> Value {
    let text = |key: &str| record[key].as_str().expect("it is a text");
    let mut parameters = json!({ "type": "object" });
    for parameter in record["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().expect("a parameter has a name");
        parameters["properties"][name] = parameter_schema(parameter);
        if parameter["required"] == true {
            let required = parameters.as_object_mut().and_then(|map| {
                let required = map.entry("required").or_insert_with(|| json!([]));
                required.as_array_mut()
            });
            required.expect("it is an array").push(json!(name));
        }
    }
    let (path, version) = text("fullyQualifiedName").split_once('@').expect("an id has a version");
    let mut definition = json!({
        "id": format!("{path}@{version}"),
        "name": path.replace('.', "_"),
        "description": text("description"),
        "version": version,
        "input_schema": { "parameters": parameters },
        "output_schema": typed(&record["output"]["type"], &record["output"]["description"]),
    });
    if let Value::Object(auth) = &record["auth"] {
        // A case without a name is identified by its kind.
        let id = auth["providerId"].as_str().or(auth["providerType"].as_str());
        let authorization = json!([{ "id": id, "oauth2": { "scopes": auth["scopes"] } }]);
        definition["requirements"]["authorization"] = authorization;
    }
    let secrets = record["secrets"].as_array().into_iter().flatten();
    let secrets: Vec<Value> = secrets.map(|id| json!({ "id": id })).collect();
    if !secrets.is_empty() {
        definition["requirements"]["secrets"] = secrets.into();
    }
    definition
}

fn parameter_schema(parameter: &Value) -> Value {
    let mut schema = typed(&parameter["type"], &parameter["description"]);
    let values = parameter["enum"].as_array().filter(|values| !values.is_empty());
    if parameter["type"] == "array" {
        schema["items"] = typed(&parameter["innerType"], &Value::Null);
        if let Some(values) = values {
            schema["items"]["enum"] = json!(values);
        }
    } else if let Some(values) = values {
        schema["enum"] = json!(values);
    }
    schema
}

/// `json` is any value.
fn typed(name: &Value, description: &Value) -> Value {
    let mut schema = json!({});
    if name.is_string() && name != "json" {
        schema["type"] = name.clone();
    }
    if description.is_string() {
        schema["description"] = description.clone();
    }
    schema
}
