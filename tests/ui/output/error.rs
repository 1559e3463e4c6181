use toolkit::tool;

struct Broken;

/// Forecast.
#[tool]
fn forecast() -> Result<u8, Broken> { Err(Broken) }

fn main() {}
