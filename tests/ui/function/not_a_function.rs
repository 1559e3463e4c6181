use toolkit::tool;

/// A query.
#[tool]
struct Query { city: String }

/// A mode.
#[tool]
enum Mode { Fast }

/// A block.
#[tool]
impl Query {}

/// A module.
#[tool]
mod tools {}

/// A trait.
#[tool]
trait Tools {}

/// A constant.
#[tool]
const N: u8 = 0;

fn main() {}
