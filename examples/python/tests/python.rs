//! The program in Python, started with the library that Cargo built for this test.

#![cfg(unix)]

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::process::Command;

#[test]
fn a_program_in_python_lists_and_calls_the_tools_of_a_dynamic_library() {
    let test = std::env::current_exe().expect("a test has a file");
    let library = test.with_file_name(format!("{DLL_PREFIX}catalog{DLL_SUFFIX}"));
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/host.py");
    let Ok(output) = Command::new("python3").arg(program).arg(library).output() else {
        test_support::skipped(1);
        return;
    };
    let expect = "\
math_divide - Divides one integer by another.
text_count_words - Returns the number of words in a text.
{'result': 5}
{'error': 'math:divide: the divisor must not be 0'}
math:divide: the arguments do not match the schema
- /dividend must be an integer, got \"seven\"
for example: {\"dividend\":1,\"divisor\":1}
";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expect, "{}", String::from_utf8_lossy(&output.stderr));
    test_support::ran(1);
}
