//! The database of the service: users and their notes.

use std::sync::{Arc, Mutex, PoisonError};

use axum_login::{AuthUser, AuthnBackend, UserId};
use rusqlite::{Connection, OptionalExtension as _, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, key BLOB NOT NULL UNIQUE);
    CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES users, text TEXT NOT NULL);
";

/// The database. Clones share the connection.
#[derive(Clone)]
pub struct Database(Arc<Mutex<Connection>>);

/// A user of the service.
#[derive(Clone, Debug, PartialEq)]
pub struct User {
    pub id: i64,
    pub name: String,
    key: Vec<u8>,
}

/// The key with which a user logs in.
#[derive(Clone, Deserialize)]
pub struct Key {
    pub key: String,
}

/// A note of a user.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Note {
    pub id: i64,
    pub text: String,
}

impl Database {
    /// Opens a file, or a database in memory for `:memory:`.
    pub fn open(path: impl AsRef<std::path::Path>) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(TABLES)?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    fn with<T>(&self, run: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        run(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn user(&self, column: &str, value: impl rusqlite::ToSql) -> rusqlite::Result<Option<User>> {
        let query = format!("SELECT id, name, key FROM users WHERE {column} = ?1");
        let read = |row: &rusqlite::Row<'_>| Ok(User { id: row.get(0)?, name: row.get(1)?, key: row.get(2)? });
        self.with(|connection| connection.query_row(&query, [value], read).optional())
    }

    /// Adds a user, of whose key only the hash is stored.
    #[cfg(test)]
    pub fn add_user(&self, name: &str, key: &str) -> rusqlite::Result<User> {
        let key = Sha256::digest(key).to_vec();
        self.with(|connection| {
            connection.execute("INSERT INTO users (name, key) VALUES (?1, ?2)", params![name, key])
        })?;
        self.user("key", key)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
    }

    pub fn notes(&self, owner: i64) -> rusqlite::Result<Vec<Note>> {
        self.with(|connection| {
            let mut query = connection.prepare("SELECT id, text FROM notes WHERE owner = ?1 ORDER BY id")?;
            query.query_map([owner], |row| Ok(Note { id: row.get(0)?, text: row.get(1)? }))?.collect()
        })
    }

    pub fn add_note(&self, owner: i64, text: &str) -> rusqlite::Result<Note> {
        let insert = "INSERT INTO notes (owner, text) VALUES (?1, ?2) RETURNING id";
        let id = self.with(|connection| connection.query_row(insert, params![owner, text], |row| row.get(0)))?;
        Ok(Note { id, text: text.to_owned() })
    }

    /// Deletes all notes of a user, and returns their number.
    pub fn clear(&self, owner: i64) -> rusqlite::Result<usize> {
        self.with(|connection| connection.execute("DELETE FROM notes WHERE owner = ?1", [owner]))
    }
}

impl AuthUser for User {
    type Id = i64;

    fn id(&self) -> i64 {
        self.id
    }

    // A session ends when the key of its user changes.
    fn session_auth_hash(&self) -> &[u8] {
        &self.key
    }
}

impl AuthnBackend for Database {
    type User = User;
    type Credentials = Key;
    type Error = rusqlite::Error;

    async fn authenticate(&self, Key { key }: Key) -> rusqlite::Result<Option<User>> {
        self.user("key", Sha256::digest(key).to_vec())
    }

    async fn get_user(&self, id: &UserId<Self>) -> rusqlite::Result<Option<User>> {
        self.user("id", *id)
    }
}
