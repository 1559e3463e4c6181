//! Eighth lesson: a toolset, which is the methods of one instance, and hints about what they change.
//!
//! The dispatcher is given a [`Root`] and lends it as `&self`. `read_only` and `destructive` tell a client which calls
//! need a question first; the root itself decides whether anything may be written at all.

mod info;
mod write;

use schemars::JsonSchema;
use serde::Serialize;
use toolkit::{Content, Context, Structured, ToolError, toolset};

pub use self::info::{FileInfo, Kind};
pub use self::write::Written;
use crate::root::{Refusal, RelativePath, Root, is_git_internal};
use crate::walk::{Walk, compile_glob};

/// The most bytes of a file that are looked at.
const MAX_FILE: u64 = 5_000_000;

/// What is in a directory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listing {
    /// The entries in the order of their paths.
    pub entries: Vec<FileInfo>,
    /// Whether there are more than the limit let through.
    pub truncated: bool,
}

/// Lines of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Excerpt {
    /// The lines, with their line breaks.
    pub text: String,
    /// The number of the first of them, from 1.
    pub first_line: usize,
    /// How many lines are given.
    pub lines: usize,
    /// How many lines the file has.
    pub total_lines: usize,
}

#[toolset(namespace = "files", version = "1.0.0", category = "files", tags = ["files"])]
impl Root {
    /// Lists what is below a directory, at any depth; links are not followed.
    #[tool(read_only, idempotent, open_world = false, blocking, timeout = "30s", examples = [r#"{"glob": "*.rs"}"#])]
    pub fn list_files(
        &self,
        /// The directory to start from; the root unless given.
        #[serde(default = "RelativePath::root")]
        folder: RelativePath,
        /// Which paths to list, as in `*.rs` (by name, at any depth) or `src/**/*.rs` (by path from the root).
        #[schemars(length(min = 1, max = 200))]
        glob: Option<String>,
        /// The most entries to give back.
        #[schemars(range(min = 1, max = 5000))]
        #[serde(default = "two_hundred")]
        limit: usize,
        ctx: &Context,
    ) -> Result<Listing, ToolError> {
        let wanted = compile_glob(glob.as_deref())?;
        let walk = Walk::new(self, &folder)?.take_while(|_| !ctx.is_cancelled());
        let mut walk = walk.filter(|found| wanted(&found.path.0));
        let mut entries = Vec::new();
        for found in walk.by_ref().take(limit) {
            if let Ok(metadata) = found.entry.metadata() {
                entries.push(FileInfo::new(&found.path, &metadata));
            }
        }
        Ok(Listing { entries, truncated: walk.next().is_some() })
    }

    /// Tells what stands at a path, and how large it is; a link is not followed.
    #[tool(read_only, idempotent, open_world = false)]
    pub fn stat_file(
        &self,
        /// The path to look at.
        #[arg]
        path: RelativePath,
    ) -> Result<FileInfo, Refusal> {
        let relative = path.checked()?;
        // The link itself is looked at, so only the way to it is followed.
        let folder = relative.parent().and_then(|folder| folder.to_str()).filter(|folder| !folder.is_empty());
        self.resolve(&folder.map_or_else(RelativePath::root, |folder| RelativePath(folder.to_owned())))?;
        if is_git_internal(relative) {
            return Err(Refusal::GitInternal);
        }
        let metadata = self.dir.symlink_metadata(relative);
        let metadata = metadata.map_err(|error| Refusal::of(&path, error))?;
        Ok(FileInfo::new(&path, &metadata))
    }

    /// Reads a text file, or some of its lines.
    #[tool(read_only, idempotent, open_world = false, blocking, timeout = "30s", aliases = ["files:cat"])]
    pub fn read_file(
        &self,
        /// The file to read; at most 5 MB.
        path: RelativePath,
        /// The first line to give back, from 1.
        #[schemars(range(min = 1))]
        #[serde(default = "one")]
        first_line: usize,
        /// The most lines to give back; all unless given.
        #[schemars(range(min = 1))]
        max_lines: Option<usize>,
        /// The most bytes to give back; lines are kept whole.
        #[schemars(range(min = 1, max = 1_000_000))]
        #[serde(default = "hundred_thousand")]
        max_bytes: usize,
    ) -> Result<Structured<Excerpt>, ToolError> {
        let text = self.read_text(&path, MAX_FILE)?;
        let total_lines = text.lines().count();
        if first_line > total_lines.max(1) {
            let message = format!("`{}` has only {total_lines} lines; ask for an earlier one", path.0);
            return Err(message.into());
        }
        let (mut excerpt, mut lines) = (String::new(), 0);
        for line in text.split_inclusive('\n').skip(first_line - 1).take(max_lines.unwrap_or(usize::MAX)) {
            if excerpt.len() + line.len() > max_bytes {
                break;
            }
            excerpt.push_str(line);
            lines += 1;
        }
        if lines == 0 && total_lines > 0 {
            let message = format!("line {first_line} alone is longer than `max_bytes` ({max_bytes}); raise it");
            return Err(message.into());
        }
        let mut content = vec![Content::text(excerpt.clone())];
        if first_line + lines <= total_lines {
            // The model sees where it stopped; a client may fetch the rest by itself.
            let next = first_line + lines;
            content.push(Content::text(format!("(continue with `first_line` {next} of {total_lines})")));
            content.push(Content::resource_link(format!("root:///{}", uri_path(&path.0)), path.0));
        }
        Ok(Structured::new(Excerpt { text: excerpt, first_line, lines, total_lines }, content))
    }
}

/// A path as it stands in an address.
pub(crate) fn uri_path(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn one() -> usize {
    1
}

fn two_hundred() -> usize {
    200
}

fn hundred_thousand() -> usize {
    100_000
}
