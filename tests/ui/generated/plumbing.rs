//! What only generated code uses has no path in a public module.

use toolkit::catalog::StateType;
use toolkit::dispatch::Encode;
use toolkit::schema::{plan, portable};
use toolkit::tool::Code;

fn main() {
    toolkit::Catalog::from_entries(&[]);
}
