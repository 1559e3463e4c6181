//! Notifications of changes of tools and resources: `subscriptions/listen`, and the implicit ones of earlier revisions.

mod subscription;
mod task_changes;

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::watch;
use toolkit::CancelToken;
use toolkit::call::BoxFuture;
use toolkit::resource::ResourceWatch;
use toolkit_mcp::{Code, RpcError, notification};

use self::subscription::{Subscription, Tagged};
pub(super) use self::task_changes::{TaskUpdates, Update};
use super::access::Rejected;
use super::call::{declares_tasks, missing_extension};
use super::peer::{Received, cancelled_by, register};
use super::resources::{context, watch_readable};
use super::state::ServerState;
use super::subscriptions::{self, Inbox};
use super::task_requests::check_tasks;

const PROMPTS: &str = "notifications/prompts/list_changed";
const TOOLS: &str = "notifications/tools/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const TASK: &str = "notifications/tasks";

/// The messages to a subscribed client: an acknowledgement, a notification for each change, and a final response.
pub(super) struct Listen {
    /// `None` for clients of earlier revisions, which receive the notifications only.
    subscription: Option<Subscription>,
    tools: watch::Receiver<u64>,
    prompts: watch::Receiver<u64>,
    resources: watch::Receiver<u64>,
    /// The updates of the resources that the client has subscribed to.
    inbox: Option<Arc<Inbox>>,
    /// Those of the resources in the request that the caller can read and a provider watches, before the
    /// acknowledgement.
    watched: Option<BoxFuture<'static, Vec<(String, ResourceWatch)>>>,
    /// The tasks that the client has subscribed to.
    tasks: Option<TaskUpdates>,
    shared: Arc<ServerState>,
    shutdown: CancelToken,
    /// Receives the changes of views.
    regrouped: watch::Receiver<()>,
    /// The name of the caller for limits.
    caller: String,
    state: ListenState,
}

#[derive(PartialEq)]
enum ListenState {
    Begun,
    Listening,
    Over,
}

