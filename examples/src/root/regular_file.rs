//! Sixth lesson, continued: inspecting the file that was opened, and not its path.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;

use cap_std::fs::{Dir, Metadata, OpenOptions};

/// The content of a regular file.
pub(crate) struct Contents {
    pub(crate) bytes: Vec<u8>,
    /// True if the file has another name (a hard link), which may be outside the root.
    pub(crate) has_other_names: bool,
}

impl Contents {
    /// Reads at most `max_bytes` and one more of a file; returns `None` if it is not a regular file.
    ///
    /// The entry at a path may be replaced between two accesses. Therefore the file is opened without blocking, since a
    /// named pipe would block a reader, and the type of the open file is checked.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened or read, or is outside `dir`.
    pub(crate) fn read(dir: &Dir, path: &Path, max_bytes: u64) -> io::Result<Option<Contents>> {
        // Opening a device may already have an effect.
        if !dir.metadata(path)?.is_file() {
            return Ok(None);
        }
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        }
        let file = dir.open_with(path, &options)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        // The file may grow while it is read, so its size is not reliable.
        file.take(max_bytes + 1).read_to_end(&mut bytes)?;
        Ok(Some(Contents { bytes, has_other_names: n_names(&metadata) > 1 }))
    }
}

#[cfg(unix)]
fn n_names(metadata: &Metadata) -> u64 {
    cap_std::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn n_names(_: &Metadata) -> u64 {
    1
}

/// Returns true if a path leads to Git's internal files, which contain credentials and names of programs to run.
///
/// File systems that ignore case, trailing dots, short names or invisible characters resolve these names to `.git` too.
pub(crate) fn is_git_internal(path: &Path) -> bool {
    let is_ignored = |c: &char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    path.iter().any(|part: &OsStr| {
        let Some(part) = part.to_str() else { return true };
        let part: String = part.chars().filter(|c| !is_ignored(c)).collect();
        // `.git::$INDEX_ALLOCATION` is `.git` on NTFS.
        let part = part.split(':').next().unwrap_or_default().trim_end_matches([' ', '.']);
        part.eq_ignore_ascii_case(".git") || part.eq_ignore_ascii_case("git~1")
    })
}
