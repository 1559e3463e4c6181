//! The definitions of the workers' tools.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use async_nats::{Client, Request};
use bytes::Bytes;
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::{Manifest, Tool};

use crate::subject::{Subjects, tool_tokens};
use crate::toolset::{Entry, contract, read_index};
use crate::wire::{self, number};

/// The definitions of one toolset, by the tokens of the tools' subjects.
pub(super) struct Definitions {
    pub(super) tools: HashMap<String, Definition>,
    /// The number of tools of the worker, including those of namespaces that were not fetched.
    n_tools: usize,
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
    pub(super) fn n_tools(&self) -> usize {
        self.n_tools
    }

    /// Returns the digest of the definition of a tool.
    pub(super) fn contract(&self, tokens: &str) -> Option<&str> {
        self.tools.get(tokens).map(|definition| &*definition.contract)
    }
}

/// Fetches the definitions with this digest, of all namespaces or some.
pub(super) async fn fetch(
    client: &Client,
    subjects: &Subjects,
    digest: &str,
    only: Option<&BTreeSet<String>>,
) -> Result<Definitions, String> {
    let mut n_bytes = 0;
    let subject = subjects.tools(digest);
    let index = read_index(&fetch_pages(client, &subject, None, &mut n_bytes).await?, digest)?;
    let wanted = |entry: &&Entry| only.is_none_or(|only| only.contains(&entry.namespace));
    let n_wanted = index.iter().filter(wanted).fold(0_usize, |sum, entry| sum.saturating_add(entry.n_tools));
    if n_wanted > Manifest::MAX_TOOLS {
        return Err(format!("a worker has more than {} tools", Manifest::MAX_TOOLS));
    }
    let mut definitions = Vec::new();
    for entry in index.iter().filter(wanted) {
        let pages = fetch_pages(client, &subject, Some(&entry.namespace), &mut n_bytes).await?;
        definitions.extend(entry.read(&pages)?);
    }
    let n_tools = index.iter().fold(0_usize, |sum, entry| sum.saturating_add(entry.n_tools));
    let (mut tools, mut diagnostics) = (HashMap::new(), Vec::new());
    for definition in &definitions {
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
    Ok(Definitions { tools, n_tools, diagnostics })
}

/// Fetches the pages of a namespace, or of the index.
async fn fetch_pages(
    client: &Client,
    subject: &str,
    namespace: Option<&str>,
    n_bytes: &mut usize,
) -> Result<Vec<Bytes>, String> {
    let (mut pages, mut n_pages) = (Vec::new(), 1);
    while (pages.len() as u64) < n_pages {
        let page = pages.len();
        let body = namespace.map_or_else(|| page.to_string(), |namespace| format!("{page} {namespace}"));
        let request = Request::new().payload(body.into()).timeout(Some(TIMEOUT));
        let answer = client.send_request(subject.to_owned(), request).await.map_err(|error| error.to_string())?;
        n_pages = number(answer.headers.as_ref(), wire::PAGES).filter(|n| (1..=MAX_PAGES).contains(n)).unwrap_or(1);
        *n_bytes += answer.payload.len();
        if *n_bytes > MAX_BYTES {
            return Err(format!("the definitions have more than {MAX_BYTES} bytes"));
        }
        pages.push(answer.payload);
    }
    Ok(pages)
}
