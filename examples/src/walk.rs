//! Traversal of everything below a directory of the root, sorted by name.

use std::path::Path;

use cap_std::fs::{DirEntry, FileType};
use globset::{GlobBuilder, GlobMatcher};
use toolkit::ToolError;

use crate::root::{RelativePath, Root, RootError, is_git_internal};

/// The maximum depth, which exceeds that of any project; links that lead upward are not followed anyway.
const MAX_DEPTH: usize = 64;

/// An entry of a walk.
pub(crate) struct Found {
    /// The path from the root.
    pub(crate) path: RelativePath,
    pub(crate) file_type: FileType,
    pub(crate) entry: DirEntry,
}

/// Walks a directory tree without following links and without Git's internal files.
pub(crate) struct Walk<'r> {
    root: &'r Root,
    /// The pending entries, the next one last.
    pending: Vec<Found>,
}

impl<'r> Walk<'r> {
    pub(crate) fn new(root: &'r Root, folder: &RelativePath) -> Result<Self, RootError> {
        root.resolve(folder)?;
        let pending = children(root, folder)?;
        Ok(Self { root, pending })
    }
}

impl Iterator for Walk<'_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        let found = self.pending.pop()?;
        if found.file_type.is_dir() && found.path.0.matches('/').count() < MAX_DEPTH {
            // A directory that has disappeared or cannot be read counts as empty.
            self.pending.extend(children(self.root, &found.path).unwrap_or_default());
        }
        Some(found)
    }
}

/// Returns the entries of a directory in reverse order.
fn children(root: &Root, folder: &RelativePath) -> Result<Vec<Found>, RootError> {
    let entries = root.dir.read_dir(folder.checked()?).map_err(|error| RootError::of(folder, error))?;
    let prefix = folder.0.split('/').filter(|part| !matches!(*part, "" | ".")).collect::<Vec<_>>().join("/");
    let mut found = Vec::new();
    for entry in entries.flatten() {
        // A name that is not UTF-8 could not be passed as an argument later.
        let (Ok(name), Ok(file_type)) = (entry.file_name().into_string(), entry.file_type()) else {
            continue;
        };
        if is_git_internal(Path::new(&name)) {
            continue;
        }
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        found.push(Found { path: RelativePath(path), file_type, entry });
    }
    found.sort_by(|a, b| b.path.0.cmp(&a.path.0));
    Ok(found)
}

/// Compiles a glob that a model sent; no glob matches everything.
pub(crate) fn compile_glob(glob: Option<&str>) -> Result<impl Fn(&str) -> bool, ToolError> {
    let compile = |glob: &str| -> Result<GlobMatcher, globset::Error> {
        Ok(GlobBuilder::new(glob).literal_separator(true).build()?.compile_matcher())
    };
    let matcher = glob.map(compile).transpose();
    let matcher = matcher
        .map_err(|error| ToolError::failed(format!("the glob is not valid: {error}; write it as in `src/**/*.rs`")))?;
    // A glob without `/` matches the name, at any depth.
    let by_name = glob.is_some_and(|glob| !glob.contains('/'));
    Ok(move |path: &str| {
        let subject = if by_name { path.rsplit('/').next().unwrap_or(path) } else { path };
        matcher.as_ref().is_none_or(|matcher| matcher.is_match(subject))
    })
}
