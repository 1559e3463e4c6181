use toolkit::tool;

/// Forecast.
#[tool]
fn forecast(#[cfg(unix)] city: String) -> String { city }

fn main() {}
