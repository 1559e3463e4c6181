//! Tenth lesson: long work.
//!
//! `blocking` takes it off the threads that serve other calls. It says how far it has come, looks whether anybody still
//! waits, and gives back what it has when it stops early.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::{Context, ToolError, tool};

use crate::root::{RelativePath, Root};
use crate::text::compile_pattern;
use crate::walk::{Found, Walk, compile_glob};

/// Larger files are data, not text to be searched.
const MAX_FILE: u64 = 2_000_000;

/// The longest piece of a line that is shown, in characters.
const MAX_LINE: usize = 300;

/// More files than this are not looked at in one call.
const MAX_FILES: usize = 50_000;

/// Longer lines are searched only for patterns that are small once they are compiled, since a search through a line
/// cannot be interrupted.
const MAX_PLAIN_LINE: usize = 128 << 10;

/// How many bytes are searched between two looks at the caller.
const BYTES_PER_LOOK: usize = 256 << 10;

/// What to search for, and where.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchArgs {
    /// A regular expression, without look-around or back-references; it is matched line by line.
    #[schemars(length(min = 1, max = 1000))]
    pub pattern: String,
    /// The directory to search; the root unless given.
    #[serde(default = "RelativePath::root")]
    pub folder: RelativePath,
    /// Which files to search, as in `*.rs` (by name) or `src/**/*.rs` (by path from the root).
    #[schemars(length(min = 1, max = 200))]
    pub glob: Option<String>,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    pub ignore_case: bool,
    /// How many lines to show before and after each hit.
    #[schemars(range(max = 10))]
    #[serde(default)]
    pub context: usize,
    /// After how many hits to stop.
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
    /// The file.
    pub path: String,
    /// The number of the line, from 1.
    pub line: usize,
    /// The line, cut where it is long.
    pub text: String,
    /// The lines before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// Why a search stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// It looked at everything.
    Finished,
    /// It found as many hits as were asked for.
    MaxHits,
    /// There are more files than one call looks at; name a folder or a glob.
    TooManyFiles,
    /// Nobody waits for it any more.
    Cancelled,
}

/// What a search found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchResult {
    /// The hits, in the order of paths and lines.
    pub hits: Vec<Hit>,
    /// How many files were searched.
    pub files_searched: usize,
    /// How many were not, because they are not text, too large, or have lines too long for the pattern.
    pub files_skipped: usize,
    /// Why it stopped.
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
        // A file that is no text, or went away, is none to be searched.
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

/// A line of bearable length that holds the byte `start`.
fn cut(line: &str, start: usize) -> String {
    if line.chars().nth(MAX_LINE).is_none() {
        return line.to_owned();
    }
    let from = line.floor_char_boundary(start.saturating_sub(MAX_LINE / 3));
    let piece: String = line[from..].chars().take(MAX_LINE).collect();
    let (left, right) = (if from > 0 { "…" } else { "" }, if from + piece.len() < line.len() { "…" } else { "" });
    format!("{left}{piece}{right}")
}
