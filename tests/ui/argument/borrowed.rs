use toolkit::tool;

/// Forecast.
#[tool]
fn text(city: &str) -> String { city.to_owned() }

/// Forecast.
#[tool]
fn list(days: &[u8], names: &Vec<String>, name: &String) -> usize { days.len() + names.len() + name.len() }

type City = str;

/// Forecast.
#[tool]
fn alias(city: &City) -> String { city.to_owned() }

fn main() {}
