//! Items for generated code are not available in public modules.

use toolkit::catalog::StateType;
use toolkit::dispatch::Encode;
use toolkit::tool::Code;

fn main() {
    toolkit::Catalog::from_entries(&[]);
}
