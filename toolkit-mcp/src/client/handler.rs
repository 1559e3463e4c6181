//! What a server says without being asked.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken};
use rmcp::service::{NotificationContext, RoleClient};
use tokio::sync::{Mutex, watch};
use toolkit::Context;

/// Takes what a server says without being asked: how far a call has come, and that its tools have changed.
///
/// It declares that it can do nothing for a server, so that none asks it for a model or for the user.
#[derive(Clone)]
pub(super) struct Handler {
    pub(super) listeners: Listeners,
    pub(super) changes: watch::Sender<u64>,
}

/// Who listens to the progress of which call. A call that ends takes its listener along.
pub(super) type Listeners = Arc<Mutex<HashMap<ProgressToken, Weak<Listener>>>>;

/// Who listens to the progress of one call.
pub(super) struct Listener {
    context: Context,
    last: std::sync::Mutex<f64>,
}

impl Listener {
    pub(super) fn new(context: &Context) -> Arc<Self> {
        Arc::new(Self { context: context.clone(), last: std::sync::Mutex::new(f64::NEG_INFINITY) })
    }

    /// Passes on what is news: two reports may overtake each other on their way.
    fn hear(&self, report: ProgressNotificationParam) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if report.progress > *last {
            *last = report.progress;
            self.context.progress(report.progress, report.total, report.message.as_deref().unwrap_or_default());
        }
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let this_program = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), this_program)
    }

    async fn on_progress(&self, report: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let listener = self.listeners.lock().await.get(&report.progress_token).and_then(Weak::upgrade);
        if let Some(listener) = listener {
            listener.hear(report);
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.send_modify(|n| *n += 1);
    }
}
