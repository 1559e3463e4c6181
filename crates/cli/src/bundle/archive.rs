//! ZIP archives with the same bytes for the same files.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::time::UtcDateTime;
use rawzip::{CompressionMethod, ZipArchiveWriter};

/// The modification time of all files: 1980-01-01, the earliest of the format.
const EPOCH: i64 = 315_532_800;

/// A file of an archive.
pub(super) struct ArchiveFile<'a> {
    pub(super) name: String,
    pub(super) content: Content<'a>,
}

/// The content of a file.
pub(super) enum Content<'a> {
    Bytes(Vec<u8>),
    /// A file, which the archive declares as a program.
    Program(&'a Path),
}

/// Writes an archive, with the files sorted by name.
pub(super) fn write(out: &File, mut files: Vec<ArchiveFile<'_>>) -> io::Result<()> {
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
