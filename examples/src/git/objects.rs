//! Eleventh lesson, continued: the objects of a repository, all of which must be inside it.

use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use toolkit::ToolError;

/// The maximum number of object files. Git packs objects long before there are that many.
const MAX_FILES: usize = 200_000;

/// Returns the path of the objects, from the root.
///
/// # Errors
///
/// Returns an error if objects would be read from elsewhere: through a link, or from another repository
/// (`objects/info/alternates`).
pub(super) fn check(dir: &Dir, common: &Path) -> Result<PathBuf, ToolError> {
    let elsewhere = |how: &str| {
        ToolError::failed(format!("the repository refers to objects outside of itself ({how}), which cannot be read"))
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
                // Deeper directories contain precomputed data, which is disabled.
                () if file_type.is_dir() && is_top => folders.push((folder.join(entry.file_name()), false)),
                () if file_type.is_dir() || file_type.is_file() => {}
                // A named pipe would block Git.
                () => return Err(elsewhere("one is a link, or not a file")),
            }
        }
    }
    Ok(objects)
}
