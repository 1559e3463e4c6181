//! A worker for containers, which runs one program in JavaScript.

#![forbid(unsafe_code)]

fn main() {
    toolkit_code::worker::run(toolkit_code::engine::JavaScript::new)
}
