//! The resources of backends.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use futures_util::future::join_all;
use tokio::sync::Notify;
use toolkit::call::BoxFuture;
use toolkit::resource::{
    Resource, ResourceChange, ResourceChanges, ResourceContents, ResourceTemplate, ResourceWatch, Resources, Skill,
    WeakResourceChanges,
};
use toolkit::{Context, ToolError};
use toolkit_backends::Backends;
use toolkit_mcp::json_bytes;
use toolkit_runtime::Mutex;

use super::lists::Lists;
use crate::proxy_uri::{decode, encode, is_too_deep};

/// The number of subscriptions that are renewed at the same time.
const MAX_CONCURRENT: usize = 64;

/// The resources of all backends of a proxy.
pub(super) struct ProxiedResources {
    backends: Arc<Backends>,
    changes: ResourceChanges,
    lists: Lists<Resource>,
    templates: Lists<ResourceTemplate>,
    skills: Lists<Skill>,
    followed: Mutex<Followed>,
    /// The backends whose resources pass the filter of the server, or `None` without a filter.
    admitted: Mutex<Option<HashSet<String>>>,
    watched: Mutex<Vec<Weak<Watched>>>,
    /// The names of backends that have taken the place of others, and do not watch the same resources yet.
    replaced: Mutex<HashSet<String>>,
    /// Notified when a backend reports a change of its list.
    reported: Arc<Notify>,
    /// The hash of the lists at the last comparison, or `None` if the backends have changed since.
    compared: Mutex<Option<u64>>,
    hasher: RandomState,
}

/// A resource of a backend that a client is subscribed to.
struct Watched {
    backend: String,
    uri: String,
    watch: Mutex<ResourceWatch>,
}

/// The backends at the last collection, and the reports that the proxy follows.
#[derive(Default)]
struct Followed {
    /// The names of the backends with resources.
    names: HashSet<String>,
    reports: HashMap<String, Following>,
}

/// A listener to the reports of a backend. It ends when this is dropped, with the next report.
struct Following {
    reports: WeakResourceChanges,
    /// False while the backend is disabled.
    is_current: Arc<AtomicBool>,
}

impl ProxiedResources {
    pub(super) fn new(backends: Arc<Backends>, admitted: Option<HashSet<String>>, reported: &Arc<Notify>) -> Self {
        Self {
            backends,
            changes: ResourceChanges::new(),
            lists: Lists::default(),
            templates: Lists::default(),
            skills: Lists::default(),
            followed: Mutex::default(),
            admitted: Mutex::new(admitted),
            watched: Mutex::default(),
            replaced: Mutex::default(),
            reported: Arc::clone(reported),
            compared: Mutex::default(),
            hasher: RandomState::new(),
        }
    }

    /// Returns the backends whose resources pass the filter of the server, or `None` without a filter.
    pub(super) fn admitted(&self) -> Option<HashSet<String>> {
        self.admitted.lock().clone()
    }

    pub(super) fn admit(&self, backends: HashSet<String>) {
        *self.admitted.lock() = Some(backends);
    }

    /// Returns the resources of the backends that pass the filter.
    fn of_backends(&self) -> Vec<(String, Arc<dyn Resources>)> {
        let mut backends = self.backends.resources();
        if let Some(admitted) = &*self.admitted.lock() {
            backends.retain(|(name, _)| admitted.contains(name));
        }
        backends
    }

