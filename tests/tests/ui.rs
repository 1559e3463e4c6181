//! Every message that an author can meet, as rustc prints it.
//!
//! `TRYBUILD=overwrite cargo test -p toolkit-tests --test ui` writes the expected outputs anew; a difference in them is
//! reviewed like code.

#[test]
fn each_mistake_is_one_error_at_the_smallest_wrong_token() {
    trybuild::TestCases::new().compile_fail("ui/*/*.rs");
}
