//! Files that are read and replaced as a whole.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The end of the name of a file that is not complete.
const UNFINISHED: &str = ".tmp";

/// The permissions of a new file. They apply on Unix; on other platforms, a file has those of its directory.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum FileAccess<'m> {
    /// Only the owner can read and write the file (mode 0600).
    Owner,
    /// The mask of the process applies, as for any new file.
    Default,
    /// The owner and the permissions of the file that is replaced.
    Like(&'m Metadata),
}

/// A file that takes the place of another one when it is complete. Readers see the old content or the new one.
///
/// The temporary file has an unguessable name in the same directory. It is removed if the replacement is dropped.
///
/// # Examples
///
/// ```
/// use std::io::Write;
/// use toolkit_runtime::{FileAccess, Replacement};
///
/// let path = std::env::temp_dir().join(format!("toolkit-runtime-{}.txt", std::process::id()));
/// let replacement = Replacement::create(&path, FileAccess::Owner)?;
/// replacement.file().write_all(b"complete")?;
/// replacement.commit()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "complete");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Replacement {
    temporary: NamedTempFile,
    target: PathBuf,
}

impl Replacement {
    /// Creates an empty file beside `target`.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory does not exist or cannot be written, or the file cannot be given to the owner
    /// of the present one.
    pub fn create(target: &Path, access: FileAccess<'_>) -> io::Result<Self> {
        let name = target.file_name().ok_or_else(|| invalid("the path has no file name"))?;
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(UNFINISHED);
        // `tempfile_in` would hide the code of an error of the platform.
        let temporary = builder.make_in(directory_of(target), |path| {
            let mut options = OpenOptions::new();
            #[cfg(unix)]
            {
                use std::os::unix::fs::OpenOptionsExt;

                options.mode(if matches!(access, FileAccess::Default) { 0o666 } else { 0o600 });
            }
            options.write(true).create_new(true).open(path)
        })?;
        if let FileAccess::Like(metadata) = access {
            #[cfg(unix)]
            {
                use std::os::unix::fs::{MetadataExt, fchown};

                let new = temporary.as_file().metadata()?;
                if (new.uid(), new.gid()) != (metadata.uid(), metadata.gid()) {
                    fchown(temporary.as_file(), Some(metadata.uid()), Some(metadata.gid()))?;
                }
            }
            temporary.as_file().set_permissions(metadata.permissions())?;
        }
        Ok(Self { temporary, target: target.to_owned() })
    }

    /// Returns the new file.
    pub fn file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Writes the new file to disk and puts it in the place of the old one.
    ///
    /// # Errors
    ///
    /// Returns an error if that is not possible. The old file stays.
    pub fn commit(self) -> io::Result<()> {
        self.file().sync_all()?;
        self.temporary.persist(&self.target).map_err(|error| error.error)?;
        sync_directory(&self.target)
    }

    /// Does the same as [`commit`](Self::commit), unless there is a file in that place.
    ///
    /// # Errors
    ///
    /// Returns an error if there is one.
    pub fn commit_new(self) -> io::Result<()> {
        self.file().sync_all()?;
        self.temporary.persist_noclobber(&self.target).map_err(|error| error.error)?;
        sync_directory(&self.target)
    }

    /// Returns the name of the file that a temporary file was to replace, if `name` is one that a killed process has
    /// left.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_runtime::Replacement;
    ///
    /// assert_eq!(Replacement::target_of(".state.json.x7Rq2b.tmp"), Some("state.json"));
    /// assert_eq!(Replacement::target_of("state.json"), None);
    /// ```
    pub fn target_of(name: &str) -> Option<&str> {
        let (target, _random) = name.strip_prefix('.')?.strip_suffix(UNFINISHED)?.rsplit_once('.')?;
        (!target.is_empty()).then_some(target)
    }
}

