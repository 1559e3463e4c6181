use std::sync::Arc;

use toolkit::tool;

struct Db;

trait Store: Send + Sync {}

/// Uses a database.
#[tool]
fn sized(db: Arc<Db>) { drop(db) }

/// Uses a store.
#[tool]
fn unsized_state(store: Arc<dyn Store>, days: u8) { drop((store, days)) }

type Shared = Arc<Db>;

/// Uses a database by another name.
#[tool]
fn alias(days: u8, db: Shared) { drop((days, db)) }

trait NotShared {}

/// Borrows what threads cannot share.
#[tool]
fn not_shared(_store: &dyn NotShared) {}

fn main() {}
