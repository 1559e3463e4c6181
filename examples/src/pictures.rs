//! Ninth lesson: content instead of data.
//!
//! A picture is nothing that a program would read field by field; the tool returns what the model shall look at.
//!
//! A lone argument of a type of one's own is taken for the argument struct; `#[arg]` says that it is one argument.

use toolkit::{Content, ToolError, tool};

use crate::files::uri_path;
use crate::root::{RelativePath, Root};

/// Larger pictures are made smaller by clients anyway, and cost a conversation dearly.
const MAX_PICTURE: u64 = 4_000_000;

/// What the first bytes of a picture look like.
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
        let message = format!("`{}` is no PNG, JPEG, GIF or WebP; `read_file` reads text", path.0);
        return Err(message.into());
    };
    Ok(vec![
        Content::image(&bytes, mime_type),
        Content::resource_link(format!("root:///{}", uri_path(&path.0)), path.0),
    ])
}

/// The media type by the bytes; the name of a file proves nothing.
fn mime_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    let mut signatures = SIGNATURES.iter();
    let (_, mime_type) = signatures.find(|(signature, _)| bytes.starts_with(signature))?;
    Some(mime_type)
}
