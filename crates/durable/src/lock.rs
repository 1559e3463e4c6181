//! Advisory locks of Postgres, which end with the session or transaction that holds them.

use sha2::{Digest, Sha256};
use sqlx::postgres::PgConnection;

/// Takes the lock of a name until the session ends, and waits for it.
pub(crate) async fn hold(session: &mut PgConnection, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_advisory_lock($1)").bind(key(name)).execute(session).await.map(drop)
}

/// Takes the lock of a name until the session ends, unless another session holds or shares it.
pub(crate) async fn try_hold_session(session: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(key(name)).fetch_one(session).await
}

/// Shares the lock of a name until the session ends.
pub(crate) async fn share(session: &mut PgConnection, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_advisory_lock_shared($1)").bind(key(name)).execute(session).await.map(drop)
}

/// Takes the lock of a name until the transaction ends, unless another session holds or shares it.
pub(crate) async fn try_hold(transaction: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT pg_try_advisory_xact_lock($1)").bind(key(name)).fetch_one(transaction).await
}

/// Takes the lock of a name until the transaction ends, as soon as a session that was ended has released it.
pub(crate) async fn hold_after(transaction: &mut PgConnection, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query("SET LOCAL lock_timeout = '2s'").execute(&mut *transaction).await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(key(name)).execute(transaction).await.map(drop)
}

fn key(name: &str) -> i64 {
    let hash = Sha256::new().chain_update(b"toolkit-durable\0").chain_update(name).finalize();
    let (key, _) = hash.split_first_chunk::<8>().expect("a hash has 32 bytes");
    i64::from_be_bytes(*key)
}
