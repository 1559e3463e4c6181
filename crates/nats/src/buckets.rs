//! Creates the buckets of workers and callers.

use std::time::Duration;

use async_nats::jetstream::{self, object_store, stream};

use crate::connect::{Connect, NatsError};
use crate::subject::{PREFIX, Subjects};

/// The buckets of a NATS server with JetStream that large bodies and claimed calls need.
///
/// | bucket | kind | contents |
/// |---|---|---|
/// | `tk-bodies` | object store | arguments and results that do not fit into a message |
/// | `tk-calls` | key-value store | calls with [`RetryPolicy::Claimed`](crate::RetryPolicy::Claimed), and their answers |
///
/// They can also be created by other means, as an object store and a key-value store with a maximum age of an hour.
///
/// # Examples
///
/// ```no_run
/// use toolkit_nats::{Buckets, Connect};
///
/// # async fn create() -> Result<(), Box<dyn std::error::Error>> {
/// Buckets::new(Connect::new("nats://localhost")?).replicas(3).create().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Buckets {
    connect: Connect,
    subjects: Subjects,
    bodies: Vec<String>,
    max_age: Duration,
    max_bytes: i64,
    n_replicas: usize,
}

impl Buckets {
    /// Describes the buckets of workers and callers with the prefix `tk`.
    pub fn new(connect: Connect) -> Self {
        let subjects = Subjects::new(PREFIX);
        let max_age = Duration::from_secs(3600);
        Self { connect, subjects, bodies: Vec::new(), max_age, max_bytes: 1 << 30, n_replicas: 1 }
    }

    /// Sets the prefix of the workers and callers; see [`Worker::prefix`](crate::Worker::prefix). A dot becomes an underscore
    /// in the names of buckets.
    pub fn prefix(self, prefix: impl AsRef<str>) -> Self {
        Self { subjects: Subjects::new(prefix.as_ref()), ..self }
    }

    /// Adds another bucket for bodies, for a caller with [`NatsBackend::body_bucket`](crate::NatsBackend::body_bucket).
    pub fn bodies(mut self, bucket: impl Into<String>) -> Self {
        self.bodies.push(bucket.into());
        self
    }

    /// Sets the age at which bodies and claims are removed. It limits the time of a claimed call to half of it. Default: one
    /// hour.
    pub fn max_age(self, max_age: Duration) -> Self {
        Self { max_age, ..self }
    }

    /// Sets the maximum size of each bucket in bytes. Default: 1 GiB.
    pub fn max_bytes(self, n_bytes: u64) -> Self {
        Self { max_bytes: n_bytes.try_into().unwrap_or(i64::MAX), ..self }
    }

    /// Sets the number of servers of a cluster that store the buckets. With one, the loss of its disk loses the claims, and
    /// with them the promise that no claimed call runs twice. Default: 1.
    pub fn replicas(self, n_replicas: usize) -> Self {
        Self { n_replicas, ..self }
    }

    /// Creates the buckets. Those that exist stay as they are.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no connection, the server has no JetStream, or this user may not create a bucket.
    pub async fn create(self) -> Result<(), NatsError> {
        let client = self.connect.client("toolkit buckets", tokio::sync::broadcast::Sender::new(1)).await?;
        let jetstream = jetstream::new(client);
        let bodies = [self.subjects.bodies()].into_iter().chain(self.bodies);
        for bucket in bodies {
            if jetstream.get_object_store(&bucket).await.is_ok() {
                continue;
            }
            let config = object_store::Config {
                bucket: bucket.clone(),
                description: Some("Arguments and results of tools".to_owned()),
                max_age: self.max_age,
                max_bytes: self.max_bytes,
                num_replicas: self.n_replicas,
                ..object_store::Config::default()
            };
            let created = jetstream.create_object_store(config).await;
            created.map_err(|error| NatsError::bucket(bucket, error))?;
        }
        let bucket = self.subjects.claims();
        if jetstream.get_key_value(&bucket).await.is_ok() {
            return Ok(());
        }
        // The function of the client for this asks for the account first, in a form that servers before 2.10 do not have.
        let config = stream::Config {
            name: format!("KV_{bucket}"),
            description: Some("Claimed calls of tools, and their answers".to_owned()),
            subjects: vec![format!("$KV.{bucket}.>")],
            max_messages_per_subject: 1,
            max_age: self.max_age,
            max_bytes: self.max_bytes,
            num_replicas: self.n_replicas,
            // A claim that was removed to make room would not prevent another run.
            discard: stream::DiscardPolicy::New,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            ..stream::Config::default()
        };
        let created = jetstream.create_stream(config).await;
        created.map(drop).map_err(|error| NatsError::bucket(bucket, error))
    }
}
