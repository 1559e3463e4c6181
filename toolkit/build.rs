//! Does nothing: Cargo requires a build script for the key `links`, which keeps a second version out of a program.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
