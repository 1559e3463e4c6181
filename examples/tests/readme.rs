//! The Rust blocks of README are programs: complete, and those that run are quoted from `examples/`.

use std::fs;
use std::path::Path;

#[test]
fn every_rust_block_of_readme_is_a_program_that_is_tested() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(package.join("../README.md")).unwrap();
    let programs = fs::read_dir(package.join("examples")).unwrap();
    let programs: Vec<String> = programs.map(|program| fs::read_to_string(program.unwrap().path()).unwrap()).collect();

    let mut n_blocks = 0;
    for block in readme.split("\n```rust").skip(1) {
        let (attributes, block) = block.split_once('\n').unwrap();
        let (code, _) = block.split_once("\n```").unwrap();
        n_blocks += 1;
        assert!(code.contains("fn main()"), "a block is not a complete program:\n{code}");
        assert!(!code.lines().any(|line| line.starts_with("# ")), "a block has hidden lines:\n{code}");
        let is_quoted = programs.iter().any(|program| program.contains(code));
        assert!(is_quoted || attributes.contains("no_run"), "a block is not quoted from `examples/`:\n{code}");
    }
    assert!(n_blocks > 0);
}
