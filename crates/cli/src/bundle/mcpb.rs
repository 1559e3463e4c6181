//! `bundle mcpb`: an MCPB file, which Claude Desktop and other clients install.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::time::UtcDateTime;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use toolkit::Catalog;

use super::executable;
use super::manifest::Manifest;
use super::metadata::{self, Metadata, description, failed, title, usage};
use super::user_config::Settings;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::program::Program;
use crate::style::{self, printable};

/// The types of settings.
const TYPES: [&str; 5] = ["string", "number", "boolean", "directory", "file"];

/// The modification time of all files of an archive: 1980-01-01, the earliest of the format.
const EPOCH: i64 = 315_532_800;

pub(super) fn command() -> Command {
    let path = |name: &'static str| Arg::new(name).value_name("FILE").value_parser(value_parser!(PathBuf));
    Command::new("mcpb")
        .about("Write an MCPB file with this program, which clients install")
        .long_about(
            "Write an MCPB file with this program, which clients such as Claude Desktop install. It starts `serve` with the \
             arguments after `--`. The same programs and options give the same bytes.\n\n\
             The client asks the user for the credentials that the tools require, and stores them as secrets.",
        )
        .args([
            path("output").short('o').long("output").help("The file [default: NAME-VERSION.mcpb]"),
            Arg::new("name").long("name").value_name("NAME").help("Name of the bundle [default: the name of this program]"),
            title(),
            description(),
            metadata::text("author", "NAME <EMAIL>").help("The author [default: the first author of the package]"),
            path("program")
                .long("program")
                .action(ArgAction::Append)
                .help("The program, instead of this one; twice for a bundle with a program for Windows and another one"),
            path("icon").long("icon").help("A PNG file"),
            Arg::new("env")
                .long("env")
                .value_name("NAME[=TYPE]")
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
        return Err(usage("an author is required; --author sets it, and so does `authors` in Cargo.toml".to_owned()));
    };
    let paths: Vec<PathBuf> = match matches.get_many::<PathBuf>("program") {
        Some(paths) => paths.cloned().collect(),
        None => vec![std::env::current_exe()?],
    };
    let executables = executable::open_all(&paths)?;
    let settings = settings(catalog, matches)?;
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
        arguments: std::iter::once("serve".to_owned()).chain(extra.cloned()).collect(),
        settings: &settings,
    };
    let manifest = manifest.to_json(&executables, catalog)?;
    let mut manifest = serde_json::to_vec_pretty(&manifest).map_err(std::io::Error::from)?;
    manifest.push(b'\n');
    let mut files = vec![ArchiveFile { name: "manifest.json".to_owned(), content: Content::Bytes(manifest) }];
    files.extend(
        executables.iter().map(|executable| ArchiveFile {
            name: executable.entry(name),
            content: Content::Program(&executable.path),
        }),
    );
    if let Some(icon) = icon {
        files.push(ArchiveFile { name: "icon.png".to_owned(), content: Content::Bytes(png(icon)?) });
    }
    let default = PathBuf::from(format!("{name}-{}.mcpb", metadata.version));
    let path = matches.get_one::<PathBuf>("output").unwrap_or(&default);
    metadata::create(path, |file| write_archive(file, files))?;
    let written = format!("wrote {}", path.display());
    let _ = writeln!(anstream::stderr(), "{} {}", style::NOTE, printable(&written));
    Ok(Exit::Success)
}

/// The name is part of file names, and clients derive identifiers from it.
fn check_name(name: &str) -> Result<(), CommandError> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match !name.is_empty() && name.len() <= 64 && !name.starts_with('.') && name.chars().all(is_valid) {
        true => Ok(()),
        false => Err(usage(format!(
            "the name {name:?} of the bundle must be 1 to 64 letters, digits, `-`, `_` and `.`; --name sets it"
        ))),
    }
}

fn settings(catalog: &Catalog, matches: &ArgMatches) -> Result<Settings, CommandError> {
    let mut settings = Settings::from_catalog(catalog);
    for given in matches.get_many::<String>("env").unwrap_or_default() {
        let (name, kind) = given.split_once('=').unwrap_or((given, "string"));
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name || !TYPES.contains(&kind) {
            let message =
                format!("`--env {given}`: expected the name of a variable, or NAME=TYPE with one of the types");
            return Err(usage(format!("{message} {}", TYPES.join(", "))));
        }
        settings.add(name, kind);
    }
    Ok(settings)
}

fn png(path: &PathBuf) -> Result<Vec<u8>, CommandError> {
    let bytes = std::fs::read(path).map_err(|error| failed(path, &error))?;
    match bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        true => Ok(bytes),
        false => Err(failed(path, &"not a PNG image")),
    }
}

/// A file of an archive.
struct ArchiveFile<'a> {
    name: String,
    content: Content<'a>,
}

/// The content of a file.
enum Content<'a> {
    Bytes(Vec<u8>),
    /// A file, which the archive declares as a program.
    Program(&'a Path),
}

/// Writes a ZIP archive, with the files sorted by name: the same files give the same bytes.
fn write_archive(out: &File, mut files: Vec<ArchiveFile<'_>>) -> io::Result<()> {
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let mut archive = ZipArchiveWriter::new(BufWriter::new(out));
    for file in files {
        match file.content {
            Content::Bytes(bytes) => add(&mut archive, &file.name, 0o100_644, &mut &*bytes)?,
            Content::Program(path) => add(&mut archive, &file.name, 0o100_755, &mut File::open(path)?)?,
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