impl Listen {
    /// Creates the subscription that a request asks for.
    pub(super) fn new(
        shared: &Arc<ServerState>,
        received: Received<'_>,
        params: Option<&RawValue>,
    ) -> Result<Self, Rejected> {
        #[derive(Deserialize)]
        struct ListenParams {
            notifications: Filter,
        }
        #[derive(Deserialize)]
        struct Filter {
            #[serde(default, rename = "toolsListChanged")]
            tools: bool,
            #[serde(default, rename = "promptsListChanged")]
            prompts: bool,
            #[serde(default, rename = "resourcesListChanged")]
            resources: bool,
            #[serde(default, rename = "resourceSubscriptions")]
            uris: Vec<String>,
            #[serde(rename = "taskIds")]
            tasks: Option<Vec<String>>,
        }
        let Received { id, meta, peer, .. } = received;
        let invalid = || RpcError::new(Code::InvalidParams, "`params` must have an object `notifications`");
        let params = params.ok_or_else(invalid)?;
        let ListenParams { notifications: mut wanted } = serde_json::from_str(params.get()).map_err(|_| invalid())?;
        let resources = &shared.resources;
        if !resources.is_offered() {
            wanted.uris.clear();
        }
        let mut seen = HashSet::new();
        wanted
            .uris
            .retain(|uri| seen.insert(uri.clone()) && peer.access.is_none_or(|access| access.grants_resource(uri)));
        subscriptions::check(&wanted.uris)?;
        if wanted.tasks.is_some() && !declares_tasks(meta) {
            return Err(missing_extension().into());
        }
        let owner = peer.identity();
        let tasks = wanted.tasks.map(|ids| TaskUpdates::new(shared, owner, ids)).transpose()?;
        check_tasks(shared, peer, tasks.iter().flat_map(TaskUpdates::ids))?;
        let watched = (!wanted.uris.is_empty()).then(|| -> BoxFuture<'static, _> {
            Box::pin(watch_readable(Arc::clone(shared), context(received), wanted.uris))
        });
        let registered = register(&shared.running, peer, id)?;
        let subscription = Subscription {
            id: id.to_owned(),
            wants_tools: wanted.tools,
            wants_prompts: wanted.prompts && shared.offers_prompts(),
            wants_resources: wanted.resources && resources.is_offered(),
            uris: Vec::new(),
            registered,
        };
        let caller = peer.name(peer.session.unwrap_or_default());
        Ok(Self { subscription: Some(subscription), tasks, watched, ..Self::to_changes(shared, None, caller) })
    }

    /// Creates a stream of all changes of the lists, and of the resources that a session of a caller has subscribed to.
    pub(super) fn to_changes(shared: &Arc<ServerState>, session: Option<&str>, caller: String) -> Self {
        let subscriptions = &shared.resources.subscriptions;
        Self {
            subscription: None,
            tools: shared.changes.subscribe(),
            prompts: shared.prompt_changes.subscribe(),
            resources: subscriptions.list_changes(),
            inbox: session.map(|session| subscriptions.of_session(session, &caller)),
            watched: None,
            tasks: None,
            shared: Arc::clone(shared),
            shutdown: shared.draining.clone(),
            regrouped: shared.regrouped.subscribe(),
            caller,
            state: ListenState::Begun,
        }
    }

    /// Reports all lists as changed.
    pub(super) fn mark_changed(&mut self) {
        self.tools.mark_changed();
        if self.shared.offers_prompts() {
            self.prompts.mark_changed();
        }
        if self.shared.resources.is_offered() {
            self.resources.mark_changed();
        }
    }

    /// Returns the next message, or `None` after the last one.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        if self.state == ListenState::Begun {
            self.subscribe().await;
            self.state = ListenState::Listening;
            if let Some(subscription) = &self.subscription {
                return Some(subscription.acknowledgement(self.tasks.as_ref()));
            }
        }
        if self.state == ListenState::Over {
            return None;
        }
        let cancelled = self.cancelled();
        let wants_tools = self.subscription.as_ref().is_none_or(|subscription| subscription.wants_tools);
        let wants_prompts = self.subscription.as_ref().is_none_or(|subscription| subscription.wants_prompts);
        let wants_resources = self.subscription.as_ref().is_none_or(|subscription| subscription.wants_resources);
        loop {
            tokio::select! {
                changed = self.tools.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    if wants_tools {
                        return Some(self.change(TOOLS, None));
                    }
                }
                Ok(()) = self.prompts.changed() => {
                    if wants_prompts {
                        return Some(self.change(PROMPTS, None));
                    }
                }
                Ok(()) = self.resources.changed() => {
                    if wants_resources {
                        return Some(self.change(RESOURCES, None));
                    }
                }
                task = updated_task(self.tasks.as_mut()) => return Some(self.task(&task)),
                uri = updated(self.inbox.as_deref()) => return Some(self.change(UPDATED, Some(&uri))),
                () = self.shutdown.cancelled() => break,
                // The client listens again, to what its caller sees now.
                _ = self.regrouped.changed() => break,
                () = cancelled_by(cancelled.clone()) => {
                    self.state = ListenState::Over;
                    return None;
                }
            }
        }
        self.state = ListenState::Over;
        self.subscription.as_ref().map(Subscription::end)
    }

    /// Subscribes to the resources that the caller can read and a provider watches. Dropping the future loses nothing.
    async fn subscribe(&mut self) {
        let cancelled = self.cancelled();
        let (Some(watching), Some(subscription)) = (&mut self.watched, &mut self.subscription) else {
            return;
        };
        tokio::select! {
            watched = watching => {
                let uris: Vec<String> = watched.iter().map(|(uri, _)| uri.clone()).collect();
                let inbox = self.shared.resources.subscriptions.of_stream(&self.caller, watched);
                subscription.uris = uris.into_iter().filter(|uri| inbox.has(uri)).collect();
                self.inbox = Some(inbox);
            }
            () = self.shutdown.cancelled() => {}
            () = cancelled_by(cancelled) => {}
        }
        self.watched = None;
    }

    /// Returns the token that cancels the request.
    fn cancelled(&self) -> Option<CancelToken> {
        let registered = self.subscription.as_ref()?.registered.as_ref()?;
        Some(registered.token.clone())
    }

    fn task(&self, update: &Update) -> Vec<u8> {
        let meta = self.subscription.as_ref().map(Subscription::tag);
        let meta = serde_json::value::to_raw_value(&meta).unwrap_or_default();
        notification(TASK, &update.params(&meta))
    }

    fn change(&self, method: &str, uri: Option<&str>) -> Vec<u8> {
        let meta = self.subscription.as_ref().map(Subscription::tag);
        notification(method, &Tagged { meta, agreed: None, uri })
    }
}

async fn updated(inbox: Option<&Inbox>) -> Box<str> {
    match inbox {
        Some(inbox) => inbox.next().await,
        None => std::future::pending().await,
    }
}

async fn updated_task(tasks: Option<&mut TaskUpdates>) -> Update {
    match tasks {
        Some(tasks) => tasks.next().await,
        None => std::future::pending().await,
    }
}
