//! `bundle mcpb`: an MCPB file, which Claude Desktop and other clients install.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::time::UtcDateTime;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use serde_json::{Map, Value, json};
use toolkit::Catalog;
use toolkit::catalog::{Naming, WireNames};
use toolkit_runtime::read_regular_file;

use super::settings::Settings;
use super::{Metadata, description, failed, title};
use crate::bundle;
use crate::error::{CommandError, Exit};
use crate::options::option;
use crate::program::Program;
use crate::program_options::ProgramOptions;
use crate::stderr::say;
use crate::style::{self, printable};

/// The types of settings.
const TYPES: [&str; 5] = ["string", "number", "boolean", "directory", "file"];

/// The modification time of all files of an archive: 1980-01-01, the earliest of the format.
const EPOCH: i64 = 315_532_800;

/// The maximum size of an icon.
const MAX_ICON_BYTES: u64 = 16 << 20;

pub(super) fn command() -> Command {
    let path = |name: &'static str| option(name, "FILE").value_parser(value_parser!(PathBuf));
    Command::new("mcpb")
        .about("Write an MCPB file with this program, which clients install")
        .long_about(
            "Write an MCPB file with this program, which clients such as Claude Desktop install. It starts `serve` with the \
             arguments after `--`. The same programs and options give the same bytes.\n\n\
             The client asks the user for the credentials that the tools require, and stores them as secrets. It also asks \
             for the options of this program, except those that are given here, which are fixed.",
        )
        .args([
            path("output").short('o').help("The file [default: NAME-VERSION.mcpb]"),
            option("name", "NAME").help("Name of the bundle [default: the name of this program]"),
            title(),
            description(),
            bundle::text("author", "NAME <EMAIL>").help("The author [default: the first author of the package]"),
            path("program")
                .action(ArgAction::Append)
                .help("The program, instead of this one; twice for a bundle with a program for Windows and another one"),
            path("icon").help("A PNG file"),
            option("env", "NAME[=TYPE]")
                .action(ArgAction::Append)
                .help("An environment variable whose value the client asks for: string, number, boolean, directory or file"),
            Arg::new("arguments").value_name("ARGS").num_args(0..).last(true).help("Arguments of `serve`"),
        ])
}

pub(super) fn run(catalog: &Catalog, matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let metadata = Metadata::new(matches, program)?;
    let name = text("name").unwrap_or(&program.name);
    check_name(name)?;
    let Some(author) = text("author").or_else(|| program.package.author()) else {
        return Err(CommandError::usage(
            "an author is required; --author sets it, and so does `authors` in Cargo.toml",
        ));
    };
    let paths: Vec<PathBuf> = match matches.get_many::<PathBuf>("program") {
        Some(paths) => paths.cloned().collect(),
        None => vec![std::env::current_exe()?],
    };
    let executables = open_all(&paths)?;
    let settings = settings(catalog, matches, program)?;
    let fixed = program.options.as_ref().map(ProgramOptions::words_anywhere).transpose()?.unwrap_or_default();
    let extra = matches.get_many::<String>("arguments").unwrap_or_default();
    let icon = matches.get_one::<PathBuf>("icon");
    let manifest = Manifest {
        name,
        title: text("title"),
        version: metadata.version,
        description: metadata.description,
        author,
        license: program.package.license.as_deref(),
        repository: program.package.repository.as_deref(),
        icon: icon.map(|_| "icon.png"),
        arguments: [settings.arguments(), vec!["serve".to_owned()], fixed, extra.cloned().collect()].concat(),
        settings: &settings,
    };
    let manifest = manifest.to_json(&executables, catalog)?;
    let mut manifest = serde_json::to_vec_pretty(&manifest).map_err(std::io::Error::from)?;
    manifest.push(b'\n');
    let mut files = vec![ArchiveFile { name: "manifest.json".to_owned(), content: FileContent::Bytes(manifest) }];
    files.extend(executables.iter().map(|executable| ArchiveFile {
        name: executable.entry(name),
        content: FileContent::Program(&executable.path),
    }));
    if let Some(icon) = icon {
        files.push(ArchiveFile { name: "icon.png".to_owned(), content: FileContent::Bytes(png(icon)?) });
    }
    let default = PathBuf::from(format!("{name}-{}.mcpb", metadata.version));
    let path = matches.get_one::<PathBuf>("output").unwrap_or(&default);
    bundle::create(path, |out| write_archive(out, files))?;
    let written = format!("wrote {}", path.display());
    let _ = writeln!(anstream::stderr(), "{} {}", style::NOTE, printable(&written));
    Ok(Exit::Success)
}

