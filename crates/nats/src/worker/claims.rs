//! Claims, by which no call with `Tk-Once` runs twice, and their records in a bucket.
//!
//! A worker claims a call by creating a key, which succeeds for one worker only, and stores the answer under it. The key has
//! the id of the call, and a digest of its caller, its tool and its arguments: whoever learns the id gets no answer by it.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::kv::{Operation, Store};
use async_nats::{Client, HeaderMap};
use bytes::Bytes;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use toolkit::ToolError;
use toolkit::call::ErrorKind;

use crate::wire;
use crate::worker::answer::CallAnswer;

/// The claimed calls of all workers.
pub(super) struct Claims {
    client: Client,
    bucket: String,
    worker: String,
    store: OnceCell<Arc<Store>>,
}

/// The state of a call that this worker is asked to run.
pub(super) enum Claimed {
    /// This worker runs the call.
    Own(Arc<Claim>),
    /// The call has ended.
    Answered(CallAnswer),
    /// A worker has claimed the call, and has stored no answer.
    By(String),
}

/// A call that this worker has claimed.
pub(super) struct Claim {
    store: Arc<Store>,
    key: String,
    claim: Claimant,
    revision: u64,
}

/// The number of attempts to claim a call, if the server does not confirm it.
const MAX_ATTEMPTS: usize = 3;

/// The time for one operation on the bucket.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the key of a call of a tool. The caller is known by the inbox that receives its replies, apart from the last token.
pub(super) fn claim_key(id: &str, subject: &str, reply: Option<&str>, arguments: &[u8]) -> String {
    let inbox = reply.and_then(|reply| reply.rsplit_once('.')).map_or("", |(inbox, _)| inbox);
    // Subjects contain no zero bytes.
    let digest = Sha256::new().chain_update(format!("{subject}\0{inbox}\0")).chain_update(arguments).finalize();
    format!("{id}.{}", HEXLOWER.encode(&digest))
}

impl Claims {
    pub(super) fn new(client: &Client, bucket: String, worker: &str) -> Self {
        Self { client: client.clone(), bucket, worker: worker.to_owned(), store: OnceCell::new() }
    }

    /// Claims the call with this [key](claim_key).
    ///
    /// # Errors
    ///
    /// Returns an error if the bucket cannot be used. This worker does not run the call then.
    pub(super) async fn claim(&self, key: &str, left: Duration) -> Result<Claimed, ToolError> {
        let store = self.store().await?;
        // A claim that is removed before its call has ended would not prevent another run.
        let max_age = store.stream.cached_info().config.max_age;
        if !max_age.is_zero() && left > max_age / 2 {
            let message = format!(
                "a claimed call may take at most half of the age limit of the bucket `{}`, which is {max_age:?}",
                self.bucket
            );
            return Err(ToolError::new(ErrorKind::Failed, message));
        }
        let claim = Claimant { worker: self.worker.clone(), nonce: wire::random_id() };
        let value = ClaimRecord { claim: claim.clone(), answer: None }.write();
        for _ in 0..MAX_ATTEMPTS {
            let own = |revision| {
                let (store, key, claim) = (Arc::clone(store), key.to_owned(), claim.clone());
                Ok(Claimed::Own(Arc::new(Claim { store, key, claim, revision })))
            };
            if let Ok(Ok(revision)) = timeout(TIMEOUT, store.create(key, value.clone())).await {
                return own(revision);
            }
            // The key exists, or the server did not confirm the claim.
            match timeout(TIMEOUT, store.entry(key)).await {
                Ok(Ok(Some(entry))) if entry.operation == Operation::Put => match ClaimRecord::read(&entry.value) {
                    Some(ClaimRecord { answer: Some(answer), .. }) => return Ok(Claimed::Answered(answer)),
                    Some(ClaimRecord { claim: found, .. }) if found == claim => return own(entry.revision),
                    Some(ClaimRecord { claim: found, .. }) => return Ok(Claimed::By(found.worker)),
                    None => break,
                },
                Ok(Ok(_)) => {}
                Ok(Err(_)) | Err(_) => break,
            }
        }
        Err(self.unavailable("does not answer"))
    }

    async fn store(&self) -> Result<&Arc<Store>, ToolError> {
        let open = async {
            let jetstream = async_nats::jetstream::new(self.client.clone());
            let opened = timeout(TIMEOUT, jetstream.get_key_value(&self.bucket)).await;
            opened.ok().and_then(Result::ok).map(Arc::new).ok_or_else(|| self.unavailable("does not exist"))
        };
        self.store.get_or_try_init(|| open).await
    }

