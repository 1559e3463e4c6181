//! Code mode for clients of the server.

mod rust_sdk;
mod served;
mod task;
