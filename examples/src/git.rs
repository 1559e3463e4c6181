//! Eleventh lesson: asynchronous work, which here is another program with a time limit.
//!
//! Nothing that a model sends is ever an option: values are bound to their option by `=`, or stand behind
//! `--end-of-options` and `--`. Nothing that a repository says is ever configuration: `git/repository.rs` keeps it from Git.
//! When the time is up the future is dropped, and the program ends with it.

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

/// The log of a repository: who changed what, the newest first.
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
    /// The directory of the repository; the root unless given.
    #[serde(default = "RelativePath::root")]
    repository: RelativePath,
    /// Where to start: a branch, a tag or a hash.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_][A-Za-z0-9_./~^@{}-]{0,199}$"))]
    #[serde(default = "head")]
    revision: String,
    /// Only commits by authors whose name or address holds this text.
    #[schemars(length(min = 1, max = 100))]
    author: Option<String>,
    /// Only commits of this day (in UTC) and later, as in `2024-05-06`.
    since: Option<jiff::civil::Date>,
    /// Only commits that changed this file or directory, from the directory of the repository.
    path: Option<RelativePath>,
    /// The most commits to give back.
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
    /// Its path from the top of the repository.
    pub path: String,
    /// How many lines were added; absent for a binary file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// How many lines were removed; absent for a binary file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
}

/// A commit and what it changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommitDetails {
    /// The commit, with its whole message.
    pub commit: Commit,
    /// The files that it changed; none for a merge.
    pub files: Vec<ChangedFile>,
    /// The change in unified format, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

/// Shows one commit: its message, the files that it changed and, on request, the change itself.
#[tool(namespace = "git", version = "1.0.0", tags = ["history"], category = "files", read_only, open_world = false, timeout = "20s")]
pub async fn show_commit(
    /// The directory of the repository; the root unless given.
    #[serde(default = "RelativePath::root")]
    repository: RelativePath,
    /// The commit: a hash, a tag or a branch.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_][A-Za-z0-9_./~^@{}-]{0,199}$"))]
    #[serde(default = "head")]
    revision: String,
    /// Whether to give back the change itself; it may be long.
    #[serde(default)]
    with_patch: bool,
    root: &Root,
) -> Result<CommitDetails, ToolError> {
    let repository = Repository::open(root, &repository).await?;
    let mut git = repository.git();
    git.args(["log", "-1", "-z", &format!("--format={FIELDS}%B"), "--end-of-options", &revision, "--"]);
    let output = git.run().await?;
    let commit = Commit::read(&mut output.split('\0')).ok_or_else(|| format!("`{revision}` is no commit"))?;

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

/// `12<tab>3<tab>path`, or `-<tab>-<tab>path` for a binary file.
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
