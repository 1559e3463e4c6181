//! Skills whose files are in memory.

use std::fs;
use std::io;
use std::path::Path;

use data_encoding::HEXLOWER;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use toolkit::call::{BoxFuture, Context, ToolError};
use toolkit::resource::{Resource, ResourceBody, ResourceContents, Resources, Skill, SkillFile};

use super::resource_directory::mime_type;
use super::resource_set::ResourceSet;

/// The file with the instructions of a skill.
const SKILL_FILE: &str = "SKILL.md";

/// The maximum size of a file, of all files, and the maximum number of files.
const MAX_FILE_BYTES: u64 = 1 << 20;
const MAX_BYTES: usize = 16 << 20;
const MAX_FILES: usize = 1_000;

/// The maximum number of files of a skill that every host accepts.
const MAX_SKILL_FILES: usize = 512;

/// The maximum depth of directories.
const MAX_DEPTH: usize = 16;

/// The maximum lengths of the frontmatter in bytes, and of a name and a description in characters, by the specification of
/// [Agent Skills](https://agentskills.io/specification).
const MAX_FRONTMATTER_BYTES: usize = 16 << 10;
pub(super) const MAX_NAME: usize = 64;
pub(super) const MAX_DESCRIPTION: usize = 1_024;

/// Skills: directories of files with instructions for agents, which clients list and read (the extension
/// `io.modelcontextprotocol/skills`).
///
/// The files are read once, so that the digests that clients compare with fit them. Hidden files and symbolic links are left
/// out.
///
/// # Examples
///
/// ```
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_mcp_server::{Server, SkillSet};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = std::env::temp_dir().join(format!("toolkit-skills-{}", std::process::id()));
/// # std::fs::create_dir_all(directory.join("refunds"))?;
/// let text = "---\nname: refunds\ndescription: Refunds orders by the rules of the shop.\n---\nAsk for the number of the order first.\n";
/// std::fs::write(directory.join("refunds/SKILL.md"), text)?;
///
/// let skills = SkillSet::open(&directory)?.with("returns", "Explains how to return an order.", "Only within 30 days.")?;
/// assert_eq!(skills.iter().map(|skill| &*skill.uri).collect::<Vec<_>>(), ["skill://refunds/SKILL.md", "skill://returns/SKILL.md"]);
/// let server = Server::builder(Dispatcher::new(Catalog::new([])?)?).resources(skills).build()?;
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct SkillSet {
    skills: Vec<Skill>,
    files: ResourceSet,
}

/// A file below the directory of skills.
struct ReadFile {
    /// The path, with `/` between its parts.
    path: String,
    bytes: Vec<u8>,
}

impl SkillSet {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the skills in a directory and its subdirectories: each directory with a `SKILL.md`, whose name is that of the
    /// skill.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, all faults of the skills, or an error if there is no skill, a file has more
    /// than 1 MiB, a skill more than 512 files, or there are more than 1,000 files or 16 MiB.
    pub fn open(directory: impl AsRef<Path>) -> io::Result<Self> {
        let directory = directory.as_ref();
        let mut files = Vec::new();
        read(directory, "", 0, &mut files)?;
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let mut set = Self::new();
        let mut faults = Vec::new();
        for file in &files {
            let Some(root) = file.path.strip_suffix(SKILL_FILE).and_then(|root| root.strip_suffix('/')) else {
                continue;
            };
            let of_skill =
                files.iter().filter(|other| other.path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/')));
            if let Err(fault) = set.add(root, &file.bytes, of_skill) {
                faults.push(format!("{}: {fault}", directory.join(&file.path).display()));
            }
        }
        if set.skills.is_empty() && faults.is_empty() {
            faults.push(format!("{}: no subdirectory has a {SKILL_FILE}", directory.display()));
        }
        if faults.is_empty() { Ok(set) } else { Err(invalid(faults.join("\n"))) }
    }

    /// Adds a skill with one file of Markdown, such as the documentation of tools.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is not one of Agent Skills, or the description is empty or has more than 1,024 characters.
    pub fn with(mut self, name: &str, description: &str, text: &str) -> io::Result<Self> {
        let frontmatter = json!({ "name": name, "description": description });
        // JSON is YAML.
        let bytes = format!("---\n{frontmatter}\n---\n\n{text}\n").into_bytes();
        let file = ReadFile { path: format!("{name}/{SKILL_FILE}"), bytes };
        self.add(name, &file.bytes, std::iter::once(&file)).map_err(invalid)?;
        Ok(self)
    }

    /// Returns the skills, sorted by URI.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter()
    }

