//! Clients that call tools, and the comparison of what they received with what the tools wrote.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::json;
use toolkit::call::ErrorKind;

use super::processes::noted;
use super::*;

pub(crate) const N_CLIENTS: u64 = 32;

/// The id of a call, and its outcome.
type Ended = (u64, Result<(), ToolError>);

/// Clients that call a tool again and again, and what they received.
pub(crate) struct Load {
    is_over: Arc<AtomicBool>,
    clients: Vec<tokio::task::JoinHandle<Vec<Ended>>>,
}

impl Load {
    pub(crate) fn start(dispatcher: &Dispatcher, tool: &'static str) -> Self {
        let (is_over, ids) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let clients = (0..N_CLIENTS).map(|_| {
            let (dispatcher, is_over, ids) = (dispatcher.clone(), Arc::clone(&is_over), Arc::clone(&ids));
            tokio::spawn(async move {
                let mut outcomes = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    let id = ids.fetch_add(1, Ordering::Relaxed);
                    // Some calls end at once, and some take longer than the first reply may.
                    let ms = [0, 1, 8, 40][(id % 4) as usize];
                    let outcome = call(&dispatcher, tool, json!({ "id": id, "ms": ms })).await;
                    outcomes.push((id, outcome.map(|result| assert_eq!(result, id))));
                }
                outcomes
            })
        });
        let clients = clients.collect();
        Self { is_over, clients }
    }

    pub(crate) async fn end(self) -> Outcomes {
        self.is_over.store(true, Ordering::Relaxed);
        let mut outcomes = Outcomes::default();
        for client in self.clients {
            for (id, outcome) in soon(client).await.unwrap() {
                outcomes.n_calls += 1;
                match outcome {
                    Ok(()) => outcomes.answered.push(id),
                    Err(error) if error.kind() == ErrorKind::OutcomeUnknown => outcomes.unknown.push(id),
                    Err(error) if !error.kind().may_have_started() => outcomes.rejected.push(id),
                    Err(error) => panic!("{error:?}"),
                }
            }
        }
        outcomes
    }
}

#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    pub(crate) n_calls: usize,
    pub(crate) answered: Vec<u64>,
    pub(crate) unknown: Vec<u64>,
    pub(crate) rejected: Vec<u64>,
}

impl Outcomes {
    /// Checks that the outcomes agree with what has run, and returns the number of calls that ran twice.
    pub(crate) fn n_twice(&self, server: &Server) -> usize {
        let (started, ended) = (noted(server, "start"), noted(server, "end"));
        for id in &self.answered {
            assert!(ended.contains_key(id), "{id} was answered, and has not run");
        }
        for id in &self.rejected {
            assert!(!started.contains_key(id), "{id} was rejected, and has run");
        }
        assert_eq!(self.answered.len() + self.unknown.len() + self.rejected.len(), self.n_calls);
        let n_twice = started.values().filter(|n| **n > 1).count();
        println!(
            "{} calls: {} answered, {} unknown, {} rejected, {n_twice} ran twice",
            self.n_calls,
            self.answered.len(),
            self.unknown.len(),
            self.rejected.len()
        );
        n_twice
    }
}