    /// Follows the reports of all current backends.
    pub(super) fn follow(&self) {
        let backends = self.of_backends();
        let names: HashSet<String> = backends.iter().map(|(name, _)| name.clone()).collect();
        let mut followed = self.followed.lock();
        let mut has_changed = followed.names != names;
        // A disabled backend keeps its listener, so that switching it does not add listeners.
        followed.reports.retain(|name, following| {
            following.is_current.store(names.contains(name), Ordering::Release);
            following.reports.upgrade().is_some()
        });
        followed.names = names;
        for (name, resources) in backends {
            let Some(reports) = resources.changes() else { continue };
            let known = followed.reports.get(&name).and_then(|known| known.reports.upgrade());
            if known.is_some_and(|known| known.is_same(reports)) {
                continue;
            }
            has_changed = true;
            let is_watched = |watched: &Weak<Watched>| watched.upgrade().is_some_and(|it| it.backend == name);
            if self.watched.lock().iter().any(is_watched) {
                self.replaced.lock().insert(name.clone());
            }
            self.lists.forget(&name);
            self.templates.forget(&name);
            self.skills.forget(&name);
            let is_current = Arc::new(AtomicBool::new(true));
            let (changes, reported) = (self.changes.downgrade(), Arc::clone(&self.reported));
            let (of, is_followed) = (name.clone(), Arc::downgrade(&is_current));
            reports.listen(move |change| {
                let (Some(changes), Some(is_current)) = (changes.upgrade(), is_followed.upgrade()) else {
                    return ControlFlow::Break(());
                };
                match change {
                    _ if !is_current.load(Ordering::Acquire) => {}
                    ResourceChange::Updated(uri) => changes.updated(&encode(&of, uri)),
                    _ => reported.notify_one(),
                }
                ControlFlow::Continue(())
            });
            followed.reports.insert(name, Following { reports: reports.downgrade(), is_current });
        }
        drop(followed);
        if !self.replaced.lock().is_empty() {
            self.reported.notify_one();
        }
        if has_changed {
            *self.compared.lock() = None;
            self.changes.list_changed();
        }
    }

    /// Watches the resources of replaced backends that clients are subscribed to.
    pub(super) async fn renew(&self) {
        let replaced = std::mem::take(&mut *self.replaced.lock());
        if replaced.is_empty() {
            return;
        }
        let backends = self.of_backends();
        let watched: Vec<Arc<Watched>> = self.watched.lock().iter().filter_map(Weak::upgrade).collect();
        let watched: Vec<_> = watched.into_iter().filter(|watched| replaced.contains(&watched.backend)).collect();
        for watched in watched.chunks(MAX_CONCURRENT) {
            join_all(watched.iter().map(|watched| self.renew_one(watched, &backends))).await;
        }
    }

    async fn renew_one(&self, watched: &Watched, backends: &[(String, Arc<dyn Resources>)]) {
        let Some((name, resources)) = backends.iter().find(|(name, _)| *name == watched.backend) else { return };
        match resources.watch(&watched.uri, &Context::new()).await {
            Ok(watch) => {
                let before = std::mem::replace(&mut *watched.watch.lock(), watch);
                drop(before);
                // Updates may have been missed.
                self.changes.updated(&encode(name, &watched.uri));
            }
            // Tried again after the next collection.
            Err(error) if error.is_retryable() => drop(self.replaced.lock().insert(name.clone())),
            Err(error) => {
                let reason = error.to_string();
                let reason = reason.escape_debug();
                tracing::warn!(backend = name, %reason, "a backend does not renew a subscription to a resource");
            }
        }
    }

    /// Lists the resources of all backends, and reports a change if they differ from those at the last comparison.
    /// Otherwise, reports of two proxies that serve each other would cause each other without end.
    pub(super) async fn compare(&self) {
        self.lists.expire();
        self.templates.expire();
        self.skills.expire();
        let context = Context::new();
        let (resources, templates) = (self.list(&context).await, self.templates(&context).await);
        let hash = self.hasher.hash_one(json_bytes(&(resources.ok(), templates.ok())));
        if self.compared.lock().replace(hash) != Some(hash) {
            self.changes.list_changed();
        }
    }

    /// Lists the entries of all backends, as the proxy serves them. A backend that fails is left out. All callers share the
    /// lists, so a backend receives the context of none.
    async fn all<T: Clone + Send + Sync>(
        &self,
        lists: &Lists<T>,
        list: impl for<'a> Fn(&'a dyn Resources, &'a Context) -> BoxFuture<'a, Result<Vec<T>, ToolError>> + Sync,
        encoded: impl Fn(&str, T) -> Option<T>,
    ) -> Result<Vec<T>, ToolError> {
        let backends = self.of_backends();
        lists.retain(|name| backends.iter().any(|(other, _)| other == name));
        let each = backends.into_iter().map(|(name, resources)| {
            let list = &list;
            async move {
                let listed = || -> BoxFuture<'_, _> { Box::pin(async { list(&*resources, &Context::new()).await }) };
                (lists.of(&name).get(&name, listed).await, name)
            }
        });
        let each = join_all(each).await;
        Ok(each
            .iter()
            .flat_map(|(entries, name)| entries.iter().filter_map(|entry| encoded(name, entry.clone())))
            .collect())
    }