/// Replaces a file as a whole, or creates it.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::{FileAccess, replace_file};
///
/// let path = std::env::temp_dir().join(format!("toolkit-runtime-replaced-{}.txt", std::process::id()));
/// replace_file(&path, FileAccess::Owner, b"one")?;
/// replace_file(&path, FileAccess::Owner, b"two")?;
/// assert_eq!(std::fs::read_to_string(&path)?, "two");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the file cannot be written. The old file stays.
pub fn replace_file(path: &Path, access: FileAccess<'_>, content: &[u8]) -> io::Result<()> {
    let replacement = Replacement::create(path, access)?;
    replacement.file().write_all(content)?;
    replacement.commit()
}

/// Writes the names of a directory to disk, so that a renamed file is there after a crash.
fn sync_directory(target: &Path) -> io::Result<()> {
    // Other systems cannot open a directory as a file.
    if cfg!(unix) { File::open(directory_of(target))?.sync_all() } else { Ok(()) }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens a regular file for reading. A pipe or a device is an error and does not block the thread.
///
/// # Errors
///
/// Returns an error if the path does not lead to a regular file that can be read.
pub fn open_regular_file(path: &Path) -> io::Result<File> {
    // Checked before it is opened, since opening a device may have effects.
    check_regular(&fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;

        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    let file = options.read(true).open(path)?;
    // The path may have been replaced before it was opened.
    check_regular(&file.metadata()?)?;
    Ok(file)
}

fn check_regular(metadata: &Metadata) -> io::Result<()> {
    match metadata.is_file() {
        true => Ok(()),
        false => Err(invalid("the path is not a regular file")),
    }
}

/// Reads a regular file of at most `max_bytes` bytes.
///
/// # Examples
///
/// ```
/// use std::path::Path;
/// use toolkit_runtime::read_regular_file;
///
/// let path = std::env::temp_dir().join(format!("toolkit-runtime-read-{}.txt", std::process::id()));
/// std::fs::write(&path, "four")?;
/// assert_eq!(read_regular_file(&path, 4)?, b"four");
/// let error = read_regular_file(&path, 3).unwrap_err();
/// assert_eq!(error.to_string(), "the file exceeds the limit of 3 bytes");
/// assert!(read_regular_file(Path::new("/dev/zero"), 4).is_err());
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the path does not lead to a regular file, or the file cannot be read or is larger.
pub fn read_regular_file(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open_regular_file(path)?;
    let n_bytes = file.metadata()?.len();
    if n_bytes > max_bytes {
        return Err(too_large(max_bytes));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(n_bytes).unwrap_or_default());
    read_up_to(file, max_bytes, &mut bytes).map(|()| bytes)
}

/// Reads a file, a pipe or a device to its end, of at most `max_bytes` bytes.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::read_bounded;
///
/// assert_eq!(read_bounded(&b"four"[..], 4)?, b"four");
/// assert!(read_bounded(std::io::repeat(0), 4).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if it cannot be read or has more bytes.
pub fn read_bounded(reader: impl Read, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_up_to(reader, max_bytes, &mut bytes).map(|()| bytes)
}

fn read_up_to(reader: impl Read, max_bytes: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    reader.take(max_bytes.saturating_add(1)).read_to_end(bytes)?;
    match bytes.len() as u64 > max_bytes {
        true => Err(too_large(max_bytes)),
        false => Ok(()),
    }
}

fn too_large(max_bytes: u64) -> io::Error {
    let limit = match max_bytes {
        0 => "0 bytes".to_owned(),
        _ if max_bytes.is_multiple_of(1 << 20) => format!("{} MiB", max_bytes >> 20),
        _ if max_bytes.is_multiple_of(1 << 10) => format!("{} KiB", max_bytes >> 10),
        _ => format!("{max_bytes} bytes"),
    };
    io::Error::new(io::ErrorKind::FileTooLarge, format!("the file exceeds the limit of {limit}"))
}

fn invalid(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
