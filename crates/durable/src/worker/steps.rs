//! The steps that a worker runs.

use tokio::sync::watch;

/// The number of steps that run, and whether further ones may start.
pub(super) struct Steps(watch::Sender<State>);

#[derive(Clone, Copy, Default)]
struct State {
    n_running: usize,
    is_draining: bool,
}

/// A step that runs until this is dropped.
pub(super) struct Started<'s>(&'s Steps);

impl Steps {
    /// Starts a step. Never completes if the worker ends: another one starts the step.
    pub(super) async fn start(&self) -> Started<'_> {
        let may_start = self.0.send_if_modified(|state| {
            state.n_running += usize::from(!state.is_draining);
            !state.is_draining
        });
        match may_start {
            true => Started(self),
            false => std::future::pending().await,
        }
    }

    /// Prevents further steps from starting, and waits for those that run.
    pub(super) async fn drain(&self) {
        self.0.send_modify(|state| state.is_draining = true);
        // The sender is not dropped meanwhile.
        let _ = self.0.subscribe().wait_for(|state| state.n_running == 0).await;
    }
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| state.n_running -= 1);
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self(watch::Sender::new(State::default()))
    }
}
