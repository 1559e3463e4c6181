//! Tests of the public interface of `toolkit`.

mod adjusted;
mod attached;
mod backends;
mod bad_input;
mod calls;
mod catalog;
mod coercion;
mod content;
mod dispatch;
mod durations;
mod forms;
mod identity;
mod kinds;
mod listed;
mod named;
mod prompts;
mod records;
mod refusals;
mod requirements;
mod resources;
mod shared_types;
mod state;
mod streams;
mod types;
mod versions;
