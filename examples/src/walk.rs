//! Everything below a directory of the root, in the order of the names.

use std::path::Path;

use cap_std::fs::{DirEntry, FileType};
use globset::{GlobBuilder, GlobMatcher};
use toolkit::ToolError;

use crate::root::{Refusal, RelativePath, Root, is_git_internal};

/// Deeper than any project; a link that leads upwards is not followed anyway.
const MAX_DEPTH: usize = 64;

/// What a walk finds.
pub(crate) struct Found {
    /// Its path from the root.
    pub(crate) path: RelativePath,
    pub(crate) file_type: FileType,
    pub(crate) entry: DirEntry,
}

/// Walks through a directory, past links and what git keeps for itself.
pub(crate) struct Walk<'r> {
    root: &'r Root,
    /// What is still to be looked at, the next one last.
    pending: Vec<Found>,
}

impl<'r> Walk<'r> {
    pub(crate) fn new(root: &'r Root, folder: &RelativePath) -> Result<Self, Refusal> {
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
            // A directory that went away or may not be read is one without entries.
            self.pending.extend(children(self.root, &found.path).unwrap_or_default());
        }
        Some(found)
    }
}

/// The entries of a directory, the first one last.
fn children(root: &Root, folder: &RelativePath) -> Result<Vec<Found>, Refusal> {
    let entries = root.dir.read_dir(folder.checked()?).map_err(|error| Refusal::of(folder, error))?;
    let prefix = folder.0.split('/').filter(|part| !matches!(*part, "" | ".")).collect::<Vec<_>>().join("/");
    let mut found = Vec::new();
    for entry in entries.flatten() {
        // A name that is no UTF-8 could not be asked for afterwards.
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

/// Compiles a glob that a model sent; none matches everything.
pub(crate) fn compile_glob(glob: Option<&str>) -> Result<impl Fn(&str) -> bool, ToolError> {
    let compile = |glob: &str| -> Result<GlobMatcher, globset::Error> {
        Ok(GlobBuilder::new(glob).literal_separator(true).build()?.compile_matcher())
    };
    let matcher = glob.map(compile).transpose();
    let matcher = matcher
        .map_err(|error| ToolError::failed(format!("the glob is not valid: {error}; write it as in `src/**/*.rs`")))?;
    // Without a `/` it is about the name, wherever the file is.
    let by_name = glob.is_some_and(|glob| !glob.contains('/'));
    Ok(move |path: &str| {
        let subject = if by_name { path.rsplit('/').next().unwrap_or(path) } else { path };
        matcher.as_ref().is_none_or(|matcher| matcher.is_match(subject))
    })
}
