use toolkit::tool;

struct Query { city: String }

/// Forecast.
#[tool]
fn lone(query: Query) -> String { query.city }

/// Forecast.
#[tool]
fn one_of_two(query: Query, days: u8) -> String { let _ = days; query.city }

#[derive(serde::Deserialize)]
struct Half { city: String }

/// Forecast.
#[tool]
fn half(query: Half, days: u8) -> String { let _ = days; query.city }

fn main() {}
