//! The compile errors of the macros, as rustc prints them.
//!
//! `TRYBUILD=overwrite cargo test -p toolkit-ui-tests` updates the expected outputs. Review the differences like
//! code.

mod programs;

use std::fs;

#[test]
fn no_message_names_a_path_that_authors_cannot_use() {
    let entries = fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the tests have messages");
    let folders = entries.map(|entry| entry.expect("it is read").path()).filter(|path| path.is_dir());
    let mut n_read = 0;
    for folder in folders {
        for file in fs::read_dir(folder).expect("it is a folder") {
            let path = file.expect("it is read").path();
            if path.extension().is_some_and(|extension| extension == "stderr") {
                let text = fs::read_to_string(&path).expect("it is a text");
                for hidden in ["::private", "__private", "private.rs", "private/", "toolkit::__"] {
                    assert!(!text.contains(hidden), "{}: `{hidden}`", path.display());
                }
                n_read += 1;
            }
        }
    }
    assert!(n_read > 50, "{n_read} messages were read");
}
