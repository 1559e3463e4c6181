//! Calls at a server: lines over a pipe, and requests over HTTP.

#[path = "../../benches/servers/serve/answer.rs"]
mod answer;
mod http;
mod one_line;
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
    Limits { floor: "floor-stdio", n_calls: 1_280, rows: &[("stdio", 3.40)] },
    Limits { floor: "floor-http", n_calls: 1_280, rows: &[("http", 2.40)] },
    Limits { floor: "floor-http-2025", n_calls: 1_280, rows: &[("http-2025", 2.55)] },
];

/// System calls with one call in flight. Those of the client are part of both counts. The thread that watches steps adds some,
/// which depend on the time; each switch to another thread would add at least two to the four and five of the floors.
pub(crate) const SYSTEM_CALLS: [Limits; 2] = [
    Limits { floor: "floor-stdio-one", n_calls: 500, rows: &[("stdio-one", 1.4)] },
    Limits { floor: "floor-http-one", n_calls: 500, rows: &[("http-one", 1.4)] },
];

/// Makes the calls of one row. Returns false if this module does not have the row.
pub(crate) fn repeat(row: &str, n_calls: usize) -> bool {
    match row {
        "floor-stdio" => pipe::floor(n_calls),
        "stdio" => pipe::calls(&server(), n_calls),
        "floor-stdio-one" => one_line::floor(n_calls),
        "stdio-one" => one_line::calls(&server(), n_calls),
        "floor-http" => http::floor(Revision::V2026_07_28, IN_FLIGHT, n_calls),
        "floor-http-2025" => http::floor(Revision::V2025_11_25, IN_FLIGHT, n_calls),
        "floor-http-one" => http::floor(Revision::V2026_07_28, 1, n_calls),
        "http" => http::calls(&server(), Revision::V2026_07_28, IN_FLIGHT, n_calls),
        "http-2025" => http::calls(&server(), Revision::V2025_11_25, IN_FLIGHT, n_calls),
        "http-one" => http::calls(&server(), Revision::V2026_07_28, 1, n_calls),
        _ => return false,
    }
    true
}

fn server() -> Server {
    let dispatcher = Dispatcher::new(Catalog::linked().expect("the names differ")).expect("no state is needed");
    Server::new(dispatcher).expect("the schemas are valid")
}
