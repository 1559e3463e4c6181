//! Programs whose end is known.

use test_support::programs::{KnownProgram, failing, hostile, mismatch, program, run_to_end};

use crate::engine::{engine, run};

fn assert_known(known: &[KnownProgram]) {
    let mut mismatches = Vec::new();
    for known in known.iter().filter(|known| !known.needs_process) {
        if std::env::var_os("SHOW_PROGRAMS").is_some() {
            eprintln!("{known}");
        }
        let ended = run_to_end(&mut engine(), &program(&known.code));
        mismatches.extend(mismatch(known, &ended));
    }
    assert!(mismatches.is_empty(), "{} of {}:\n{}", mismatches.len(), known.len(), mismatches.join("\n"));
}

#[test]
fn a_failure_names_kind_and_place_and_says_what_to_write() {
    let known = failing();
    assert!(known.len() >= 60, "{} programs", known.len());
    assert_known(&known);
}

#[test]
fn a_hostile_program_ends_as_expected_and_harms_nothing() {
    let known = hostile();
    assert!(known.len() >= 150, "{} programs", known.len());
    assert!(known.iter().all(|known| !known.origin.is_empty()));
    assert_known(&known);
    assert_eq!(run("return await tools.math.add({ a: 1, b: 2 })").value(), 3);
}
