//! Settings of the workspace that the generated program needs.

use std::fs;
use std::path::Path;

use toml::{Table, Value};

/// Returns the `[patch]` and `[profile]` sections of the workspace in `root`, as TOML. They affect the linked packages and
/// how they are built.
///
/// # Errors
///
/// Returns an error if the manifest cannot be read or is not TOML, although cargo has read it before.
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
    toml::to_string(&settings).map_err(|error| format!("cannot write the settings of {}: {error}", path.display()))
}

/// Makes a path absolute, which is relative to the directory of the manifest.
fn anchor(package: &mut Value, root: &Path) {
    if let Some(Value::String(path)) = package.get_mut("path") {
        *path = root.join(&*path).to_string_lossy().into_owned();
    }
}
