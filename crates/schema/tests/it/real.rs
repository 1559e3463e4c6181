//! The schemas of servers that exist.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Returns each schema with its file. Returns `None` if the data is absent, which counts as a skip.
pub(crate) fn real_schemas() -> Option<Vec<(PathBuf, Value)>> {
    let folder = test_support::shared("data/manifests")?;
    let mut schemas = Vec::new();
    for file in json_files(&folder) {
        let text = std::fs::read_to_string(&file).expect("a manifest is UTF-8");
        if let Ok(manifest) = serde_json::from_str::<Value>(&text) {
            let mut found = Vec::new();
            find_schemas(&manifest, &mut found);
            schemas.extend(found.into_iter().map(|schema| (file.clone(), schema.clone())));
        }
    }
    Some(schemas)
}

fn find_schemas<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match key.as_str() {
                    "inputSchema" | "input_schema" | "outputSchema" | "parameters" if value.is_object() => {
                        found.push(value)
                    }
                    _ => find_schemas(value, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| find_schemas(value, found)),
        _ => {}
    }
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            files.extend(json_files(&path));
        } else if path.extension().is_some_and(|e| e == "json") {
            files.push(path);
        }
    }
    files.sort();
    files
}
