//! The programs in the folders beside this file, which must not compile.

use std::fs;
use std::path::Path;

#[test]
fn each_mistake_is_one_error_at_the_smallest_token() {
    copy_manifests();
    trybuild::TestCases::new().compile_fail("*/*.rs");
}

/// Copies the manifests to the package that trybuild generates, where `import!` reads them.
fn copy_manifests() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is a folder of the target's");
    let package = target.join("tests/trybuild").join(env!("CARGO_PKG_NAME")).join("manifests");
    fs::create_dir_all(&package).expect("the target can be written");
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../manifests");
    for entry in fs::read_dir(manifests).expect("the tests have manifests") {
        let entry = entry.expect("the tests have manifests");
        fs::copy(entry.path(), package.join(entry.file_name())).expect("the target can be written");
    }
}
