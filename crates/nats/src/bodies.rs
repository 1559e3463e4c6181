//! Arguments and results that do not fit into a message, in an object store of the NATS server.

mod reference;

use std::collections::HashMap;
use std::fmt;
use std::io::{Error, ErrorKind};
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::Context;
use async_nats::jetstream::object_store::{ObjectInfo, ObjectMetadata, ObjectStore};
use bytes::Bytes;
use data_encoding::BASE64URL;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;
use toolkit_runtime::Mutex;

pub(crate) use self::reference::BodyReference;
use crate::wire::{HEADER_RESERVE, MAX_BODY, random_id};

/// The object stores of a NATS server.
pub(crate) struct Bodies {
    jetstream: Context,
    client: Client,
    /// The stores that were opened, by the names of their buckets.
    stores: Mutex<HashMap<String, ObjectStore>>,
}

/// A body in an object store.
pub(crate) struct Stored {
    pub(crate) reference: BodyReference,
    /// The token of the subject of its parts.
    nuid: String,
}

/// The maximum number of stores that are kept open.
const MAX_STORES: usize = 64;

/// The time in which a bucket must be found, and a body stored or read.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(60);

/// The preferred size of the parts of an object in bytes.
const PART: usize = 128 << 10;

impl Bodies {
    pub(crate) fn new(client: &Client) -> Self {
        let jetstream = async_nats::jetstream::new(client.clone());
        Self { jetstream, client: client.clone(), stores: Mutex::default() }
    }

    /// Returns the maximum size of a body in a message.
    pub(crate) fn inline_limit(&self) -> usize {
        self.client.max_payload().saturating_sub(HEADER_RESERVE)
    }

    /// Stores a body, which fits its reference when it is read.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be stored: of the kind `StorageFull` if the bucket has no room.
    pub(crate) async fn store(&self, bucket: &str, body: &[u8]) -> Result<Stored, Error> {
        let store = self.open(bucket).await?;
        // The client leaves the parts of an object that does not fit, which would take the room of others until they expire.
        let stream = within(OPEN_TIMEOUT, self.jetstream.get_stream(stream_of(bucket))).await?;
        let (info, n_bytes) = (stream.cached_info(), u64::try_from(body.len()).unwrap_or(u64::MAX));
        let is_full = |max_bytes| info.state.bytes.saturating_add(n_bytes) > max_bytes;
        if u64::try_from(info.config.max_bytes).is_ok_and(|max_bytes| max_bytes > 0 && is_full(max_bytes)) {
            return Err(Error::new(ErrorKind::StorageFull, "the bucket has no room"));
        }
        let reference = BodyReference::new(bucket, random_id(), body);
        let chunk_size = Some(PART.min(self.inline_limit().max(1)));
        let object = ObjectMetadata { name: reference.object.clone(), chunk_size, ..ObjectMetadata::default() };
        let mut rest = body;
        let put = within(TRANSFER_TIMEOUT, store.put(object, &mut rest)).await;
        // The client keeps the text of this error only. Others have stored bodies meanwhile.
        let info = put.map_err(|error| match error.to_string().contains("maximum bytes exceeded") {
            true => Error::new(ErrorKind::StorageFull, error),
            false => error,
        })?;
        Ok(Stored { reference, nuid: info.nuid })
    }

    /// Reads a body.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read completely, or does not fit the reference.
    pub(crate) async fn read(&self, reference: &BodyReference) -> Result<(Bytes, Stored), Error> {
        let store = self.open(&reference.bucket).await?;
        let other = || Error::new(ErrorKind::InvalidData, "the object is not the one that was stored");
        let mut object = within(TRANSFER_TIMEOUT, store.get(&reference.object)).await?;
        let ObjectInfo { size, nuid, .. } = object.info.clone();
        if size != reference.len || size > MAX_BODY {
            return Err(other());
        }
        let mut body = Vec::with_capacity(size);
        let mut object = (&mut object).take(u64::try_from(size).unwrap_or(u64::MAX));
        within(TRANSFER_TIMEOUT, object.read_to_end(&mut body)).await?;
        match reference.fits(&body) {
            true => Ok((body.into(), Stored { reference: reference.clone(), nuid })),
            false => Err(other()),
        }
    }

    /// Deletes a body without leaving a marker. If that fails, the age limit of the bucket removes it.
    pub(crate) async fn delete(&self, stored: &Stored) {
        let Stored { reference: BodyReference { bucket, object, .. }, nuid } = stored;
        let Ok(stream) = self.jetstream.get_stream_no_info(stream_of(bucket)).await else { return };
        let object = BASE64URL.encode(object.as_bytes());
        for subject in [format!("$O.{bucket}.M.{object}"), format!("$O.{bucket}.C.{nuid}")] {
            if let Err(error) = stream.purge().filter(subject).await {
                tracing::debug!(%error, bucket, "a body was not deleted");
            }
        }
    }

    async fn open(&self, bucket: &str) -> Result<ObjectStore, Error> {
        let known = self.stores.lock().get(bucket).cloned();
        if let Some(store) = known {
            return Ok(store);
        }
        let store = within(OPEN_TIMEOUT, self.jetstream.get_object_store(bucket)).await?;
        let mut stores = self.stores.lock();
        if stores.len() >= MAX_STORES {
            stores.clear();
        }
        stores.insert(bucket.to_owned(), store.clone());
        Ok(store)
    }
}

/// Returns the name of the stream of a bucket.
fn stream_of(bucket: &str) -> String {
    format!("OBJ_{bucket}")
}

/// Returns the text about a full bucket, and its remedy.
pub(crate) fn full(bucket: &str) -> String {
    format!(
        "the bucket `{bucket}` is full: increase `max_bytes` of its stream `{}`, or wait until bodies that nobody has read have \
         expired",
        stream_of(bucket)
    )
}

/// Waits for an operation of the client, and converts its error.
async fn within<T, E: fmt::Display>(
    limit: Duration,
    operation: impl Future<Output = Result<T, E>>,
) -> Result<T, Error> {
    match timeout(limit, operation).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(Error::other(error.to_string())),
        Err(_) => Err(Error::new(ErrorKind::TimedOut, format!("the NATS server did not answer within {limit:?}"))),
    }
}
