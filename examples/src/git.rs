//! Eleventh lesson: asynchronous work, here another program with a timeout.
//!
//! Values from a model never become options: they are bound to their option with `=`, or follow `--end-of-options` and
//! `--`. The repository cannot configure Git: `git/repository.rs` hides its configuration. On timeout the future is
//! dropped, which ends the program.

mod blame;
mod command;
mod commit;
mod objects;
mod pickaxe;
mod refs;
mod repository;

use schemars::JsonSchema;
use serde::Serialize;
use toolkit::{ToolError, tool};

pub use self::blame::{BlamedLine, blame_file};
pub use self::commit::Commit;
use self::commit::FIELDS;
pub use self::pickaxe::search_history;
use self::repository::Repository;
use crate::root::{RelativePath, Root};

/// Returns the log of a repository, newest commit first.
#[tool(
    namespace = "git",
    version = "1.0.0",
    tags = ["history"],
    category = "files",
    read_only,
    open_world = false,
    timeout = "20s",
    examples = [r#"{"path": "src", "limit": 5}"#]
)]
pub async fn git_log(
    /// The directory of the repository; the root by default.
    #[serde(default = "RelativePath::root")]
    repository: RelativePath,
    /// The start: a branch, a tag or a hash.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_][A-Za-z0-9_./~^@{}-]{0,199}$"))]
    #[serde(default = "head")]
    revision: String,
    /// Only commits by authors whose name or address contains this text.
    #[schemars(length(min = 1, max = 100))]
    author: Option<String>,
    /// Only commits of this day (in UTC) and later, such as `2024-05-06`.
    since: Option<jiff::civil::Date>,
    /// Only commits that changed this file or directory, relative to the directory of the repository.
    path: Option<RelativePath>,
    /// The maximum number of commits to return.
    #[schemars(range(min = 1, max = 500))]
    #[serde(default = "twenty")]
    limit: usize,
    root: &Root,
) -> Result<Vec<Commit>, ToolError> {
    let repository = Repository::open(root, &repository).await?;
    let mut git = repository.git();
    git.args(["log", "-z", "--fixed-strings", &format!("--format={FIELDS}%s")]).arg(&format!("--max-count={limit}"));
    if let Some(author) = author {
        git.arg(&format!("--author={author}"));
    }
    if let Some(since) = since {
        git.arg(&format!("--since={since}T00:00:00Z"));
    }
    git.args(["--end-of-options", &revision, "--"]);
    if let Some(path) = &path {
        git.arg(&repository.path(path)?);
    }
    let output = git.run().await?;
    let mut fields = output.split('\0');
    Ok(std::iter::from_fn(|| Commit::read(&mut fields)).collect())
}

/// A file that a commit changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangedFile {
    /// The path from the top of the repository.
    pub path: String,
    /// Number of added lines; absent for a binary file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// Number of removed lines; absent for a binary file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
}

/// A commit and its changes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommitDetails {
    /// The commit, with its full message.
    pub commit: Commit,
    /// The changed files; empty for a merge.
    pub files: Vec<ChangedFile>,
    /// The change in unified format, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

/// Shows one commit: its message, the changed files and, on request, the diff.
#[tool(namespace = "git", version = "1.0.0", tags = ["history"], category = "files", read_only, open_world = false, timeout = "20s")]
pub async fn show_commit(
    /// The directory of the repository; the root by default.
    #[serde(default = "RelativePath::root")]
    repository: RelativePath,
    /// The commit: a hash, a tag or a branch.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_][A-Za-z0-9_./~^@{}-]{0,199}$"))]
    #[serde(default = "head")]
    revision: String,
    /// Includes the diff if true; it may be long.
    #[serde(default)]
    with_patch: bool,
    root: &Root,
) -> Result<CommitDetails, ToolError> {
    let repository = Repository::open(root, &repository).await?;
    let mut git = repository.git();
    git.args(["log", "-1", "-z", &format!("--format={FIELDS}%B"), "--end-of-options", &revision, "--"]);
    let output = git.run().await?;
    let commit = Commit::read(&mut output.split('\0')).ok_or_else(|| format!("`{revision}` is not a commit"))?;

    let tree = ["diff-tree", "--root", "-r", "--no-commit-id", "--no-renames", "--no-ext-diff", "--no-textconv"];
    let mut git = repository.git();
    git.args(tree).args(["--numstat", "-z", &commit.hash, "--"]);
    let output = git.run().await?;
    let files = output.split('\0').filter_map(changed_file).collect();
    let patch = if with_patch {
        let mut git = repository.git();
        git.args(tree).args(["--patch", &commit.hash, "--"]);
        Some(git.run().await?)
    } else {
        None
    };
    Ok(CommitDetails { commit, files, patch })
}

/// Parses `12<tab>3<tab>path`, or `-<tab>-<tab>path` for a binary file.
fn changed_file(line: &str) -> Option<ChangedFile> {
    let mut parts = line.splitn(3, '\t');
    let (added, removed) = (parts.next()?.parse().ok(), parts.next()?.parse().ok());
    Some(ChangedFile { path: parts.next()?.to_owned(), added, removed })
}

fn head() -> String {
    "HEAD".to_owned()
}

fn twenty() -> usize {
    20
}