/// The name is part of file names, and clients derive identifiers from it.
fn check_name(name: &str) -> Result<(), CommandError> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match !name.is_empty() && name.len() <= 64 && !name.starts_with('.') && name.chars().all(is_valid) {
        true => Ok(()),
        false => Err(CommandError::usage(format!(
            "the name {name:?} of the bundle must be 1 to 64 letters, digits, `-`, `_` and `.`; --name sets it"
        ))),
    }
}

fn settings(catalog: &Catalog, matches: &ArgMatches, program: &Program) -> Result<Settings, CommandError> {
    let mut settings = Settings::of(program, catalog);
    for name in &settings.unasked {
        let message =
            format!("`{name}` may be repeated, so that clients cannot ask for it; give it here if it is needed");
        say(style::NOTE, &message);
    }
    for given in matches.get_many::<String>("env").unwrap_or_default() {
        let (name, kind) = given.split_once('=').unwrap_or((given, "string"));
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let kind = TYPES.into_iter().find(|known| *known == kind);
        let Some(kind) = kind.filter(|_| is_name) else {
            let message =
                format!("`--env {given}`: expected the name of a variable, or NAME=TYPE with one of the types");
            return Err(CommandError::usage(format!("{message} {}", TYPES.join(", "))));
        };
        settings.add(name, kind);
    }
    Ok(settings)
}

fn png(path: &Path) -> Result<Vec<u8>, CommandError> {
    let bytes = read_regular_file(path, MAX_ICON_BYTES).map_err(|error| failed(path, &error))?;
    match bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        true => Ok(bytes),
        false => Err(failed(path, &"not a PNG image")),
    }
}

/// A file of an archive.
struct ArchiveFile<'a> {
    name: String,
    content: FileContent<'a>,
}

/// The content of a file.
enum FileContent<'a> {
    Bytes(Vec<u8>),
    /// A file, which the archive declares as a program.
    Program(&'a Path),
}

/// Writes a ZIP archive, with the files sorted by name: the same files give the same bytes.
fn write_archive(out: impl Write, mut files: Vec<ArchiveFile<'_>>) -> io::Result<()> {
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let mut archive = ZipArchiveWriter::new(BufWriter::new(out));
    for file in files {
        match file.content {
            FileContent::Bytes(bytes) => add(&mut archive, &file.name, 0o100_644, &mut &*bytes)?,
            FileContent::Program(path) => add(&mut archive, &file.name, 0o100_755, &mut File::open(path)?)?,
        }
    }
    archive.finish().map_err(io::Error::other)?.flush()
}

fn add<W: Write>(archive: &mut ZipArchiveWriter<W>, name: &str, mode: u32, content: &mut impl Read) -> io::Result<()> {
    let file = archive.new_file(name).compression_method(CompressionMethod::DEFLATE);
    let file = file.last_modified(UtcDateTime::from_unix(EPOCH)).unix_permissions(mode);
    let (mut entry, config) = file.start().map_err(io::Error::other)?;
    let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
    io::copy(content, &mut writer)?;
    let (encoder, descriptor) = writer.finish().map_err(io::Error::other)?;
    encoder.finish()?;
    entry.finish(descriptor).map_err(io::Error::other)?;
    Ok(())
}

/// The content of a manifest, without the tools.
pub(super) struct Manifest<'a> {
    pub(super) name: &'a str,
    pub(super) title: Option<&'a str>,
    pub(super) version: &'a str,
    pub(super) description: &'a str,
    /// The name, and the email address in angle brackets.
    pub(super) author: &'a str,
    pub(super) license: Option<&'a str>,
    pub(super) repository: Option<&'a str>,
    pub(super) icon: Option<&'static str>,
    pub(super) arguments: Vec<String>,
    pub(super) settings: &'a Settings,
}

