//! The files of the page, as they are in the source.

use sha2::{Digest as _, Sha256};

/// A script or a style.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! assets {
    ($($name:literal),* $(,)?) => {
        &[$(Asset { name: $name, text: include_str!(concat!("web/", $name)) }),*]
    };
}

pub(crate) const ASSETS: &[Asset] = assets![
    "base.css",
    "layout.css",
    "form.css",
    "content.css",
    "ask.js",
    "catalog.js",
    "controls.js",
    "dom.js",
    "form.js",
    "json.js",
    "lists.js",
    "main.js",
    "mcp.js",
    "objects.js",
    "prose.js",
    "recent.js",
    "result.js",
    "schema.js",
    "search.js",
    "session.js",
    "slot.js",
    "snippets.js",
    "sse.js",
    "theme.js",
    "token.js",
    "tool.js",
    "tree.js",
    "violations.js",
];

impl Asset {
    pub(crate) fn kind(&self) -> &'static str {
        match self.name.ends_with(".css") {
            true => "text/css; charset=utf-8",
            false => "text/javascript; charset=utf-8",
        }
    }
}

/// A hash of all files. It is part of their addresses, so that a browser never combines files of two versions.
#[derive(Clone, Debug)]
pub(crate) struct Version(String);

impl Version {
    pub(crate) fn new() -> Self {
        let mut hash = Sha256::new();
        for asset in ASSETS {
            hash.update(asset.name);
            hash.update(asset.text);
        }
        Self(hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the file at an address.
pub(crate) fn find(current: &Version, version: &str, name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name && current.0 == version)
}
