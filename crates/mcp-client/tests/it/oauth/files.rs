//! Tokens in files.

use std::fs;
use std::path::{Path, PathBuf};

use toolkit::call::SecretString;
use toolkit_mcp_client::{FileTokens, MemoryTokens, OAuth, TokenStore};

use super::world::{Client, World, login};

/// An empty folder, until the end of the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("oauth-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let files = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_user_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::start().await;
    let folder = Folder::new("modes");
    let endpoint = || world.endpoint(OAuth::new().store(FileTokens::new(folder.path().join("deep"))));
    login(&endpoint()).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let deep = folder.path().join("deep");
    assert_eq!((mode(folder.path()), mode(&deep)), (0o700, 0o700));
    let files: Vec<PathBuf> = fs::read_dir(&deep).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 2, "a record and a lock: {files:?}");
    for file in &files {
        assert_eq!(mode(file), 0o600, "{file:?}");
        assert!(!file.to_string_lossy().contains("127.0.0.1"), "{file:?}");
    }

    let record = files.iter().find(|path| path.extension().is_some_and(|found| found == "json")).unwrap();
    for mode in [0o640, 0o604, 0o660] {
        fs::set_permissions(record, fs::Permissions::from_mode(mode)).unwrap();
        let error = endpoint().login_state().await.unwrap_err().to_string();
        assert!(error.ends_with("other users can read a file; remove it and log in again"), "{error}");
        assert!(Client::connect(&endpoint()).await.is_err());
    }
    fs::set_permissions(record, fs::Permissions::from_mode(0o600)).unwrap();
    Client::connect(&endpoint()).await.unwrap().call("read").await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_directory_that_others_can_change_is_not_used() {
    use std::os::unix::fs::{PermissionsExt, chown};

    let folder = Folder::new("shared");
    let tokens = FileTokens::new(folder.path());
    let record = SecretString::from("record");
    tokens.save("key", &record).await.unwrap();
    let reason = async || {
        let errors = [
            tokens.load("key").await.map(drop).unwrap_err(),
            tokens.save("key", &record).await.unwrap_err(),
            tokens.lock("key").await.map(drop).unwrap_err(),
        ];
        assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
        errors[0].to_string().split(": ").last().unwrap().to_owned()
    };
    for mode in [0o770, 0o722, 0o1777] {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(reason().await, "other users can write to the directory; remove their permission");
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    tokens.load("key").await.unwrap().unwrap();
    // Only a privileged user can give files away.
    if chown(folder.path(), Some(1), None).is_ok() {
        assert_eq!(reason().await, "the directory belongs to another user");
        chown(folder.path(), Some(0), None).unwrap();
        let file = folder.files("json").pop().unwrap();
        chown(&file, Some(1), None).unwrap();
        let error = tokens.load("key").await.unwrap_err().to_string();
        assert!(error.ends_with("a file belongs to another user, or is not a regular file; remove it"), "{error}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_and_pipes_are_not_opened() {
    let folder = Folder::new("links");
    let tokens = FileTokens::new(folder.path());
    tokens.save("key", &SecretString::from("record")).await.unwrap();
    drop(tokens.lock("key").await.unwrap());
    let (file, lock) = (folder.files("json").pop().unwrap(), folder.files("lock").pop().unwrap());
    let elsewhere = folder.path().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    for path in [&file, &lock] {
        let _ = fs::remove_file(path);
        std::os::unix::fs::symlink(&elsewhere, path).unwrap();
    }
    assert!(tokens.load("key").await.is_err() && tokens.lock("key").await.is_err());
    for path in [&file, &lock] {
        fs::remove_file(path).unwrap();
        assert!(std::process::Command::new("mkfifo").args(["-m", "600"]).arg(path).status().unwrap().success());
    }
    let opened = async { (tokens.load("key").await.is_err(), tokens.lock("key").await.is_err()) };
    let opened = tokio::time::timeout(std::time::Duration::from_secs(60), opened).await;
    assert_eq!(opened, Ok((true, true)));
}

#[tokio::test]
async fn a_damaged_record_requires_a_login() {
    let world = World::start().await;
    let folder = Folder::new("damaged");
    let endpoint = || world.endpoint(OAuth::new().store(FileTokens::new(folder.path())));
    login(&endpoint()).await.unwrap();
    let file = folder.files("json").pop().unwrap();
    let record = fs::read_to_string(&file).unwrap();
    let large = " ".repeat(300 << 10);
    for damaged in ["", "{}", "null", &record[..record.len() / 2], &large, &record.replace("127.0.0.1", "127.0.0.2")] {
        fs::write(&file, damaged).unwrap();
        let error = endpoint().login_state().await.unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
        let n = world.requests("/mcp").len();
        assert!(Client::connect(&endpoint()).await.is_err());
        assert_eq!(world.requests("/mcp").len(), n, "a token of a damaged record was sent");
        assert!(endpoint().logout().await.unwrap());
        fs::write(&file, damaged).unwrap();
    }
    login(&endpoint()).await.unwrap();
    Client::connect(&endpoint()).await.unwrap().call("read").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_sees_one_record_or_the_other() {
    let folder = Folder::new("atomic");
    let tokens = FileTokens::new(folder.path());
    let records = ["a", "b"].map(|letter| SecretString::from(letter.repeat(200_000)));
    tokens.save("key", &records[0]).await.unwrap();
    let writer = tokio::spawn({
        let (tokens, records) = (tokens.clone(), records.clone());
        async move {
            for n in 0..100 {
                tokens.save("key", &records[n % 2]).await.unwrap();
            }
        }
    });
    while !writer.is_finished() {
        let record = tokens.load("key").await.unwrap().unwrap();
        assert!(records.iter().any(|whole| whole.expose() == record.expose()));
    }
    writer.await.unwrap();
    assert_eq!(folder.files("tmp").len(), 0);
    // What a process leaves that is killed while it writes is removed with the record.
    let record = folder.files("json").pop().unwrap();
    let left = folder.path().join(format!(".{}.x7Rq2b.tmp", record.file_name().unwrap().display()));
    fs::write(left, "half").unwrap();
    tokens.save("other", &records[0]).await.unwrap();
    assert!(tokens.load("key").await.unwrap().is_some());
    tokens.remove("key").await.unwrap();
    assert_eq!((folder.files("tmp").len(), folder.files("json").len()), (0, 1));
    tokens.remove("key").await.unwrap();
}

#[tokio::test]
async fn a_lock_excludes_others() {
    let folder = Folder::new("lock");
    let tokens = FileTokens::new(folder.path());
    let lock = tokens.lock("key").await.unwrap();
    let other = tokens.lock("other").await.unwrap();
    let waiting = tokio::spawn({
        let tokens = tokens.clone();
        async move { tokens.lock("key").await.map(drop) }
    });
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert!(!waiting.is_finished());
    drop(lock);
    waiting.await.unwrap().unwrap();
    drop(other);
}

#[tokio::test]
async fn each_store_returns_what_was_saved_until_it_is_removed() {
    let folder = Folder::new("stores");
    let stores: [&dyn TokenStore; 2] = [&MemoryTokens::new(), &FileTokens::new(folder.path())];
    for store in stores {
        let record = async |key| store.load(key).await.unwrap().map(|record| record.expose().to_owned());
        assert_eq!(record("a").await, None);
        store.remove("a").await.unwrap();
        for (key, saved) in [("a", "first"), ("b", "other"), ("a", "second")] {
            store.save(key, &SecretString::from(saved)).await.unwrap();
        }
        assert_eq!((record("a").await.as_deref(), record("b").await.as_deref()), (Some("second"), Some("other")));
        store.remove("a").await.unwrap();
        assert_eq!((record("a").await, record("b").await.as_deref()), (None, Some("other")));
    }
}

#[tokio::test]
async fn a_record_has_at_most_256_kib() {
    let folder = Folder::new("large");
    let tokens = FileTokens::new(folder.path());
    for (n_bytes, is_read) in [(256 << 10, true), ((256 << 10) + 1, false)] {
        tokens.save("key", &SecretString::from("x".repeat(n_bytes))).await.unwrap();
        assert_eq!(tokens.load("key").await.is_ok(), is_read, "{n_bytes}");
    }
}

#[tokio::test]
async fn a_lock_that_another_process_keeps_is_given_up_after_30_seconds() {
    let folder = Folder::new("kept-lock");
    let tokens = FileTokens::new(folder.path());
    let lock = tokens.lock("key").await.unwrap();
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    let error = tokens.lock("key").await.map(drop).unwrap_err();
    assert_eq!(error.to_string(), "another process has locked the tokens for 30 s");
    assert_eq!(start.elapsed().as_secs(), 30);
    drop(lock);
}
