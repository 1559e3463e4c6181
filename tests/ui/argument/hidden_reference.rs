use toolkit::tool;

type City = &'static str;

/// Forecast.
#[tool]
fn alias(city: City, days: u8) -> String { let _ = days; city.to_owned() }

fn main() {}
