//! Eleventh lesson, continued: the objects of a repository, all of which lie inside it.

use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use toolkit::ToolError;

/// More files than this are not looked at. Git packs objects long before there are so many.
const MAX_FILES: usize = 200_000;

/// Returns the path of the objects, from the root.
///
/// # Errors
///
/// Objects would be read from somewhere else: through a link, or from another repository (`objects/info/alternates`).
pub(super) fn check(dir: &Dir, common: &Path) -> Result<PathBuf, ToolError> {
    let elsewhere = |how: &str| {
        ToolError::failed(format!("the repository has objects outside of itself ({how}), which are not read"))
    };
    let objects = common.join("objects");
    if dir.symlink_metadata(&objects).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(elsewhere("`objects` is a link"));
    }
    let unreadable = |error| ToolError::failed("the repository is broken: it has no objects").caused_by(error);
    if dir.symlink_metadata(objects.join("info/alternates")).is_ok() {
        return Err(elsewhere("`objects/info/alternates`"));
    }
    let mut n_files = 0;
    let mut folders = vec![(objects.clone(), true)];
    while let Some((folder, is_top)) = folders.pop() {
        for entry in dir.read_dir(&folder).map_err(unreadable)?.flatten() {
            n_files += 1;
            if n_files > MAX_FILES {
                return Err(ToolError::failed(format!(
                    "the repository has more than {MAX_FILES} files of objects; `git gc` packs them"
                )));
            }
            let file_type = entry.file_type().map_err(unreadable)?;
            match () {
                // What lies deeper are precomputed data, which are switched off.
                () if file_type.is_dir() && is_top => folders.push((folder.join(entry.file_name()), false)),
                () if file_type.is_dir() || file_type.is_file() => {}
                // A pipe would keep Git waiting.
                () => return Err(elsewhere("one is a link, or not a file")),
            }
        }
    }
    Ok(objects)
}
