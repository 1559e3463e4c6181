//! Calls at a server: lines over a pipe, and requests over HTTP.

#[path = "../../benches/servers/serve/answer.rs"]
mod answer;
mod http;
mod pipe;

use toolkit::{Catalog, Dispatcher};
use toolkit_mcp_server::Server;

use self::http::Revision;
use crate::limits::Limits;

/// The number of calls in flight.
const IN_FLIGHT: usize = 64;

/// The floors check nothing: a loop over lines, and a handler of hyper. The client is part of both counts. Counts of several
/// threads differ by up to 10 % between machines, since the system decides how many calls a thread finds at once.
pub(crate) const LIMITS: [Limits; 3] = [
    Limits { floor: "floor-stdio", n_calls: 1_280, rows: &[("stdio", 3.08)] },
    Limits { floor: "floor-http", n_calls: 1_280, rows: &[("http", 2.40)] },
    Limits { floor: "floor-http-2025", n_calls: 1_280, rows: &[("http-2025", 2.55)] },
];

/// Makes the calls of one row. Returns false if this module does not have the row.
pub(crate) fn repeat(row: &str, n_calls: usize) -> bool {
    match row {
        "floor-stdio" => pipe::floor(n_calls),
        "stdio" => pipe::calls(&server(), n_calls),
        "floor-http" => http::floor(Revision::V2026_07_28, n_calls),
        "floor-http-2025" => http::floor(Revision::V2025_11_25, n_calls),
        "http" => http::calls(&server(), Revision::V2026_07_28, n_calls),
        "http-2025" => http::calls(&server(), Revision::V2025_11_25, n_calls),
        _ => return false,
    }
    true
}

fn server() -> Server {
    let dispatcher = Dispatcher::new(Catalog::linked().expect("the names differ")).expect("no state is needed");
    Server::new(dispatcher).expect("the schemas are valid")
}
