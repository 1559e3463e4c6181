//! Servers under load, as processes of their own: clients that do not read, do not finish, or open what they can, and tools
//! that keep every thread. All others are served, memory has a bound, and SIGTERM ends the process.
#![cfg(unix)]

mod balancers;
mod bodies;
mod connections;
mod drain;
mod pipe;
mod results;
mod server;
mod shutdown;
mod threads;

use self::server::{Protocol, Server};

/// The bound of the peak memory in every attack, in MiB.
const MAX_RESIDENT: usize = 300;
