//! Programs that the tests of a package start.

use std::path::PathBuf;

/// Returns the path of a program that the tests of a package start: an example of that package, beside the executable of
/// its tests.
///
/// # Panics
///
/// Panics if the program was not built: `cargo test --test` builds no examples.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let tests = std::env::current_exe().expect("the path of this program is known");
    let profile = tests.parent().and_then(|deps| deps.parent()).expect("tests are in `deps`");
    let program = profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.exists(), "{} is absent: build the programs: cargo test -p PACKAGE --no-run", program.display());
    program
}
