//! Eleventh lesson, continued: streamed results, since some take long to find.

use toolkit::{Chunks, ToolError, tool};

use super::commit::{Commit, FIELDS, N_FIELDS};
use super::repository::Repository;
use super::{head, twenty};
use crate::root::{RelativePath, Root};

/// Searches the whole history for a text, and streams each commit that added or removed it.
#[tool(
    namespace = "git",
    version = "1.0.0",
    tags = ["history"],
    category = "files",
    read_only,
    open_world = false,
    timeout = "120s",
    examples = [r#"{"text": "fn main"}"#]
)]
pub async fn search_history(
    /// The directory of the repository; the root by default.
    #[serde(default = "RelativePath::root")]
    repository: RelativePath,
    /// The text to find in added or removed lines.
    #[schemars(length(min = 1, max = 200))]
    text: String,
    /// The start: a branch, a tag or a hash.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_][A-Za-z0-9_./~^@{}-]{0,199}$"))]
    #[serde(default = "head")]
    revision: String,
    /// The maximum number of commits to return.
    #[schemars(range(min = 1, max = 500))]
    #[serde(default = "twenty")]
    limit: usize,
    root: &Root,
) -> Result<Chunks<Commit>, ToolError> {
    let repository = Repository::open(root, &repository).await?;
    let mut git = repository.git();
    git.args([
        "log",
        "-z",
        "--no-textconv",
        "--no-ext-diff",
        &format!("--format={FIELDS}%s"),
        &format!("--max-count={limit}"),
        &format!("-S{text}"),
    ]);
    git.args(["--end-of-options", &revision, "--"]);
    Ok(Chunks::emit(async move |commits| {
        // The private repository must exist until Git has ended.
        let _repository = repository;
        let (mut printed, mut fields) = (git.fields().await?, Vec::new());
        while let Some(field) = printed.next().await? {
            fields.push(field);
            if fields.len() == N_FIELDS {
                let commit = Commit::read(&mut fields.iter().map(String::as_str));
                fields.clear();
                if let Some(commit) = commit {
                    commits.send(commit).await?;
                }
            }
        }
        Ok(())
    }))
}