impl Manifest<'_> {
    /// Returns the JSON of the manifest.
    pub(super) fn to_json(&self, executables: &[Executable], catalog: &Catalog) -> Result<Value, CommandError> {
        let first = executables.first().expect("a bundle has a program");
        let path = |executable: &Executable| format!("${{__dirname}}/{}", executable.entry(self.name));
        let mut config = json!({ "command": path(first), "args": self.arguments });
        let environment = self.settings.environment();
        if !environment.is_empty() {
            config["env"] = Value::Object(environment);
        }
        let others = executables[1..].iter();
        let others: Map<String, Value> =
            others.map(|other| (other.platform.name().to_owned(), json!({ "command": path(other) }))).collect();
        if !others.is_empty() {
            config["platform_overrides"] = Value::Object(others);
        }
        let platforms = executables.iter().map(|executable| executable.platform);
        let mut manifest = json!({
            "manifest_version": "0.3",
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "author": author(self.author),
            "server": { "type": "binary", "entry_point": first.entry(self.name), "mcp_config": config },
            "tools": tools(catalog)?,
            "compatibility": { "platforms": platforms.map(Platform::name).collect::<Vec<_>>() },
        });
        let texts = [("display_name", self.title), ("license", self.license), ("icon", self.icon)];
        for (field, text) in texts {
            if let Some(text) = text {
                manifest[field] = json!(text);
            }
        }
        if let Some(url) = self.repository {
            manifest["repository"] = json!({ "type": "git", "url": url });
        }
        if !self.settings.is_empty() {
            manifest["user_config"] = self.settings.user_config();
        }
        Ok(manifest)
    }
}

/// Splits an author in the syntax of Cargo.toml: `Ada Lovelace <ada@example.com>`.
fn author(text: &str) -> Value {
    match text.trim().strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((name, email)) if !name.trim().is_empty() => json!({ "name": name.trim(), "email": email.trim() }),
        _ => json!({ "name": text.trim() }),
    }
}

/// Returns the tools under the names that clients see.
fn tools(catalog: &Catalog) -> Result<Value, CommandError> {
    let names = WireNames::new(catalog, Naming::NamespaceName)?;
    let tools = names.iter().map(|(name, tool)| {
        let mut listed = json!({ "name": name });
        if !tool.summary().is_empty() {
            listed["description"] = json!(tool.summary());
        }
        listed
    });
    Ok(tools.collect())
}

toolkit::named! {
    /// An operating system, as MCPB names it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(super) enum Platform {
        Darwin = "darwin",
        Linux = "linux",
        Win32 = "win32",
    }
}

impl Platform {
    /// Returns the platform whose executable files begin with these bytes.
    fn from_magic(magic: [u8; 4]) -> Option<Self> {
        match magic {
            [0x7f, b'E', b'L', b'F'] => Some(Self::Linux),
            // Mach-O of 32 and 64 bits in both byte orders, and with several architectures.
            [0xfe, 0xed, 0xfa, 0xce | 0xcf] | [0xce | 0xcf, 0xfa, 0xed, 0xfe] | [0xca, 0xfe, 0xba, 0xbe] => {
                Some(Self::Darwin)
            }
            [b'M', b'Z', ..] => Some(Self::Win32),
            _ => None,
        }
    }
}

/// An executable file.
pub(super) struct Executable {
    pub(super) path: PathBuf,
    pub(super) platform: Platform,
}

impl Executable {
    /// Reads the platform of an executable file.
    pub(super) fn open(path: &Path) -> Result<Self, CommandError> {
        let mut magic = [0; 4];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
        read.map_err(|error| failed(path, &error))?;
        let Some(platform) = Platform::from_magic(magic) else {
            return Err(failed(path, &"not an executable file of Linux, macOS or Windows"));
        };
        Ok(Self { path: path.to_owned(), platform })
    }

    /// Returns the path in the bundle.
    pub(super) fn entry(&self, name: &str) -> String {
        let extension = if self.platform == Platform::Win32 { ".exe" } else { "" };
        format!("server/{name}{extension}")
    }
}

/// Opens the programs, of which each has another path in the bundle.
pub(super) fn open_all(paths: &[PathBuf]) -> Result<Vec<Executable>, CommandError> {
    let mut executables: Vec<Executable> = Vec::new();
    for path in paths {
        let new = Executable::open(path)?;
        if executables.iter().any(|other| other.entry("") == new.entry("")) {
            let message = "a bundle contains one program for Windows and one for Linux or macOS; make one bundle for each \
                           other platform";
            return Err(CommandError::usage(message));
        }
        executables.push(new);
    }
    executables.sort_by_key(|executable| executable.platform);
    Ok(executables)
}