    fn unavailable(&self, how: &str) -> ToolError {
        let message = format!("the bucket `{}` of the NATS server, by which calls are claimed, {how}", self.bucket);
        ToolError::new(ErrorKind::Unavailable, message)
    }
}

impl Claim {
    /// Stores the answer, or releases the claim if the tool has not started. Returns the answer that is stored, which is
    /// another if the call was ended twice.
    pub(super) async fn record(&self, answer: CallAnswer) -> CallAnswer {
        if !answer.has_run() {
            // The same call may be sent again, for example when the worker has less to do.
            let released = timeout(TIMEOUT, self.store.delete_expect_revision(&self.key, Some(self.revision))).await;
            if !matches!(released, Ok(Ok(()))) {
                tracing::warn!("the claim of a call that did not start was not released");
            }
            return answer;
        }
        let value = ClaimRecord { claim: self.claim.clone(), answer: Some(answer.clone()) }.write();
        if matches!(timeout(TIMEOUT, self.store.update(&self.key, value, self.revision)).await, Ok(Ok(_))) {
            return answer;
        }
        let stored = timeout(TIMEOUT, self.store.entry(&self.key)).await;
        let stored = stored.ok().and_then(Result::ok).flatten().and_then(|entry| ClaimRecord::read(&entry.value));
        match stored {
            Some(ClaimRecord { answer: Some(stored), .. }) => stored,
            _ => {
                tracing::warn!("the answer of a claimed call was not stored");
                answer
            }
        }
    }
}

/// A claimed call in its bucket: one line of JSON, and the body of the answer.
pub(super) struct ClaimRecord {
    pub(super) claim: Claimant,
    pub(super) answer: Option<CallAnswer>,
}

/// The claim of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claimant {
    /// The id of the worker.
    pub(super) worker: String,
    /// A random number, by which the worker recognizes its claim.
    pub(super) nonce: String,
}

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    claim: Claimant,
    /// `None` before there is an answer.
    headers: Option<Vec<(String, String)>>,
}

/// The headers of an answer that are stored.
const STORED: [&str; 4] = [wire::EVENT, wire::ERROR, wire::RAN, wire::BODY];

impl ClaimRecord {
    pub(super) fn write(&self) -> Bytes {
        let headers = self.answer.as_ref().map(|answer| {
            let header = |name| Some((String::from(name), wire::header(Some(&answer.headers), name)?.to_owned()));
            STORED.into_iter().filter_map(header).collect()
        });
        let mut value = serde_json::to_vec(&Line { claim: self.claim.clone(), headers }).expect("texts are JSON");
        value.push(b'\n');
        value.extend_from_slice(self.answer.as_ref().map_or(&[], |answer| &answer.body));
        value.into()
    }

    /// Reads a value. Returns `None` if another program wrote it.
    pub(super) fn read(value: &Bytes) -> Option<Self> {
        let end = value.iter().position(|byte| *byte == b'\n')?;
        let Line { claim, headers } = serde_json::from_slice(&value[..end]).ok()?;
        let answer = headers.map(|stored| {
            let mut headers = HeaderMap::new();
            for (name, text) in stored {
                let name = STORED.into_iter().find(|known| *known == name);
                if let (Some(name), Ok(text)) = (name, text.parse::<async_nats::HeaderValue>()) {
                    headers.insert(name, text);
                }
            }
            CallAnswer { headers, body: value.slice(end + 1..) }
        });
        Some(Self { claim, answer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back() {
        let claim = Claimant { worker: "a".to_owned(), nonce: "b".to_owned() };
        let mut headers = HeaderMap::new();
        headers.insert(wire::EVENT, "error");
        headers.insert(wire::RAN, "yes");
        for answer in [None, Some(CallAnswer::default()), Some(CallAnswer { headers, body: "{\n}".into() })] {
            let read =
                ClaimRecord::read(&ClaimRecord { claim: claim.clone(), answer: answer.clone() }.write()).unwrap();
            assert_eq!((read.claim, read.answer), (claim.clone(), answer));
        }
        assert!(ClaimRecord::read(&"{}\n".into()).is_none() && ClaimRecord::read(&"".into()).is_none());
    }
}
