//! The programs of `tests/ui`, whose compile errors rustc prints there, expanded without rustc.

use std::fs;
use std::path::{Path, PathBuf};

use super::errors;

/// The errors that rustc reports without a code too.
const OF_RUSTC: [&str; 2] =
    ["future cannot be sent between threads safely", "macro expansion ignores `expr` metavariable"];

#[test]
fn each_program_has_the_errors_that_rustc_prints() {
    let programs = programs();
    assert!(programs.len() > 50, "{} programs", programs.len());
    for program in programs {
        let text = fs::read_to_string(&program).expect("a program is read");
        let mut expanded = errors(&text);
        let mut printed = printed(&fs::read_to_string(program.with_extension("stderr")).expect("a program has errors"));
        printed.sort();
        expanded.sort();
        assert_eq!(expanded, printed, "{}", program.display());
    }
}

/// Returns the programs, except those of `import!`, which is not a macro of this crate.
fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui");
    let files =
        |folder: PathBuf| fs::read_dir(folder).expect("a folder is read").map(|entry| entry.expect("read").path());
    let folders = files(root).filter(|path| path.is_dir() && !path.ends_with("import"));
    folders.flat_map(files).filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// Returns the messages of the errors without a code.
fn printed(stderr: &str) -> Vec<String> {
    let messages = stderr.split("\n\n").filter_map(|error| error.strip_prefix("error: "));
    let messages = messages.filter_map(|error| Some(error.split_once("-->")?.0.trim().to_owned()));
    messages.filter(|message| !OF_RUSTC.iter().any(|of_rustc| message.starts_with(of_rustc))).collect()
}