    /// Returns the name of the backend that has a URI of the proxy, the URI there, and the resources of the backend.
    fn backend_of<'u>(&self, uri: &'u str) -> Option<(&'u str, String, Arc<dyn Resources>)> {
        let (name, own) = decode(uri).filter(|_| !is_too_deep(uri))?;
        let (_, resources) = self.of_backends().into_iter().find(|(other, _)| other == name)?;
        Some((name, own, resources))
    }
}

impl Resources for ProxiedResources {
    fn list<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(self.all(
            &self.lists,
            |resources, context| resources.list(context),
            |backend, mut resource| {
                resource.uri = encode_listed(backend, &resource.uri)?;
                Some(resource)
            },
        ))
    }

    fn templates<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<ResourceTemplate>, ToolError>> {
        Box::pin(self.all(
            &self.templates,
            |resources, context| resources.templates(context),
            |backend, mut template| {
                template.uri_template = encode_listed(backend, &template.uri_template)?;
                Some(template)
            },
        ))
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async move {
            let Some((name, own, resources)) = self.backend_of(uri) else { return Ok(None) };
            let mut contents = resources.read(&own, context).await?;
            for contents in contents.iter_mut().flatten() {
                contents.uri = encode(name, &contents.uri);
            }
            Ok(contents)
        })
    }

    fn has_skills(&self) -> bool {
        self.of_backends().iter().any(|(_, resources)| resources.has_skills())
    }

    fn skills<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<Skill>, ToolError>> {
        Box::pin(self.all(
            &self.skills,
            |resources, context| resources.skills(context),
            |backend, skill| (!is_too_deep(&skill.uri)).then(|| encoded(backend, skill)),
        ))
    }

    fn skill<'a>(&'a self, uri: &'a str, context: &'a Context) -> BoxFuture<'a, Result<Option<Skill>, ToolError>> {
        Box::pin(async move {
            let Some((name, own, resources)) = self.backend_of(uri) else { return Ok(None) };
            Ok(resources.skill(&own, context).await?.map(|skill| encoded(name, skill)))
        })
    }

    fn watch<'a>(&'a self, uri: &'a str, context: &'a Context) -> BoxFuture<'a, Result<ResourceWatch, ToolError>> {
        Box::pin(async move {
            let unknown = || ToolError::failed("no server has this resource");
            let (name, own, resources) = self.backend_of(uri).ok_or_else(unknown)?;
            let watch = Mutex::new(resources.watch(&own, context).await?);
            let watched = Arc::new(Watched { backend: name.to_owned(), uri: own, watch });
            let mut all = self.watched.lock();
            if all.len() == all.capacity() {
                all.retain(|watched| watched.strong_count() > 0);
            }
            all.push(Arc::downgrade(&watched));
            Ok(ResourceWatch::new(watched))
        })
    }

    fn changes(&self) -> Option<&ResourceChanges> {
        Some(&self.changes)
    }
}

/// Returns the URI under which the proxy serves that of a backend, or `None` if too many proxies have added their names to it.
fn encode_listed(backend: &str, uri: &str) -> Option<String> {
    (!is_too_deep(uri)).then(|| encode(backend, uri))
}

/// Returns a skill of a backend with the URIs under which the proxy serves its files.
fn encoded(backend: &str, mut skill: Skill) -> Skill {
    skill.uri = encode(backend, &skill.uri);
    for file in skill.resources.iter_mut().flatten() {
        file.uri = encode(backend, &file.uri);
    }
    skill
}

toolkit::debug_fields!(ProxiedResources { backends });
