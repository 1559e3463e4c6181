//! Eighth lesson: a toolset, which is the methods of one instance, and hints about their effects.
//!
//! The host passes a [`Root`] to the dispatcher, and the tools borrow it as `&self`. `read_only` and `destructive` tell
//! a client which calls to confirm first; the root itself controls whether anything can be written.

mod info;
mod write;

use schemars::JsonSchema;
use serde::Serialize;
use toolkit::{Content, Context, Structured, ToolError, toolset};

pub use self::info::{FileInfo, Kind};
pub use self::write::Written;
use crate::root::{RelativePath, Root, RootError, is_git_internal};
use crate::walk::{Walk, compile_glob};

/// The maximum number of bytes of a file that are read.
const MAX_FILE: u64 = 5_000_000;

/// Entries of a directory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listing {
    /// The entries, sorted by path.
    pub entries: Vec<FileInfo>,
    /// True if the limit excluded further entries.
    pub truncated: bool,
}

/// Lines of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Excerpt {
    /// The lines, including their line breaks.
    pub text: String,
    /// The number of the first returned line, from 1.
    pub first_line: usize,
    /// The number of returned lines.
    pub lines: usize,
    /// The number of lines of the file.
    pub total_lines: usize,
}

#[toolset(namespace = "files", version = "1.0.0", category = "files", tags = ["files"])]
impl Root {
    /// Lists the entries below a directory, at any depth; does not follow links.
    #[tool(read_only, idempotent, open_world = false, blocking, timeout = "30s", examples = [r#"{"glob": "*.rs"}"#])]
    pub fn list_files(
        &self,
        /// The directory to start from; the root by default.
        #[serde(default = "RelativePath::root")]
        folder: RelativePath,
        /// A filter for paths, such as `*.rs` (name, at any depth) or `src/**/*.rs` (path from the root).
        #[schemars(length(min = 1, max = 200))]
        glob: Option<String>,
        /// The maximum number of entries to return.
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

    /// Returns the type and size of the entry at a path; does not follow a link.
    #[tool(read_only, idempotent, open_world = false)]
    pub fn stat_file(
        &self,
        /// The path to inspect.
        #[arg]
        path: RelativePath,
    ) -> Result<FileInfo, RootError> {
        let relative = path.checked()?;
        // The link itself is inspected, so only its parent is resolved.
        let folder = relative.parent().and_then(|folder| folder.to_str()).filter(|folder| !folder.is_empty());
        self.resolve(&folder.map_or_else(RelativePath::root, |folder| RelativePath(folder.to_owned())))?;
        if is_git_internal(relative) {
            return Err(RootError::GitInternal);
        }
        let metadata = self.dir.symlink_metadata(relative);
        let metadata = metadata.map_err(|error| RootError::of(&path, error))?;
        Ok(FileInfo::new(&path, &metadata))
    }

    /// Reads a text file, or some of its lines.
    #[tool(read_only, idempotent, open_world = false, blocking, timeout = "30s", aliases = ["files:cat"])]
    pub fn read_file(
        &self,
        /// The file to read; at most 5 MB.
        path: RelativePath,
        /// The first line to return, from 1.
        #[schemars(range(min = 1))]
        #[serde(default = "one")]
        first_line: usize,
        /// The maximum number of lines to return; all by default.
        #[schemars(range(min = 1))]
        max_lines: Option<usize>,
        /// The maximum number of bytes to return; lines are never split.
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
            // The model sees where the text stopped; a client can fetch the rest by itself.
            let next = first_line + lines;
            content.push(Content::text(format!("(continue with `first_line` {next} of {total_lines})")));
            content.push(Content::resource_link(format!("root:///{}", uri_path(&path.0)), path.0));
        }
        Ok(Structured::new(Excerpt { text: excerpt, first_line, lines, total_lines }, content))
    }
}

/// Encodes a path for a URI.
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
