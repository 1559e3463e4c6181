//! Where, when and how long calls run: permits, timeouts, cancellation, panics, typed calls.

mod bounds;
mod cancelled;
mod large;
mod nested;
mod numbers;
mod panics;
mod timers;
mod typed;
