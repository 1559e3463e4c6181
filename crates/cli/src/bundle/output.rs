//! Files that are complete or absent.

use std::fs::File;
use std::io;
use std::path::Path;

use super::metadata::failed;
use crate::error::CommandError;

/// Writes a file by `write`, under another name until it is complete.
pub(super) fn create(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> Result<(), CommandError> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = builder.prefix(".bundle-").tempfile_in(directory).map_err(|error| failed(path, &error))?;
    write(file.as_file()).map_err(|error| failed(path, &error))?;
    file.persist(path).map_err(|error| failed(path, &error.error))?;
    Ok(())
}
