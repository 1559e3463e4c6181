//! The workers that are known, and their tools with their definitions.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_nats::{Client, Request};
use bytes::Bytes;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::timeout;
use toolkit::backend::OfferedTools;
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::tool::ToolBackend;
use toolkit::{Manifest, Tool};
use toolkit_runtime::Mutex;

use crate::subject::{Subjects, is_token, tool_tokens};
use crate::toolset::{ToolEntry, contract, is_digest, read_index};
use crate::wire::{self, PROTOCOL, number};

/// A worker, as a [`NatsBackend`](super::NatsBackend) knows it.
///
/// # Examples
///
/// ```no_run
/// # async fn list(fleet: toolkit_nats::NatsBackend) -> Result<(), toolkit::ToolError> {
/// for member in fleet.members().await? {
///     println!("{} has {} tools", member.instance, member.n_tools);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// The random id of the worker.
    pub instance: String,
    /// The digest of its tools. Workers with the same digest are interchangeable.
    pub digest: String,
    /// The number of its tools.
    pub n_tools: usize,
}

/// The workers and the definitions of their tools.
pub(super) struct Fleet {
    pub(super) client: Client,
    pub(super) subjects: Subjects,
    /// The tokens of the namespaces whose tools are fetched, unless all are.
    only: Option<BTreeSet<String>>,
    state: Mutex<FleetState>,
    /// Counts the changes of the tools.
    version: watch::Sender<u64>,
    /// The version that was listed last.
    listed: AtomicU64,
}

#[derive(Default)]
struct FleetState {
    workers: HashMap<String, FleetWorker>,
    toolsets: HashMap<String, Arc<Definitions>>,
    /// The number of workers with each digest, since there are many workers and few digests.
    n_workers: HashMap<String, usize>,
    /// Workers that have left.
    gone: HashSet<String>,
    /// The digests whose definitions are being fetched.
    fetching: HashSet<String>,
}

/// A worker.
struct FleetWorker {
    digest: String,
    started: u64,
    seen: Instant,
}

/// What a worker announces, as answer to `$SRV.INFO` and when it joins or leaves.
#[derive(Deserialize)]
pub(super) struct Announcement {
    #[serde(rename = "id")]
    instance: String,
    metadata: Metadata,
    #[serde(default)]
    endpoints: Vec<Endpoint>,
}

#[derive(Deserialize)]
struct Endpoint {
    #[serde(default)]
    subject: String,
}

impl Endpoint {
    /// Returns true if calls to one of these subjects reach the endpoint.
    fn serves(&self, calls: &str) -> bool {
        self.subject.starts_with(calls.trim_end_matches('>'))
    }
}

#[derive(Deserialize)]
struct Metadata {
    protocol: String,
    digest: String,
    started: String,
}

/// The maximum number of workers and toolsets, which bounds the memory that others can make this program use.
const MAX_WORKERS: usize = 100_000;
const MAX_TOOLSETS: usize = 1_000;
const MAX_GONE: usize = 10_000;

/// The time for all definitions of one toolset.
const FETCH_TIMEOUT: Duration = Duration::from_secs(60);

impl Fleet {
    pub(super) fn new(
        client: Client,
        subjects: Subjects,
        only: Option<BTreeSet<String>>,
        version: watch::Sender<u64>,
    ) -> Self {
        Self { client, subjects, only, state: Mutex::default(), version, listed: AtomicU64::new(u64::MAX) }
    }

