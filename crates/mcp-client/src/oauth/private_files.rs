//! Directories and files of the user. On other platforms than Unix, the profiles of users are private.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// The permission of others to write.
const WRITE: u32 = 0o022;

/// All permissions of others.
const ANY: u32 = 0o077;

/// Creates a directory that only the user can read, or checks the existing one.
pub(super) fn create_directory(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)?;
    check_directory(directory)
}

/// Checks that no other user can replace the files of a directory.
pub(super) fn check_directory(directory: &Path) -> io::Result<()> {
    let metadata = fs::metadata(directory)?;
    if !is_own(&metadata) {
        return Err(denied("the directory belongs to another user"));
    }
    match is_open_to_others(&metadata, WRITE) {
        true => Err(denied("other users can write to the directory; remove their permission")),
        false => Ok(()),
    }
}

/// Opens or creates a regular file of the user. A link is an error, and a pipe does not block the thread.
pub(super) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;

        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    match metadata.is_file() && is_own(&metadata) {
        true => Ok(file),
        false => Err(denied("a file belongs to another user, or is not a regular file; remove it")),
    }
}

/// Checks that no other user can read a file.
pub(super) fn check_readers(file: &File) -> io::Result<()> {
    match is_open_to_others(&file.metadata()?, ANY) {
        true => Err(denied("other users can read a file; remove it and log in again")),
        false => Ok(()),
    }
}

fn denied(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

#[cfg(unix)]
fn is_own(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn is_open_to_others(metadata: &Metadata, permissions: u32) -> bool {
    use std::os::unix::fs::PermissionsExt;

    metadata.permissions().mode() & permissions != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Metadata, _: u32) -> bool {
    false
}
