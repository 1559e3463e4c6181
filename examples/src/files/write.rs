//! Eighth lesson, continued: a tool that changes files, and its hints.
//!
//! A toolset may have several `impl` blocks.

use std::io::Write;
use std::path::Path;

use cap_std::fs::Metadata;
use cap_tempfile::TempFile;
use schemars::JsonSchema;
use serde::Serialize;
use toolkit::toolset;

use crate::root::{RelativePath, Root, RootError, is_git_internal};

/// Result of a write.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Written {
    /// The new size of the file, in bytes.
    pub bytes: usize,
    /// True if a file was replaced.
    pub replaced: bool,
}

#[toolset(namespace = "files", version = "1.0.0", category = "files", tags = ["files"])]
impl Root {
    /// Writes a text file atomically: readers see the old text or the new one, never a mixture.
    ///
    /// Creates missing parent directories. Replaces a link instead of following it.
    #[tool(destructive, idempotent, open_world = false, blocking, tags = ["write"])]
    pub fn write_file(
        &self,
        /// The file to write.
        path: RelativePath,
        /// The complete new text.
        #[schemars(length(max = 1_000_000))]
        text: String,
        /// Replaces an existing file if true.
        #[serde(default)]
        overwrite: bool,
    ) -> Result<Written, RootError> {
        let relative = path.checked()?;
        if !self.writable {
            return Err(RootError::NotWritable("the files are read-only; describe the intended change to the user"));
        }
        // Git runs programs that its configuration names, so writing there would allow running anything.
        if is_git_internal(relative) {
            return Err(RootError::GitInternal);
        }
        let refused = |error| RootError::of(&path, error);
        let name = relative.file_name().ok_or_else(|| RootError::NotAFile(path.0.clone()))?;
        let folder = relative.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        self.dir.create_dir_all(folder).map_err(refused)?;
        let dir = self.dir.open_dir(folder).map_err(refused)?;
        // A link on the path may lead into `.git` under another name.
        let real = self.dir.canonicalize(folder).map_err(refused)?;
        if is_git_internal(&real) {
            return Err(RootError::GitInternal);
        }
        let before = dir.symlink_metadata(name).ok();
        if before.as_ref().is_some_and(Metadata::is_dir) {
            return Err(RootError::NotAFile(path.0.clone()));
        }
        if before.is_some() && !overwrite {
            return Err(RootError::Exists(path.0.clone()));
        }
        let mut file = TempFile::new(&dir).map_err(refused)?;
        file.write_all(text.as_bytes()).map_err(refused)?;
        file.as_file().sync_all().map_err(refused)?;
        file.replace(name).map_err(refused)?;
        Ok(Written { bytes: text.len(), replaced: before.is_some() })
    }
}
