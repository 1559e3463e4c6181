//! `cargo toolkit dev`, with a program that compiles in a moment and reads messages as these tests write them.

mod chapter;
mod client;
mod edits;
mod http;
mod interrupt;
mod new_program;
mod package;
mod sessions;
mod speed;
