//! What a workspace says of the build as a whole, which a program outside of it has to be told.

use std::fs;
use std::path::Path;

use toml::{Table, Value};

/// The `[patch]` and `[profile]` of the workspace in `root`, as TOML: without the first, other packages would be linked,
/// and without the second they would be built otherwise.
///
/// # Errors
///
/// Its manifest cannot be read, or is no TOML; cargo has read it just before.
pub(crate) fn settings(root: &Path) -> Result<String, String> {
    let path = root.join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let manifest: Table = text.parse().map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let mut settings: Table =
        manifest.into_iter().filter(|(name, _)| matches!(name.as_str(), "patch" | "profile")).collect();
    if let Some(Value::Table(sources)) = settings.get_mut("patch") {
        for package in sources.iter_mut().filter_map(|(_, source)| source.as_table_mut()).flatten() {
            anchor(package.1, root);
        }
    }
    toml::to_string(&settings).map_err(|error| format!("cannot write what {} says: {error}", path.display()))
}

/// A path in the manifest starts from its folder.
fn anchor(package: &mut Value, root: &Path) {
    if let Some(Value::String(path)) = package.get_mut("path") {
        *path = root.join(&*path).to_string_lossy().into_owned();
    }
}