    /// Adds the skill in a directory. Returns the fault of its `SKILL.md` otherwise.
    fn add<'f>(&mut self, root: &str, text: &[u8], files: impl Iterator<Item = &'f ReadFile>) -> Result<(), String> {
        let frontmatter = frontmatter(text)?;
        let name = checked(&frontmatter, "name", MAX_NAME)?;
        let description = checked(&frontmatter, "description", MAX_DESCRIPTION)?;
        let directory = root.rsplit('/').next().unwrap_or_default();
        if !is_name(name) {
            return Err(format!(
                "`name` is `{}`; expected lowercase letters, digits and single hyphens between them",
                name.escape_debug()
            ));
        }
        if name != directory {
            return Err(format!(
                "`name` is `{name}`, and the directory `{}`: they must be equal",
                directory.escape_debug()
            ));
        }
        let uri = uri(&format!("{root}/{SKILL_FILE}"));
        let mut listed = Vec::new();
        for file in files {
            let of_file = self::uri(&file.path);
            let digest = HEXLOWER.encode(&Sha256::digest(&file.bytes));
            listed.push(SkillFile::new(&*of_file, format!("sha256:{digest}"), file.bytes.len() as u64));
            let is_skill = of_file == uri;
            let mut resource = Resource::new(&*of_file, if is_skill { name } else { &file.path });
            resource.mime_type = mime_type(&file.path).map(str::to_owned);
            if is_skill {
                resource = resource.description(description);
            }
            let bytes = file.bytes.clone();
            let body = String::from_utf8(bytes).map_or_else(|error| error.into_bytes().into(), ResourceBody::Text);
            // The files of a skill are also those of the skills around it, whose names do not describe them.
            if is_skill || !self.skills.iter().any(|skill| has_file(skill, &of_file)) {
                self.files.set(resource, body);
            }
        }
        if listed.len() > MAX_SKILL_FILES {
            return Err(format!("the skill has {} files, and hosts accept at most {MAX_SKILL_FILES}", listed.len()));
        }
        self.skills.retain(|skill| skill.uri != uri);
        self.skills.push(Skill::new(uri, frontmatter.clone(), listed));
        self.skills.sort_by(|one, other| one.uri.cmp(&other.uri));
        Ok(())
    }
}

fn has_file(skill: &Skill, uri: &str) -> bool {
    skill.resources.iter().flatten().any(|file| file.uri == uri)
}

/// Reads the files below a directory.
fn read(directory: &Path, path: &str, depth: usize, files: &mut Vec<ReadFile>) -> io::Result<()> {
    let at = |error: io::Error, path: &Path| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    for entry in fs::read_dir(directory).map_err(|error| at(error, directory))? {
        let entry = entry?;
        let own = entry.path();
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(|| invalid(format!("{}: the name is not UTF-8", own.display())))?;
        let kind = entry.file_type().map_err(|error| at(error, &own))?;
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        if name.starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            if depth == MAX_DEPTH {
                return Err(invalid(format!("{}: more than {MAX_DEPTH} directories in each other", own.display())));
            }
            read(&own, &path, depth + 1, files)?;
        } else if kind.is_file() {
            let size = entry.metadata().map_err(|error| at(error, &own))?.len();
            if size > MAX_FILE_BYTES {
                return Err(invalid(format!("{}: the file has more than {MAX_FILE_BYTES} bytes", own.display())));
            }
            let bytes = fs::read(&own).map_err(|error| at(error, &own))?;
            let n_bytes = bytes.len() + files.iter().map(|file| file.bytes.len()).sum::<usize>();
            if files.len() == MAX_FILES || n_bytes > MAX_BYTES {
                let message = format!("{}: more than {MAX_FILES} files or {MAX_BYTES} bytes", own.display());
                return Err(invalid(message));
            }
            files.push(ReadFile { path, bytes });
        }
    }
    Ok(())
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Returns the URI of a file, in which other characters than those of paths are escaped.
fn uri(path: &str) -> String {
    let mut uri = "skill://".to_owned();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(byte.into());
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// Reads the frontmatter of a `SKILL.md`.
fn frontmatter(text: &[u8]) -> Result<Map<String, Value>, String> {
    let text = std::str::from_utf8(text).map_err(|_| "the file is not UTF-8".to_owned())?;
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let missing = || "expected a frontmatter of YAML between two lines `---` at the start".to_owned();
    let rest = text.strip_prefix("---\n").ok_or_else(missing)?;
    let end = if rest.starts_with("---") { 0 } else { rest.find("\n---").map(|end| end + 1).ok_or_else(missing)? };
    let yaml = &rest[..end];
    if yaml.len() > MAX_FRONTMATTER_BYTES {
        return Err(format!("the frontmatter has more than {MAX_FRONTMATTER_BYTES} bytes"));
    }
    let value = serde_saphyr::from_str(yaml).map_err(|error| format!("the frontmatter is not YAML: {error}"))?;
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(missing()),
    }
}

/// Returns a text of the frontmatter, which every skill has.
fn checked<'f>(frontmatter: &'f Map<String, Value>, key: &str, max: usize) -> Result<&'f str, String> {
    let text = frontmatter.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| format!("the frontmatter has no text `{key}`"))?;
    match text.chars().count() {
        n if n > max => Err(format!("`{key}` has {n} characters, and at most {max} are allowed")),
        _ => Ok(text),
    }
}

fn is_name(name: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    name.split('-').all(is_part)
}

impl Resources for SkillSet {
    fn list<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        self.files.list(context)
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        self.files.read(uri, context)
    }

    fn has_skills(&self) -> bool {
        true
    }

    fn skills<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<Skill>, ToolError>> {
        Box::pin(async { Ok(self.skills.clone()) })
    }
}
