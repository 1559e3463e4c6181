//! A program in a worker.

use std::time::{Duration, Instant};

use toolkit::call::BoxFuture;

use super::super::super::engine::{Answer, Step};
use super::super::super::guarantee::Enforced;
use super::super::super::limits::Limits;
use super::super::super::program::Program;
use super::super::super::wire::WireError;
use super::super::exchange::{Exchange, protocol};
use super::super::{SandboxError, Session};
use super::child::Worker;

/// A session with a worker.
pub(super) struct ProcessSession {
    worker: Worker,
    exchange: Exchange,
    /// The time that the program has run.
    running: Duration,
}

impl ProcessSession {
    pub(super) fn new(worker: Worker, limits: Limits) -> Self {
        Self { worker, exchange: Exchange::new(limits), running: Duration::ZERO }
    }

    /// Sends a line and receives the answer.
    async fn send(&mut self, line: &[u8]) -> Result<Step, SandboxError> {
        if self.worker.has_more() {
            return Err(protocol(&WireError::Invalid("a message out of turn".to_owned())));
        }
        let begin = Instant::now();
        let received = match self.worker.send(line).await {
            Ok(()) => self.worker.receive(self.exchange.max_line()).await.map_err(|error| protocol(&error))?,
            Err(_) => None,
        };
        self.running += begin.elapsed();
        let Some(line) = received else {
            return Err(self.worker.end().await.error(self.exchange.limits(), self.running));
        };
        let step = self.exchange.read(&line)?;
        self.worker.is_done = self.exchange.is_done();
        Ok(step)
    }
}

impl Session for ProcessSession {
    fn enforced(&self) -> &Enforced {
        &self.worker.enforced
    }

    fn start<'a>(&'a mut self, program: &'a Program) -> BoxFuture<'a, Result<Step, SandboxError>> {
        Box::pin(async move {
            let line = self.exchange.start(program)?;
            self.send(&line).await
        })
    }

    fn resume(&mut self, answers: Vec<Answer>) -> BoxFuture<'_, Result<Step, SandboxError>> {
        Box::pin(async move {
            let line = self.exchange.resume(&answers)?;
            drop(answers);
            self.send(&line).await
        })
    }
}
