//! The runs that the record assigns to this worker, and those that it executes.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use dbos::sysdb::types::{WorkflowFilter, WorkflowStatus};

use super::lease::LOOK_TIMEOUT;
use super::shared::Shared;
use crate::error::DurableError;

/// The interval of looks. All runs of the worker share one query.
const INTERVAL: Duration = Duration::from_millis(500);

/// Ends the executions of runs that were cancelled, or that another worker has taken over, and queues runs again whose
/// execution has ended without an outcome, such as by an error of the database.
pub(super) async fn watch(shared: &Shared) {
    let mut orphans: HashMap<String, Instant> = HashMap::new();
    loop {
        tokio::time::sleep(INTERVAL).await;
        match tokio::time::timeout(LOOK_TIMEOUT, look(shared, &mut orphans)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "cannot look for the runs of this worker"),
            Err(_) => tracing::warn!("cannot look for the runs of this worker: the database does not answer"),
        }
    }
}

async fn look(shared: &Shared, orphans: &mut HashMap<String, Instant>) -> Result<(), DurableError> {
    // Before the query: a run is assigned before its execution starts.
    let running = shared.running();
    let lease = &shared.lease;
    let filter =
        WorkflowFilter { status: vec![WorkflowStatus::Pending], executor_ids: vec![&lease.executor], ..lease.filter() };
    let owned: HashSet<String> = lease.list(&filter).await?.into_iter().map(|run| run.workflow_id).collect();
    running.iter().filter(|id| !owned.contains(&***id)).for_each(|id| shared.end(id));

    let running: HashSet<_> = shared.running().into_iter().collect();
    orphans.retain(|id, _| owned.contains(id) && !running.contains(&**id));
    for id in owned.into_iter().filter(|id| !running.contains(&**id)) {
        // A run that has just been assigned starts soon.
        if orphans.entry(id.clone()).or_insert_with(Instant::now).elapsed() >= shared.settings.takeover_after {
            tracing::info!(run = id, "the execution of a run has ended without an outcome; it is queued again");
            lease.requeue(&id).await?;
        }
    }
    Ok(())
}
