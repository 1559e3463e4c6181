//! Resources: data that clients read by URI, such as the files that the results of tools link to.
//!
//! [`Resources`] is the interface of a provider. [`ResourceSet`] holds texts and bytes, [`TemplateResources`] computes
//! the contents of all URIs that match a template, and [`DirectoryResources`] reads the files of a directory. A
//! [`Backend`](crate::backend::Backend) may be a provider too.
//!
//! ```
//! use toolkit::Context;
//! use toolkit::resource::{Resource, ResourceSet, Resources};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let manual = Resource::new("manual://pump", "pump").mime_type("text/markdown").description("The manual of the pump");
//! let resources = ResourceSet::new().with(manual, "# Pump\n\nDo not run it dry.");
//!
//! let contents = resources.read("manual://pump", &Context::new()).await?.ok_or("an unknown URI")?;
//! assert_eq!(contents[0].as_text(), Some("# Pump\n\nDo not run it dry."));
//! assert!(resources.read("manual://valve", &Context::new()).await?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | part |
//! |---|---|
//! | `interface` | the trait of providers |
//! | `listing`, `contents`, `changes` | what a provider lists, returns and reports |
//! | `set`, `template`, `directory` | providers |
//! | `pattern`, `percent` | templates of URIs, and the encoding of their parameters |

mod changes;
mod contents;
mod directory;
mod interface;
mod listing;
mod pattern;
mod percent;
mod set;
mod template;

pub use self::changes::{ResourceChange, ResourceChanges, WeakResourceChanges};
pub use self::contents::{ResourceBody, ResourceContents};
pub use self::directory::DirectoryResources;
pub use self::interface::{ResourceWatch, Resources};
pub use self::listing::{Resource, ResourceTemplate};
pub use self::pattern::{UriParams, UriTemplateError};
pub use self::set::ResourceSet;
pub use self::template::TemplateResources;
