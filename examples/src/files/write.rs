//! Eighth lesson, continued: a tool that changes things, and says so.
//!
//! A toolset may have several `impl` blocks.

use std::io::Write;
use std::path::Path;

use cap_std::fs::Metadata;
use cap_tempfile::TempFile;
use schemars::JsonSchema;
use serde::Serialize;
use toolkit::toolset;

use crate::root::{Refusal, RelativePath, Root, is_git_internal};

/// What was written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Written {
    /// How many bytes the file has now.
    pub bytes: usize,
    /// Whether there was a file before.
    pub replaced: bool,
}

#[toolset(namespace = "files", version = "1.0.0", category = "files", tags = ["files"])]
impl Root {
    /// Writes a text file in one step: readers see the old text or the new one, never a part.
    ///
    /// The directories on the way are made. A link is replaced, not followed.
    #[tool(destructive, idempotent, open_world = false, blocking, tags = ["write"])]
    pub fn write_file(
        &self,
        /// The file to write.
        path: RelativePath,
        /// Its whole new text.
        #[schemars(length(max = 1_000_000))]
        text: String,
        /// Whether a file that exists is replaced.
        #[serde(default)]
        overwrite: bool,
    ) -> Result<Written, Refusal> {
        let relative = path.checked()?;
        if !self.writable {
            return Err(Refusal::NotWritable("the files here may only be read; tell the user what you would write"));
        }
        // Git runs programs that its configuration names: to write there is to run anything.
        if is_git_internal(relative) {
            return Err(Refusal::GitInternal);
        }
        let refused = |error| Refusal::of(&path, error);
        let name = relative.file_name().ok_or_else(|| Refusal::NotAFile(path.0.clone()))?;
        let folder = relative.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        self.dir.create_dir_all(folder).map_err(refused)?;
        let dir = self.dir.open_dir(folder).map_err(refused)?;
        // A link on the way may lead into `.git`, under another name.
        let real = self.dir.canonicalize(folder).map_err(refused)?;
        if is_git_internal(&real) {
            return Err(Refusal::GitInternal);
        }
        let before = dir.symlink_metadata(name).ok();
        if before.as_ref().is_some_and(Metadata::is_dir) {
            return Err(Refusal::NotAFile(path.0.clone()));
        }
        if before.is_some() && !overwrite {
            return Err(Refusal::Exists(path.0.clone()));
        }
        let mut file = TempFile::new(&dir).map_err(refused)?;
        file.write_all(text.as_bytes()).map_err(refused)?;
        file.as_file().sync_all().map_err(refused)?;
        file.replace(name).map_err(refused)?;
        Ok(Written { bytes: text.len(), replaced: before.is_some() })
    }
}
