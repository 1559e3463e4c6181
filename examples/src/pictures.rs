//! Ninth lesson: content instead of data.
//!
//! No program reads a picture field by field. The tool returns content for the model to look at.
//!
//! A single argument of a custom type would be the argument struct; `#[arg]` makes it one argument.

use toolkit::{Content, ToolError, tool};

use crate::files::uri_path;
use crate::root::{RelativePath, Root};

/// Clients scale larger pictures down anyway, and large pictures cost many tokens.
const MAX_PICTURE: u64 = 4_000_000;

/// The first bytes of each picture format.
const SIGNATURES: [(&[u8], &str); 4] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
];

/// Shows a picture: PNG, JPEG, GIF or WebP.
#[tool(
    namespace = "files",
    version = "1.0.0",
    title = "Show a picture",
    tags = ["files", "picture"],
    category = "files",
    read_only,
    idempotent,
    open_world = false,
    blocking
)]
pub fn view_picture(
    /// The picture to show; at most 4 MB.
    #[arg]
    path: RelativePath,
    root: &Root,
) -> Result<Vec<Content>, ToolError> {
    let bytes = root.read(&path, MAX_PICTURE)?;
    let Some(mime_type) = mime_type(&bytes) else {
        let message = format!("`{}` is not a PNG, JPEG, GIF or WebP image; `read_file` reads text", path.0);
        return Err(message.into());
    };
    Ok(vec![
        Content::image(&bytes, mime_type),
        Content::resource_link(format!("root:///{}", uri_path(&path.0)), path.0),
    ])
}

/// Returns the media type according to the bytes, since the name of a file may be wrong.
fn mime_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    let mut signatures = SIGNATURES.iter();
    let (_, mime_type) = signatures.find(|(signature, _)| bytes.starts_with(signature))?;
    Some(mime_type)
}
