//! Eleventh lesson, continued: preventing a repository from configuring the program that reads it.
//!
//! The configuration of a repository names programs for Git to run and files for it to read, under more keys than a
//! list could cover. Therefore Git never opens it. Git receives a private Git directory with its own configuration, the
//! names and hashes of the repository's refs, and the location of its objects. Hooks, filters, attributes, replaced
//! objects, reflogs and the worktree are not visible to it.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use tempfile::TempDir;
use toolkit::ToolError;

use super::command::Git;
use super::{objects, refs};
use crate::root::{Contents, RelativePath, Root, RootError};

/// The maximum size of a file in a Git directory, in bytes: enough for a `packed-refs` of about 200,000 refs.
const MAX_FILE: u64 = 16 << 20;

/// A repository below the root.
pub(super) struct Repository {
    /// The private Git directory, which is deleted on drop.
    git_dir: TempDir,
    objects: PathBuf,
    /// The directory that paths are relative to, from the top of the worktree.
    folder: PathBuf,
}

impl Repository {
    /// Finds the repository that contains a directory.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no repository below the root, if part of it is outside the root, or if its format
    /// is not supported.
    pub(super) async fn open(root: &Root, folder: &RelativePath) -> Result<Self, ToolError> {
        let (root, folder) = (root.try_clone()?, folder.clone());
        let opened = tokio::task::spawn_blocking(move || Self::read(&root, &folder));
        opened.await.map_err(ToolError::internal)?
    }

    fn read(root: &Root, folder: &RelativePath) -> Result<Self, ToolError> {
        let found = Found::below(root, folder)?;
        let source = Source { dir: &root.dir };
        if source.has(&found.common.join("reftable")) {
            let message = "the repository keeps its refs in the `reftable` format, which is not supported";
            return Err(ToolError::failed(message));
        }
        let refs = refs::read(&source, &found.git_dir, &found.common)?;
        let objects = root.path.join(objects::check(&root.dir, &found.common)?);
        let git_dir = tempfile::Builder::new().prefix("toolkit-git-").tempdir()?;
        let write = |name: &str, text: &str| std::fs::write(git_dir.path().join(name), text);
        std::fs::create_dir(git_dir.path().join("refs"))?;
        write("HEAD", &refs.head)?;
        write("packed-refs", &refs.packed)?;
        write("config", &config(refs.is_sha256))?;
        if let Some(shallow) = source.text(&found.common.join("shallow"))? {
            let hashes = shallow.lines().filter(|line| refs::is_hash(line));
            write("shallow", &hashes.map(|hash| format!("{hash}\n")).collect::<String>())?;
        }
        Ok(Self { git_dir, objects, folder: found.folder })
    }

    /// Creates a Git command that reads this repository.
    pub(super) fn git(&self) -> Git {
        Git::new(self.git_dir.path(), &self.objects)
    }

    /// Converts a path relative to the directory of the tool into one relative to the top of the worktree.
    ///
    /// # Errors
    ///
    /// Returns an error unless the path is relative and stays below its start.
    pub(super) fn path(&self, path: &RelativePath) -> Result<String, RootError> {
        let joined: PathBuf =
            self.folder.join(path.checked()?).components().filter(|part| part.as_os_str() != ".").collect();
        // Both parts are UTF-8: one was read from JSON, the other is a prefix of such a path.
        Ok(joined.to_string_lossy().into_owned())
    }
}

/// Bounds the memory that a hostile object can make Git use, and names no program to run and no file to read.
fn config(is_sha256: bool) -> String {
    let format = match is_sha256 {
        true => "\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n",
        false => "\trepositoryformatversion = 0\n",
    };
    // Precomputed data about commits and packs may contradict the objects.
    "[log]\n\tmailmap = false\n[core]\n\tbare = true\n\tquotePath = false\n\tcommitGraph = false\n\tmultiPackIndex = false\n\
     \tbigFileThreshold = 8m\n\tdeltaBaseCacheLimit = 16m\n\tpackedGitLimit = 64m\n\tpackedGitWindowSize = 8m\n"
        .to_owned()
        + format
}

/// Locations of the parts of a repository, relative to the root.
struct Found {
    git_dir: PathBuf,
    /// The Git directory of the main worktree; equal to `git_dir` unless this is a linked worktree.
    common: PathBuf,
    folder: PathBuf,
}

impl Found {
    fn below(root: &Root, folder: &RelativePath) -> Result<Self, ToolError> {
        let source = Source { dir: &root.dir };
        let outside = || ToolError::failed(format!("the repository of `{}` lies outside the root", folder.0));
        let start = root.resolve(folder)?;
        root.dir.open_dir(&start).map_err(|error| RootError::of(folder, error))?;
        for top in start.ancestors() {
            let dot_git = top.join(".git");
            let metadata = match root.dir.metadata(&dot_git) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(_) => return Err(outside()),
            };
            // A link, and the file in place of `.git` in a submodule, may lead outside.
            let inside = |base: &Path, path: &str| {
                let path = Path::new(path.trim_end_matches(['\r', '\n']));
                let path = path.strip_prefix(&root.path).map_or_else(|_| base.join(path), Path::to_owned);
                root.dir.canonicalize(path).map_err(|_| outside())
            };
            let git_dir = match metadata.is_dir() {
                true => inside(top, ".git")?,
                false => {
                    let text = source.text(&dot_git)?.unwrap_or_default();
                    inside(top, text.strip_prefix("gitdir: ").ok_or_else(outside)?)?
                }
            };
            let common = match source.text(&git_dir.join("commondir"))? {
                Some(path) => inside(&git_dir, &path)?,
                None => git_dir.clone(),
            };
            let folder = start.strip_prefix(top).unwrap_or(Path::new("")).to_owned();
            return Ok(Self { git_dir, common, folder });
        }
        Err(ToolError::failed(format!("`{}` is not in a Git repository below the root", folder.0)))
    }
}

/// Reader of the files of a Git directory.
pub(super) struct Source<'r> {
    pub(super) dir: &'r Dir,
}

impl Source<'_> {
    pub(super) fn has(&self, path: &Path) -> bool {
        self.dir.symlink_metadata(path).is_ok()
    }

    /// Returns the text of a file, or `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the path leads outside the root, or to anything but a text of limited size.
    pub(super) fn text(&self, path: &Path) -> Result<Option<String>, ToolError> {
        let broken = || {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            ToolError::failed(format!("the repository is broken: `{name}` cannot be read"))
        };
        match Contents::read(self.dir, path, MAX_FILE) {
            Ok(Some(Contents { bytes, .. })) if bytes.len() as u64 <= MAX_FILE => {
                String::from_utf8(bytes).map(Some).map_err(|_| broken())
            }
            Ok(_) => Err(broken()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(broken().caused_by(error)),
        }
    }
}
