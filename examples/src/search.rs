//! Tenth lesson: long-running work.
//!
//! `blocking` moves the work off the threads that serve other calls. The tool reports progress, checks for
//! cancellation, and returns partial results when it stops early.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::{Context, ToolError, tool};

use crate::root::{RelativePath, Root};
use crate::text::compile_pattern;
use crate::walk::{Found, Walk, compile_glob};

/// The maximum size of a file that is searched, in bytes; larger files are data and not text.
const MAX_FILE: u64 = 2_000_000;

/// The maximum length of the shown part of a line, in characters.
const MAX_LINE: usize = 300;

/// The maximum number of files that one call searches.
const MAX_FILES: usize = 50_000;

/// The line length above which only patterns with a small compiled size are searched, since a search within a line
/// cannot be interrupted.
const MAX_PLAIN_LINE: usize = 128 << 10;

/// The number of bytes that are searched between two checks for cancellation.
const BYTES_PER_LOOK: usize = 256 << 10;

/// Pattern and location of a search.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchArgs {
    /// A regular expression without look-around and back-references, matched line by line.
    #[schemars(length(min = 1, max = 1000))]
    pub pattern: String,
    /// The directory to search; the root by default.
    #[serde(default = "RelativePath::root")]
    pub folder: RelativePath,
    /// The files to search, such as `*.rs` (name) or `src/**/*.rs` (path from the root).
    #[schemars(length(min = 1, max = 200))]
    pub glob: Option<String>,
    /// Ignores the difference between upper and lower case if true.
    #[serde(default)]
    pub ignore_case: bool,
    /// Number of context lines before and after each hit.
    #[schemars(range(max = 10))]
    #[serde(default)]
    pub context: usize,
    /// The number of hits after which the search stops.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(default = "hundred")]
    pub max_hits: usize,
}

fn hundred() -> usize {
    100
}

/// A line that matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hit {
    /// The path of the file.
    pub path: String,
    /// The line number, from 1.
    pub line: usize,
    /// The line, shortened if it is long.
    pub text: String,
    /// The lines before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// Reason for which a search stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The search is complete.
    Finished,
    /// The maximum number of hits was reached.
    MaxHits,
    /// The maximum number of files was reached; set a folder or a glob.
    TooManyFiles,
    /// The call was cancelled.
    Cancelled,
}

/// Result of a search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchResult {
    /// The hits, sorted by path and line.
    pub hits: Vec<Hit>,
    /// Number of files that were searched.
    pub files_searched: usize,
    /// Number of files that were skipped: not text, too large, or with lines too long for the pattern.
    pub files_skipped: usize,
    /// Reason for which the search stopped.
    pub stopped: Stopped,
}

/// Searches the text files below a directory for a regular expression.
#[tool(
    namespace = "files",
    version = "1.0.0",
    tags = ["files", "regex"],
    category = "files",
    read_only,
    idempotent,
    open_world = false,
    aliases = ["files:grep"],
    blocking,
    timeout = "60s",
    examples = [r#"{"pattern": "fn \\w+", "glob": "*.rs", "context": 1}"#]
)]
pub fn search_files(args: SearchArgs, ctx: &Context, root: &Root) -> Result<SearchResult, ToolError> {
    let pattern = compile_pattern(&args.pattern, args.ignore_case, MAX_PLAIN_LINE)?;
    let is_small = compile_pattern(&args.pattern, args.ignore_case, MAX_FILE as usize).is_ok();
    let wanted = compile_glob(args.glob.as_deref())?;
    let walk = Walk::new(root, &args.folder)?;
    let mut files: Vec<Found> = walk
        .take_while(|_| !ctx.is_cancelled())
        .filter(|found| found.file_type.is_file() && wanted(&found.path.0))
        .take(MAX_FILES + 1)
        .collect();
    let too_many = files.len() > MAX_FILES;
    files.truncate(MAX_FILES);

    let mut result = SearchResult {
        hits: Vec::new(),
        files_searched: 0,
        files_skipped: 0,
        stopped: if too_many { Stopped::TooManyFiles } else { Stopped::Finished },
    };
    for (idx, file) in files.iter().enumerate() {
        ctx.progress(idx as f64, files.len() as f64, &file.path.0);
        if ctx.is_cancelled() {
            result.stopped = Stopped::Cancelled;
            return Ok(result);
        }
        // A file that is not text, or has disappeared, is skipped.
        let Ok(text) = root.read_text(&file.path, MAX_FILE) else {
            result.files_skipped += 1;
            continue;
        };
        let lines: Vec<&str> = text.lines().collect();
        if !is_small && lines.iter().any(|line| line.len() > MAX_PLAIN_LINE) {
            result.files_skipped += 1;
            continue;
        }
        result.files_searched += 1;
        let mut n_bytes = 0;
        for (idx, line) in lines.iter().enumerate() {
            n_bytes += line.len() + 1;
            if n_bytes > BYTES_PER_LOOK {
                n_bytes = 0;
                if ctx.is_cancelled() {
                    result.stopped = Stopped::Cancelled;
                    return Ok(result);
                }
            }
            let Some(found) = pattern.find(line) else {
                continue;
            };
            if result.hits.len() == args.max_hits {
                result.stopped = Stopped::MaxHits;
                return Ok(result);
            }
            let around = |lines: &[&str]| lines.iter().map(|line| cut(line, 0)).collect();
            let after = lines.len().min(idx + 1 + args.context);
            result.hits.push(Hit {
                path: file.path.0.clone(),
                line: idx + 1,
                text: cut(line, found.start()),
                before: around(&lines[idx.saturating_sub(args.context)..idx]),
                after: around(&lines[idx + 1..after]),
            });
        }
    }
    ctx.progress(files.len() as f64, files.len() as f64, "done");
    Ok(result)
}

/// Shortens a line to the part around the byte `start`.
fn cut(line: &str, start: usize) -> String {
    if line.chars().nth(MAX_LINE).is_none() {
        return line.to_owned();
    }
    let from = line.floor_char_boundary(start.saturating_sub(MAX_LINE / 3));
    let piece: String = line[from..].chars().take(MAX_LINE).collect();
    let (left, right) = (if from > 0 { "…" } else { "" }, if from + piece.len() < line.len() { "…" } else { "" });
    format!("{left}{piece}{right}")
}