    /// Records that a worker is there. Returns its digest if its definitions are not known.
    pub(super) fn joined(&self, announced: Announcement) -> Option<String> {
        let Announcement { instance, metadata, endpoints } = announced;
        let is_known_protocol = metadata.protocol == PROTOCOL;
        let is_valid = is_known_protocol && is_token(&instance) && is_digest(&metadata.digest);
        // The verbs of services have no prefix, so that workers with another one answer too.
        let calls = self.subjects.calls(&metadata.digest);
        let has_other_prefix = endpoints.first().is_some_and(|endpoint| !endpoint.serves(&calls));
        let started = metadata.started.parse().ok().filter(|_| is_valid && !has_other_prefix)?;
        let mut state = self.state.lock();
        if state.gone.contains(&instance) {
            return None;
        }
        let is_new = state.workers.get(&instance).is_none_or(|worker| worker.digest != metadata.digest);
        if is_new && state.workers.len() >= MAX_WORKERS {
            return None;
        }
        let worker = FleetWorker { digest: metadata.digest.clone(), started, seen: Instant::now() };
        match state.workers.insert(instance, worker) {
            None => *state.n_workers.entry(metadata.digest.clone()).or_default() += 1,
            Some(_) if is_new => state.count(),
            Some(_) => {}
        }
        let is_known = state.toolsets.contains_key(&metadata.digest);
        drop(state);
        if is_new && is_known {
            self.has_changed();
        }
        (!is_known).then_some(metadata.digest)
    }

    /// Fetches the definitions of a toolset, unless they are known or being fetched.
    pub(super) async fn learn(&self, digest: &str) {
        {
            let mut state = self.state.lock();
            let n_known = state.toolsets.len() + state.fetching.len();
            let is_known = state.toolsets.contains_key(digest) || n_known >= MAX_TOOLSETS;
            if is_known || !state.fetching.insert(digest.to_owned()) {
                return;
            }
        }
        let fetched = timeout(FETCH_TIMEOUT, fetch(&self.client, &self.subjects, digest, self.only.as_ref())).await;
        let fetched = fetched.unwrap_or_else(|_| Err(format!("they did not arrive in {FETCH_TIMEOUT:?}")));
        let mut state = self.state.lock();
        state.fetching.remove(digest);
        match fetched {
            Ok(definitions) => {
                state.toolsets.insert(digest.to_owned(), Arc::new(definitions));
                drop(state);
                self.has_changed();
            }
            // Another answer of a worker starts another attempt.
            Err(error) => tracing::warn!(digest, %error, "the definitions of workers cannot be read"),
        }
    }

    pub(super) fn left(&self, announced: &Announcement) {
        let mut state = self.state.lock();
        let had = state.workers.remove(&announced.instance).is_some();
        if had {
            // An answer that it sent before may arrive later. Ids are random, and never used again.
            if state.gone.len() >= MAX_GONE {
                state.gone.clear();
            }
            state.gone.insert(announced.instance.clone());
        }
        state.count();
        drop(state);
        if had {
            self.has_changed();
        }
    }

    /// Removes the workers that have not answered for some time.
    pub(super) fn remove_silent(&self, limit: Duration) {
        let mut state = self.state.lock();
        let n_before = state.workers.len();
        state.workers.retain(|_, worker| worker.seen.elapsed() <= limit);
        let has_changed = state.workers.len() != n_before;
        state.count();
        drop(state);
        if has_changed {
            self.has_changed();
        }
    }

    /// Returns each toolset that has workers, with their number and the time at which the last one started.
    pub(super) fn toolsets(&self) -> Vec<(Arc<Definitions>, usize, u64)> {
        let state = self.state.lock();
        let mut found: HashMap<&str, (usize, u64)> = HashMap::new();
        for worker in state.workers.values() {
            let (n_workers, latest) = found.entry(&worker.digest).or_default();
            *n_workers += 1;
            *latest = (*latest).max(worker.started);
        }
        let found = found.into_iter().filter_map(|(digest, (n_workers, latest))| {
            Some((Arc::clone(state.toolsets.get(digest)?), n_workers, latest))
        });
        found.collect()
    }

