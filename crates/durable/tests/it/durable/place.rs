//! The places that record runs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use test_support::postgres::Server;

/// A place that records runs, and the diary of the tools. Both are removed on drop.
pub(crate) struct Place {
    server: Option<Server>,
    folder: PathBuf,
}

impl Place {
    /// Creates a folder for the file of the runs.
    pub(crate) fn file() -> Self {
        static N_PLACES: AtomicU64 = AtomicU64::new(0);
        let nth = N_PLACES.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("toolkit-durable-file-{}-{nth}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self { server: None, folder }
    }

    /// Starts a server.
    pub(crate) fn postgres() -> Self {
        Self { server: Some(Server::start()), folder: PathBuf::new() }
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// Returns the path of the file of the runs.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join("runs.db")
    }

    pub(crate) fn url(&self) -> String {
        match &self.server {
            Some(server) => server.url(),
            None => self.path().to_str().unwrap().to_owned(),
        }
    }

    pub(crate) fn diary(&self) -> PathBuf {
        match &self.server {
            Some(server) => server.diary(),
            None => self.folder.join("diary"),
        }
    }

    /// Lets the tools `busy` and `broken` succeed.
    pub(crate) fn repair(&self) {
        let mut path = self.diary().into_os_string();
        path.push(".repaired");
        std::fs::write(path, "").unwrap();
    }

    /// Returns a text of the record.
    pub(crate) fn query(&self, sql: &str) -> String {
        match &self.server {
            Some(server) => server.query(sql),
            None => {
                let file = rusqlite::Connection::open(self.path()).unwrap();
                file.query_row(sql, [], |row| row.get(0)).unwrap()
            }
        }
    }

    /// Changes the record.
    pub(crate) fn execute(&self, sql: &str) {
        match &self.server {
            Some(server) => _ = server.query(sql),
            None => rusqlite::Connection::open(self.path()).unwrap().execute_batch(sql).unwrap(),
        }
    }

    /// Kills the server and starts it again. A file has none.
    pub(crate) fn restart(&self) {
        if let Some(server) = &self.server {
            server.restart();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.server.is_none() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}
