//! Twelfth lesson: resources, so that a client can read what a result links to.
//!
//! Some tools return a link such as `root:///notes/a.txt` instead of a whole file. The provider reads it with the same
//! [`Root`] as the tools, and so under the same confinement.

use std::sync::Arc;

use toolkit::ToolError;
use toolkit::resource::{ResourceBody, ResourceTemplate};
use toolkit_mcp_server::{TemplateResources, UriTemplateError};

use crate::root::{RelativePath, Root, RootError};

/// The maximum size of a file in bytes.
const MAX_FILE: u64 = 10_000_000;

/// Returns the files below the root as resources.
///
/// # Errors
///
/// Returns an error if the template is malformed.
pub fn files(root: Root) -> Result<TemplateResources, UriTemplateError> {
    let root = Arc::new(root);
    let template = ResourceTemplate::new("root:///{+path}", "file").description("A file below the root.");
    TemplateResources::new(template, move |params, _context| {
        let root = Arc::clone(&root);
        async move {
            match root.read(&RelativePath(params["path"].to_owned()), MAX_FILE) {
                Ok(bytes) => Ok(Some(match String::from_utf8(bytes) {
                    Ok(text) => ResourceBody::from(text),
                    Err(error) => ResourceBody::from(error.into_bytes()),
                })),
                Err(error @ RootError::TooLarge { .. }) => Err(ToolError::failed(error.to_string())),
                // A client does not learn why it cannot read a file.
                Err(_) => Ok(None),
            }
        }
    })
}
