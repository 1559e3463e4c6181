//! A program on another machine.

use std::time::Duration;

use http::Method;
use toolkit::call::BoxFuture;

use super::super::super::engine::{Answer, Step};
use super::super::super::guarantee::Enforced;
use super::super::super::limits::Limits;
use super::super::super::program::Program;
use super::super::super::wire::{self, GREETING_BYTES, Hello, SESSIONS, ToHost, ToWorker, WireError};
use super::super::exchange::{Exchange, protocol};
use super::super::{SandboxError, Session};
use super::client::{Client, Received};

/// A session with a server. Dropping it ends the session there.
pub(super) struct RemoteSession {
    client: Client,
    path: String,
    exchange: Exchange,
    pub(super) enforced: Enforced,
}

/// The time that the server has to end a session.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// The length of an id of a session, at most.
const MAX_ID: usize = 200;

impl RemoteSession {
    /// Opens a session. Also returns the mechanisms that are missing.
    pub(super) async fn open(client: &Client, limits: &Limits) -> Result<(Self, Vec<String>), SandboxError> {
        let hello =
            wire::encode(&ToWorker::Hello(Hello::new(*limits)), GREETING_BYTES).map_err(|error| protocol(&error))?;
        let Received { location, body } = client.send(Method::POST, SESSIONS, hello, GREETING_BYTES).await?;
        let read = wire::check_version(&body).and_then(|()| wire::decode(&body));
        let ready = match read {
            Ok(ToHost::Ready(ready)) => ready,
            Ok(_) => return Err(protocol(&WireError::Invalid("expected `ready`".to_owned()))),
            Err(error) => return Err(protocol(&error)),
        };
        let id = location.as_ref().and_then(|location| location.to_str().ok()?.rsplit('/').next());
        let id =
            id.filter(|id| (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let id = id.ok_or_else(|| protocol(&WireError::Invalid("the session has no location".to_owned())))?;
        let path = format!("{SESSIONS}/{id}");
        let exchange = Exchange::new(*limits);
        let session = Self { client: client.clone(), path, exchange, enforced: ready.enforced };
        Ok((session, ready.missing))
    }

    /// Sends a line and receives the answer. If it is canceled, the connection closes and the server ends the session.
    async fn send(&mut self, line: Vec<u8>) -> Result<Step, SandboxError> {
        let received = self.client.send(Method::POST, &self.path, line, self.exchange.max_line()).await?;
        self.exchange.read(&received.body)
    }
}

impl Session for RemoteSession {
    fn enforced(&self) -> &Enforced {
        &self.enforced
    }

    fn start<'a>(&'a mut self, program: &'a Program) -> BoxFuture<'a, Result<Step, SandboxError>> {
        Box::pin(async move {
            let line = self.exchange.start(program)?;
            self.send(line).await
        })
    }

    fn resume(&mut self, answers: Vec<Answer>) -> BoxFuture<'_, Result<Step, SandboxError>> {
        Box::pin(async move {
            let line = self.exchange.resume(&answers)?;
            drop(answers);
            self.send(line).await
        })
    }
}

impl Drop for RemoteSession {
    fn drop(&mut self) {
        if self.exchange.is_done() {
            return;
        }
        // Without a runtime the server ends it when its time is over.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (client, path) = (self.client.clone(), std::mem::take(&mut self.path));
        runtime.spawn(async move {
            let end = client.send(Method::DELETE, &path, Vec::new(), GREETING_BYTES);
            let _ = tokio::time::timeout(END_TIMEOUT, end).await;
        });
    }
}