    /// Chooses a toolset that has this contract of a tool, at random by the number of its workers. Returns its digest.
    pub(super) fn route(&self, tokens: &str, contract: &str) -> Option<String> {
        let state = self.state.lock();
        let has_contract =
            |digest: &str| state.toolsets.get(digest).is_some_and(|toolset| toolset.contract(tokens) == Some(contract));
        let fitting = || state.n_workers.iter().filter(|(digest, _)| has_contract(digest));
        let n_workers: usize = fitting().map(|(_, n_workers)| n_workers).sum();
        if n_workers == 0 {
            return None;
        }
        let mut nth = fastrand::usize(..n_workers);
        for (digest, n_workers) in fitting() {
            if nth < *n_workers {
                return Some(digest.clone());
            }
            nth -= n_workers;
        }
        None
    }

    /// Returns the workers whose tools are known.
    pub(super) fn members(&self) -> Vec<Member> {
        let state = self.state.lock();
        let members = state.workers.iter().filter_map(|(instance, worker)| {
            let n_tools = state.toolsets.get(&worker.digest)?.n_tools();
            Some(Member { instance: instance.clone(), digest: worker.digest.clone(), n_tools })
        });
        let mut members: Vec<Member> = members.collect();
        members.sort_by(|one, other| one.instance.cmp(&other.instance));
        members
    }

    /// Returns the version that was listed last.
    pub(super) fn listed(&self) -> u64 {
        self.listed.load(Ordering::Acquire)
    }

    /// Records that the tools are being listed.
    pub(super) fn mark_listed(&self) {
        self.listed.store(*self.version.borrow(), Ordering::Release);
    }

    fn has_changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }
}

impl FleetState {
    /// Counts the workers again, and removes the definitions without workers.
    fn count(&mut self) {
        self.n_workers.clear();
        for worker in self.workers.values() {
            *self.n_workers.entry(worker.digest.clone()).or_default() += 1;
        }
        self.toolsets.retain(|digest, _| self.n_workers.contains_key(digest));
    }
}

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
    let wanted = |entry: &&ToolEntry| only.is_none_or(|only| only.contains(&entry.namespace));
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

/// Lists the tools of all workers. If workers have different contracts of a tool, that of the worker that started last is
/// listed.
pub(super) fn offered(name: &str, fleet: &Fleet) -> OfferedTools {
    fleet.mark_listed();
    let mut toolsets = fleet.toolsets();
    toolsets.sort_by_key(|(_, _, started)| std::cmp::Reverse(*started));
    let mut listed: HashMap<&str, &Definition> = HashMap::new();
    let (mut tools, mut diagnostics) = (Vec::new(), Vec::new());
    for (definitions, n_workers, _) in &toolsets {
        diagnostics.extend(definitions.diagnostics.iter().cloned());
        for (tokens, definition) in &definitions.tools {
            if let Some(newer) = listed.get(&**tokens) {
                if newer.contract != definition.contract {
                    let id = definition.tool.id();
                    let message =
                        format!("{n_workers} workers have an older definition of `{id}`, which is not listed");
                    diagnostics.push(Diagnostic::new(DiagnosticKind::Malformed, message, []));
                }
                continue;
            }
            listed.insert(tokens, definition);
            match ToolBackend::provider(name, target(tokens, &definition.contract)) {
                Ok(target) => tools.push((definition.tool.clone(), target)),
                Err(error) => diagnostics.push(Diagnostic::new(DiagnosticKind::Malformed, error.to_string(), [])),
            }
        }
    }
    tools.sort_by(|(one, _), (other, _)| one.id().cmp(other.id()));
    OfferedTools::new(tools).with_diagnostics(diagnostics)
}

/// Returns the identity of a tool in the backend.
fn target(tokens: &str, contract: &str) -> String {
    format!("{tokens}#{contract}")
}

/// Returns the tokens of the tool's subject, and its contract.
pub(super) fn read_target(target: &ToolBackend) -> Option<(&str, &str)> {
    match target {
        ToolBackend::Provider { tool_id, .. } => tool_id.rsplit_once('#'),
        _ => None,
    }
}
