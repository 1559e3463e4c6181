use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use toolkit_runtime::{FileAccess, Replacement, read_bounded, read_regular_file, replace_file};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_new_file_has_the_requested_permissions() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    replace_file(&path, FileAccess::Default, b"usual").unwrap();
    fs::write(directory.path().join("other"), "").unwrap();
    assert_eq!(mode(&path), mode(&directory.path().join("other")));
    replace_file(&path, FileAccess::Owner, b"private").unwrap();
    assert_eq!(mode(&path), 0o600);
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    replace_file(&path, FileAccess::Like(&fs::metadata(&path).unwrap()), b"like").unwrap();
    assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o640, b"like".to_vec()));
    assert_eq!(names(directory.path()), ["file", "other"]);
}

#[test]
fn the_old_file_stays_until_the_new_one_is_complete() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file.json");
    fs::write(&path, "old").unwrap();
    let replacement = Replacement::create(&path, FileAccess::Owner).unwrap();
    replacement.file().write_all(b"ne").unwrap();
    let left = names(directory.path()).into_iter().find(|name| name != "file.json").unwrap();
    assert_eq!(Replacement::target_of(&left), Some("file.json"));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    drop(replacement);
    assert_eq!(names(directory.path()), ["file.json"]);

    let replacement = Replacement::create(&path, FileAccess::Owner).unwrap();
    assert_eq!(replacement.commit_new().unwrap_err().kind(), ErrorKind::AlreadyExists);
    // A directory cannot be replaced by a file.
    let taken = directory.path().join("taken");
    fs::create_dir(&taken).unwrap();
    assert!(replace_file(&taken, FileAccess::Owner, b"new").is_err());
    assert_eq!(names(directory.path()), ["file.json", "taken"]);
    let missing = replace_file(&directory.path().join("no/file"), FileAccess::Owner, b"new").unwrap_err();
    assert!(missing.raw_os_error().is_some(), "callers distinguish errors of the platform: {missing:?}");
    assert!(replace_file(Path::new("/"), FileAccess::Owner, b"new").is_err());
}

#[test]
fn a_link_is_replaced_and_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let [target, link] = ["target", "link"].map(|name| directory.path().join(name));
    fs::write(&target, "target").unwrap();
    symlink(&target, &link).unwrap();
    replace_file(&link, FileAccess::Owner, b"new").unwrap();
    assert_eq!((fs::read(&target).unwrap(), fs::read(&link).unwrap()), (b"target".to_vec(), b"new".to_vec()));
}

#[test]
fn only_regular_files_within_the_limit_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("file"), vec![7; 2 << 20]).unwrap();
    symlink(path("file"), path("link")).unwrap();
    assert_eq!(read_regular_file(&path("link"), 2 << 20).unwrap().len(), 2 << 20);
    let error = read_regular_file(&path("file"), 1 << 20).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string()),
        (ErrorKind::FileTooLarge, "the file exceeds the limit of 1 MiB".into())
    );
    assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
    let (done, waits) = std::sync::mpsc::channel();
    let places: Vec<PathBuf> = vec![path("pipe"), directory.path().to_owned(), "/dev/zero".into(), path("missing")];
    std::thread::spawn(move || {
        done.send(places.iter().map(|path| read_regular_file(path, 10).unwrap_err().to_string()).collect::<Vec<_>>())
    });
    let errors = waits.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(errors[..3].iter().all(|error| error == "the path is not a regular file"), "{errors:?}");
    assert!(errors[3].contains("No such file"), "{errors:?}");
    assert_eq!(
        read_bounded(std::io::repeat(1), 1 << 10).unwrap_err().to_string(),
        "the file exceeds the limit of 1 KiB"
    );
}

#[test]
fn a_limit_is_shown_in_its_largest_unit() {
    for (limit, shown) in [
        (0, "0 bytes"),
        (1, "1 bytes"),
        (1023, "1023 bytes"),
        (1 << 10, "1 KiB"),
        (1536, "1536 bytes"),
        (3 << 10, "3 KiB"),
        (1 << 20, "1 MiB"),
        ((1 << 20) + 1024, "1025 KiB"),
        (3 << 20, "3 MiB"),
    ] {
        let error = read_bounded(std::io::repeat(0), limit).unwrap_err().to_string();
        assert_eq!(error, format!("the file exceeds the limit of {shown}"));
        let content = vec![1; usize::try_from(limit).unwrap()];
        assert_eq!(read_bounded(&content[..], limit).unwrap(), content);
    }
}

#[test]
fn a_new_file_is_committed_where_there_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let replacement = Replacement::create(&path, FileAccess::Owner).unwrap();
    replacement.file().write_all(b"new").unwrap();
    replacement.commit_new().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(directory.path()), ["file"]);
}

#[test]
fn only_names_of_temporary_files_have_a_target() {
    for (name, target) in [
        (".file.json.Ab1.tmp", Some("file.json")),
        (".file.Ab1.tmp", Some("file")),
        ("file.Ab1.tmp", None),
        (".file.Ab1", None),
        (".file.tmp", None),
        ("..Ab1.tmp", None),
    ] {
        assert_eq!(Replacement::target_of(name), target, "{name}");
    }
}
