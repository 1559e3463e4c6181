//! Threads, timing and limits of calls: permits, timeouts, cancellation, panics, typed calls.

mod borrowed;
mod bounds;
mod cancelled;
mod free_form;
mod large;
mod nested;
mod numbers;
mod panics;
mod rejected;
mod timers;
mod typed;
