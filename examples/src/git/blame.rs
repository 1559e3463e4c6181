//! Eleventh lesson, continued: parsing a format for programs.

use schemars::JsonSchema;
use serde::Serialize;
use toolkit::{ToolError, tool};

use super::repository::Repository;
use super::twenty;
use crate::root::{RelativePath, Root};

/// A line and the commit that last changed it.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct BlamedLine {
    /// The line number, from 1.
    pub line: usize,
    /// The text of the line.
    pub text: String,
    /// The hash of the commit.
    pub hash: String,
    /// The author of the commit.
    pub author: String,
    /// The first line of the commit's message.
    pub summary: String,
}

/// Returns, for each line of the committed version of a file, the commit that last changed it.
#[tool(namespace = "git", version = "1.0.0", tags = ["history"], category = "files", read_only, open_world = false, timeout = "30s")]
pub async fn blame_file(
    /// The directory of the repository; the root by default.
    #[serde(default = "RelativePath::root")]
    repository: RelativePath,
    /// The file, relative to the directory of the repository.
    path: RelativePath,
    /// The first line, from 1.
    #[schemars(range(min = 1, max = 10_000_000))]
    #[serde(default = "one")]
    first_line: usize,
    /// The maximum number of lines.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(default = "twenty")]
    max_lines: usize,
    root: &Root,
) -> Result<Vec<BlamedLine>, ToolError> {
    let repository = Repository::open(root, &repository).await?;
    let mut git = repository.git();
    git.args([
        "blame",
        "--line-porcelain",
        "--no-textconv",
        &format!("-L{first_line},+{max_lines}"),
        "HEAD",
        "--",
        &repository.path(&path)?,
    ]);
    let output = git.run().await?;
    let (mut lines, mut current) = (Vec::new(), BlamedLine::default());
    for line in output.lines() {
        // A tab precedes the text of a line; the other records describe it.
        if let Some(text) = line.strip_prefix('\t') {
            text.clone_into(&mut current.text);
            current.line = first_line + lines.len();
            lines.push(std::mem::take(&mut current));
        } else if let Some(author) = line.strip_prefix("author ") {
            author.clone_into(&mut current.author);
        } else if let Some(summary) = line.strip_prefix("summary ") {
            summary.clone_into(&mut current.summary);
        } else if current.hash.is_empty() {
            line.split(' ').next().unwrap_or_default().clone_into(&mut current.hash);
        }
    }
    Ok(lines)
}

fn one() -> usize {
    1
}
