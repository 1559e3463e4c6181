//! Files and folders of a crate as rooms that import each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::imports::Imports;

/// For each folder, which of its files and subfolders import which others of them.
///
/// `schema.rs` is a file of the folder `schema`, beside `schema/check.rs`.
pub fn rooms(imports: &Imports) -> BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<PathBuf>>> {
    let mut rooms: BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<PathBuf>>> = BTreeMap::new();
    for (from, to) in imports {
        for to in to.keys() {
            let (from, to) = (place(from, imports), place(to, imports));
            let n_common = from.iter().zip(to.iter()).take_while(|(a, b)| a == b).count();
            let folder: PathBuf = from.iter().take(n_common).collect();
            let room = |path: &Path| path.iter().take(n_common + 1).collect::<PathBuf>();
            let graph = rooms.entry(folder).or_default();
            graph.entry(room(&to)).or_default();
            graph.entry(room(&from)).or_default().insert(room(&to));
        }
    }
    rooms
}

/// The file as a path in which it stands inside its own folder, if it has one: `schema/schema.rs`.
fn place(file: &Path, all: &Imports) -> PathBuf {
    let folder = file.with_extension("");
    let has_folder = all.keys().any(|other| other != file && other.starts_with(&folder));
    if has_folder { folder.join(file.file_name().unwrap_or_default()) } else { file.to_owned() }
}
