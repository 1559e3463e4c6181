//! Eleventh lesson, continued: the refs of a repository, read as data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolkit::ToolError;

use super::repository::Source;

/// The maximum number of refs.
const MAX_REFS: usize = 200_000;

/// The maximum length of the name of a ref, in bytes.
const MAX_NAME: usize = 1024;

/// The refs of a repository, as the files of a Git directory hold them.
pub(super) struct Refs {
    pub(super) head: String,
    pub(super) packed: String,
    pub(super) is_sha256: bool,
}

/// Reads `HEAD`, the packed refs and the loose refs.
///
/// # Errors
///
/// Returns an error if a file is malformed or leads outside the root, or if there are too many refs.
pub(super) fn read(source: &Source<'_>, git_dir: &Path, common: &Path) -> Result<Refs, ToolError> {
    let head = source.text(&git_dir.join("HEAD"))?.unwrap_or_default();
    let head = head.trim_end();
    let is_sound = is_hash(head) || head.strip_prefix("ref: ").is_some_and(is_name);
    if !is_sound {
        return Err(ToolError::failed("the repository is broken: `HEAD` names neither a branch nor a commit"));
    }
    let mut refs = BTreeMap::new();
    for line in source.text(&common.join("packed-refs"))?.unwrap_or_default().lines() {
        if let Some((hash, name)) = line.split_once(' ')
            && is_hash(hash)
            && is_name(name)
        {
            refs.insert(name.to_owned(), hash.to_owned());
        }
    }
    let symbolic = add_loose(source, common, &mut refs)?;
    for (name, target) in symbolic {
        if let Some(hash) = refs.get(&target).cloned() {
            refs.insert(name, hash);
        }
    }
    if refs.len() > MAX_REFS {
        return Err(too_many());
    }
    let is_sha256 = refs.values().next().map_or(head, |hash| hash).len() == 64;
    let packed = refs.iter().map(|(name, hash)| format!("{hash} {name}\n")).collect();
    Ok(Refs { head: format!("{head}\n"), packed, is_sha256 })
}

/// Adds the loose refs, and returns the symbolic refs with their names.
fn add_loose(
    source: &Source<'_>,
    common: &Path,
    refs: &mut BTreeMap<String, String>,
) -> Result<Vec<(String, String)>, ToolError> {
    let (mut symbolic, mut n_seen) = (Vec::new(), 0);
    let mut pending = vec![PathBuf::from("refs")];
    while let Some(folder) = pending.pop() {
        let Ok(entries) = source.dir.read_dir(common.join(&folder)) else {
            continue;
        };
        for entry in entries.flatten() {
            n_seen += 1;
            if n_seen > MAX_REFS {
                return Err(too_many());
            }
            let path = folder.join(entry.file_name());
            // A link does not count as a ref here, since it could lead anywhere.
            let (Ok(file_type), Some(name)) = (entry.file_type(), path.to_str().filter(|name| is_name(name))) else {
                continue;
            };
            if file_type.is_dir() {
                pending.push(path);
            } else if file_type.is_file() {
                let text = source.text(&common.join(&path))?.unwrap_or_default();
                match text.trim_end() {
                    hash if is_hash(hash) => drop(refs.insert(name.to_owned(), hash.to_owned())),
                    text => {
                        symbolic.extend(text.strip_prefix("ref: ").map(|target| (name.to_owned(), target.to_owned())))
                    }
                }
            }
        }
    }
    Ok(symbolic)
}

fn too_many() -> ToolError {
    ToolError::failed(format!("the repository has more than {MAX_REFS} refs, which is more than is read"))
}

/// Returns true for the hash of an object, in SHA-1 or SHA-256.
pub(super) fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns true for a valid name of a ref, by the rules of `git check-ref-format`.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| !c.is_control() && !matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    (name == "refs" || name.starts_with("refs/"))
        && name.len() <= MAX_NAME
        && name.chars().all(is_plain)
        && !name.contains("@{")
        && name
            .split('/')
            .all(|part| !part.is_empty() && !part.starts_with('.') && !part.contains("..") && !part.ends_with(".lock"))
}
