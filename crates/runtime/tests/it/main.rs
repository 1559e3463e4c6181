//! Tests of the public interface of `toolkit-runtime`.

#[cfg(target_os = "linux")]
mod accepting;
mod bodies;
mod events;
#[cfg(unix)]
mod files;
mod guard;
mod headers;
mod limits;
mod lines;
mod proxies;
mod serving;
mod telemetry;
mod tool_polls;
mod tool_threads;
