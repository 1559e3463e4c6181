//! The runs of this worker that were cancelled, or that another worker has taken over.

use std::time::Duration;

use dbos::sysdb::types::{WorkflowFilter, WorkflowStatus};

use super::shared::Shared;

/// The interval of looks. All runs of the worker share one query.
const INTERVAL: Duration = Duration::from_millis(500);

/// Ends the runs that this worker must not continue.
pub(super) async fn watch(shared: &Shared) {
    let lease = &shared.lease;
    loop {
        tokio::time::sleep(INTERVAL).await;
        let running = shared.running();
        if running.is_empty() {
            continue;
        }
        let ids = running.iter().map(|id| &**id).collect();
        match lease.list(&WorkflowFilter { workflow_ids: ids, ..lease.filter() }).await {
            Ok(runs) => {
                let is_own = |executor: Option<&str>| executor == Some(&lease.executor);
                let lost = runs
                    .iter()
                    .filter(|run| run.status != WorkflowStatus::Pending || !is_own(run.executor_id.as_deref()));
                lost.for_each(|run| shared.end(&run.workflow_id));
            }
            Err(error) => tracing::warn!(%error, "cannot look for cancelled runs"),
        }
    }
}
