use toolkit::tool;

/// Forecast.
#[tool]
fn forecast() -> impl Iterator<Item = u8> { [1].into_iter() }

fn main() {}
