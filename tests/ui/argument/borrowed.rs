use toolkit::tool;

/// Forecast.
#[tool]
fn list(names: &Vec<String>, name: &String, nested: &[&str]) -> usize { names.len() + name.len() + nested.len() }

type City = str;

/// Forecast.
#[tool]
fn alias(city: &City) -> String { city.to_owned() }

fn main() {}
