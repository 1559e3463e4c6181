//! The metadata of published packages.

use serde_json::Value;

use super::packages;

#[test]
fn every_published_package_has_what_a_registry_and_its_readers_need() {
    let packages = packages();
    let published: Vec<&Value> = packages.iter().filter(|package| package["publish"].is_null()).collect();
    assert!(published.len() > 15, "{}", published.len());
    for package in published {
        let name = package["name"].as_str().unwrap_or_default();
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let folder = std::path::Path::new(manifest).parent().expect("a manifest is in a folder");
        for field in ["description", "license", "readme", "rust_version"] {
            assert!(package[field].is_string(), "{name} lacks `{field}`");
        }
        assert!(folder.join(package["readme"].as_str().unwrap_or_default()).exists(), "{name}");
        for field in ["keywords", "categories"] {
            let n = package[field].as_array().map_or(0, Vec::len);
            assert!((1..=5).contains(&n), "{name} has {n} {field}; a registry accepts 5");
        }
        assert_eq!(package["metadata"]["docs"]["rs"]["all-features"], true, "{name}");
        for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(folder.join(license).exists(), "{name} lacks the link `{license}`");
        }
    }
}
