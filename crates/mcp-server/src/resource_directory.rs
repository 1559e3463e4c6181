//! The files of a directory.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use toolkit::call::{BoxFuture, Context, ErrorKind, ToolError};
use toolkit::resource::{ResourceBody, ResourceContents, ResourceTemplate, Resources};

use super::resource_templates::{decoded, is_relative_path, is_scheme};

/// The default of `max_bytes`.
const MAX_BYTES: u64 = 1 << 20;

/// The files of a directory and its subdirectories, under a scheme such as `docs:///guide/start.md`.
///
/// Clients do not receive a list, only the template of the URIs. Symbolic links, files with hard links (on Unix), hidden files
/// (with a name that starts with `.`) and everything that is not a regular file do not exist for them. Files that change while they are read are
/// confined as well: a file is returned only if the opened file is the one that the path leads to, without links.
///
/// The MIME type follows from the extension. A file that is valid UTF-8 is returned as text, any other as bytes.
///
/// # Examples
///
/// ```
/// use toolkit::Context;
/// use toolkit::resource::Resources;
/// use toolkit_mcp_server::DirectoryResources;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// # let directory = std::env::temp_dir().join(format!("toolkit-resources-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// std::fs::write(directory.join("start.md"), "# Start")?;
/// let docs = DirectoryResources::new("docs", &directory)?.max_bytes(64 << 10);
///
/// let contents = docs.read("docs:///start.md", &Context::new()).await?.ok_or("an unknown URI")?;
/// assert_eq!(contents[0].as_text(), Some("# Start"));
/// assert_eq!(contents[0].mime_type.as_deref(), Some("text/markdown"));
/// assert!(docs.read("docs:///../secret", &Context::new()).await?.is_none());
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DirectoryResources {
    scheme: String,
    /// Without links.
    root: PathBuf,
    max_bytes: u64,
}

impl DirectoryResources {
    /// Creates a provider for the files of a directory, with URIs of this scheme.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is not a directory, or the scheme is not one of RFC 3986.
    pub fn new(scheme: &str, directory: impl AsRef<Path>) -> io::Result<Self> {
        if !is_scheme(scheme) {
            let message = format!("`{}` is not the scheme of a URI", scheme.escape_debug());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let root = directory.as_ref().canonicalize()?;
        if !root.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { scheme: scheme.to_owned(), root, max_bytes: MAX_BYTES })
    }

    /// Sets the maximum size of a file. Reading a larger one is an error. Default: 1 MiB.
    #[must_use]
    pub fn max_bytes(self, n_bytes: u64) -> Self {
        Self { max_bytes: n_bytes, ..self }
    }

    /// Returns the path of a URI relative to the root.
    fn path_of(&self, uri: &str) -> Option<String> {
        let path = uri.strip_prefix(&*self.scheme)?.strip_prefix(":///")?;
        let path = decoded(path)?;
        let is_hidden = path.split('/').any(|part| part.starts_with('.'));
        (is_relative_path(&path) && !is_hidden).then_some(path)
    }

    fn contents(&self, uri: &str) -> Result<Option<Vec<ResourceContents>>, ToolError> {
        let Some(relative) = self.path_of(uri) else {
            return Ok(None);
        };
        let path = self.root.join(&relative);
        let Some(file) = open_without_links(&path) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(self.max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(ToolError::internal)?;
        if bytes.len() as u64 > self.max_bytes {
            let message = format!("the file has more than {} bytes, the limit for a resource", self.max_bytes);
            return Err(ToolError::new(ErrorKind::ResultTooLarge, message));
        }
        let body = String::from_utf8(bytes).map_or_else(|error| error.into_bytes().into(), ResourceBody::Text);
        let mut contents = ResourceContents::new(uri, body);
        contents.mime_type = mime_type(&relative).map(str::to_owned);
        Ok(Some(vec![contents]))
    }
}

/// Opens a regular file if its path contains no links.
fn open_without_links(path: &Path) -> Option<File> {
    let is_direct = || path.canonicalize().is_ok_and(|real| real == path);
    // Checked before it is opened, since opening a device may have effects.
    if !is_direct() || !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let file = open_regular(path)?;
    // The path may have been replaced by a link before the file was opened.
    let opened = file.metadata().ok()?;
    let is_same = is_direct() && is_same_file(&opened, &path.symlink_metadata().ok()?);
    (is_same && !has_other_names(&opened)).then_some(file)
}

/// Opens a file if it is a regular one. The path may have been replaced by a pipe, which must not block the thread.
fn open_regular(path: &Path) -> Option<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;

        options.custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY).bits().cast_signed());
    }
    let file = options.open(path).ok()?;
    file.metadata().is_ok_and(|opened| opened.is_file()).then_some(file)
}

#[cfg(unix)]
fn is_same_file(one: &std::fs::Metadata, other: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Returns true for a file with a hard link, which may be the name of a file outside of the directory.
#[cfg(unix)]
fn has_other_names(file: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(file) > 1
}

/// Returns false, since the standard library does not report it.
#[cfg(not(unix))]
fn has_other_names(_: &std::fs::Metadata) -> bool {
    false
}

/// Compares what the standard library offers, since it has no stable identity of files on this system.
#[cfg(not(unix))]
fn is_same_file(one: &std::fs::Metadata, other: &std::fs::Metadata) -> bool {
    one.len() == other.len() && one.modified().ok() == other.modified().ok()
}

/// Returns the media type of a path by its extension.
pub(super) fn mime_type(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    Some(match &*extension.to_ascii_lowercase() {
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "js" | "mjs" => "text/javascript",
        "json" => "application/json",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        _ => return None,
    })
}

impl Resources for DirectoryResources {
    fn templates<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<ResourceTemplate>, ToolError>> {
        Box::pin(async { Ok(vec![ResourceTemplate::new(format!("{}:///{{+path}}", self.scheme), &*self.scheme)]) })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async move { self.contents(uri) })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::open_regular;

    #[test]
    fn opening_a_pipe_or_a_device_does_not_block() {
        let directory = std::env::temp_dir().join(format!("toolkit-pipe-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let (pipe, file) = (directory.join("pipe"), directory.join("file"));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::fs::write(&file, "text").unwrap();
        let link = directory.join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        // A pipe without a writer.
        assert!(open_regular(&pipe).is_none());
        assert!(open_regular("/dev/zero".as_ref()).is_none());
        assert!(open_regular(&link).is_none());
        assert!(open_regular(&file).is_some());
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
