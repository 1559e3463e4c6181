//! Tests of the public interface of `toolkit`.

mod backends;
mod bad_input;
mod calls;
mod catalog;
mod coercion;
mod dispatch;
mod identity;
mod listed;
mod prompts;
mod records;
mod refusals;
mod requirements;
mod state;
mod streams;
mod versions;
