//! The definitions of the workers' tools.

use std::collections::HashMap;
use std::time::Duration;

use async_nats::{Client, Request};
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::{Manifest, Tool};

use crate::subject::{Subjects, tool_tokens};
use crate::toolset::{Toolset, contract};
use crate::wire::{self, number};

/// The definitions of one toolset, by the tokens of the tools' subjects.
pub(super) struct Definitions {
    pub(super) tools: HashMap<String, Definition>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

pub(super) struct Definition {
    pub(super) tool: Tool,
    pub(super) contract: String,
}

/// The time for one page of definitions.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of pages, and of bytes in all of them.
const MAX_PAGES: u64 = 10_000;
const MAX_BYTES: usize = 256 << 20;

impl Definitions {
    pub(super) fn len(&self) -> usize {
        self.tools.len()
    }

    /// Returns the digest of the definition of a tool.
    pub(super) fn contract(&self, tokens: &str) -> Option<&str> {
        self.tools.get(tokens).map(|definition| &*definition.contract)
    }
}

/// Fetches the definitions with this digest.
pub(super) async fn fetch(client: &Client, subjects: &Subjects, digest: &str) -> Result<Definitions, String> {
    let (mut pages, mut n_pages, mut n_bytes) = (Vec::new(), 1, 0);
    while (pages.len() as u64) < n_pages {
        let request = Request::new().payload(pages.len().to_string().into()).timeout(Some(TIMEOUT));
        let answer = client.send_request(subjects.tools(digest), request).await.map_err(|error| error.to_string())?;
        n_pages = number(answer.headers.as_ref(), wire::PAGES).filter(|n| (1..=MAX_PAGES).contains(n)).unwrap_or(1);
        n_bytes += answer.payload.len();
        if n_bytes > MAX_BYTES {
            return Err(format!("the definitions have more than {MAX_BYTES} bytes"));
        }
        pages.push(answer.payload);
    }
    let toolset = Toolset::read(&pages, digest)?;
    if toolset.definitions().len() > Manifest::MAX_TOOLS {
        return Err(format!("a worker has more than {} tools", Manifest::MAX_TOOLS));
    }
    let (mut tools, mut diagnostics) = (HashMap::new(), Vec::new());
    for definition in toolset.definitions() {
        match Tool::from_json(definition) {
            Ok(tool) => {
                let contract = contract(definition);
                tools.insert(tool_tokens(tool.id()), Definition { tool, contract });
            }
            Err(error) => {
                diagnostics.push(Diagnostic::new(
                    DiagnosticKind::Malformed,
                    format!("a worker has an invalid tool: {error}"),
                    [],
                ));
            }
        }
    }
    Ok(Definitions { tools, diagnostics })
}
