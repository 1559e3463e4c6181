//! Tests of the public interface of `toolkit-runtime`.

#[cfg(target_os = "linux")]
mod accepting;
mod bodies;
mod call_limit;
mod client_network;
mod connection_threads;
mod connections;
mod events;
#[cfg(unix)]
mod files;
mod guard;
mod headers;
mod jwt;
mod limits;
mod lines;
mod proxies;
mod responses;
mod seal;
mod serving;
mod shared_budget;
#[cfg(target_os = "linux")]
mod signals;
mod telemetry;
mod tool_polls;
mod tool_threads;
mod wildcard;
